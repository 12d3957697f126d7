// The words nearest to those of standard input, or to sums of them (king - man + woman):
// example_vectors run/model < words.txt
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "fovea/tasks/vectors.h"

int main(int argc, char** argv) try {
    if (argc != 2) return std::cerr << "usage: example_vectors MODEL < words.txt\n", 2;
    std::vector<std::string> queries;
    for (std::string line; std::getline(std::cin, line);) queries.push_back(line);

    const auto model = fovea::WordVectorModel::open(fovea::ModelFolder::open(argv[1]));
    for (const auto& near : fovea::nearest_words(model, queries, 3)) {
        for (const fovea::WordAnswer& w : near) std::cout << w.word << " " << w.similarity << "  ";
        std::cout << "\n";
    }
} catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
}
