// Finds the entities in lines of standard input:  example_tag run/model < news.txt
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "fovea/tasks/tag.h"

int main(int argc, char** argv) try {
    if (argc != 2) return std::cerr << "usage: example_tag MODEL < texts.txt\n", 2;
    std::vector<std::string> texts;
    for (std::string line; std::getline(std::cin, line);) texts.push_back(line);

    const auto model = fovea::TagModel::open(fovea::ModelFolder::open(argv[1]));
    for (const fovea::TaggedText& found : fovea::tag(model, texts)) {
        for (const fovea::TextEntity& e : found.entities)  // characters of the text
            std::cout << e.label << " [" << e.start << ", " << e.end << ") " << e.text << "  ";
        std::cout << "\n";
    }
} catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
}
