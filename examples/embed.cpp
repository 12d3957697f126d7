// The lines of a file most like those of standard input:  example_embed run/model lines.txt <
// queries.txt
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "fovea/tasks/embed.h"

namespace {

std::vector<std::string> lines_of(std::istream& in) {
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 3) return std::cerr << "usage: example_embed MODEL LINES < queries.txt\n", 2;
    std::ifstream file(argv[2]);
    const std::vector<std::string> lines = lines_of(file), queries = lines_of(std::cin);

    const auto model = fovea::EmbedModel::open(fovea::ModelFolder::open(argv[1]));
    const fovea::Tensor known = fovea::sentence_vectors(model, lines);  // [lines, width]
    const fovea::Tensor asked = fovea::sentence_vectors(model, queries);
    for (const auto& like : fovea::nearest_texts(asked, known, 1))
        std::cout << lines.at(static_cast<std::size_t>(like.at(0).text)) << "  "
                  << like[0].similarity << "\n";
} catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
}
