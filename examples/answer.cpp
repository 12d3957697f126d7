// Answers questions of standard input from a text:  example_answer run/model book.txt <
// questions.txt
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "fovea/tasks/answer.h"

int main(int argc, char** argv) try {
    if (argc != 3)
        return std::cerr << "usage: example_answer MODEL CONTEXT_FILE < questions.txt\n", 2;
    std::ifstream file(argv[2]);
    const std::string context(std::istreambuf_iterator<char>(file), {});
    std::vector<fovea::AskedQuestion> questions;
    for (std::string line; std::getline(std::cin, line);) questions.push_back({line, context});

    const auto model = fovea::AnswerModel::open(fovea::ModelFolder::open(argv[1]));
    for (const auto& found : fovea::answer(model, questions, {.n_best = 3})) {
        if (found.none) std::cout << "the text does not say";
        for (const fovea::TextAnswer& a : found.best)  // characters of the context
            std::cout << a.text << " [" << a.start << ", " << a.end << ") " << a.probability
                      << "  ";
        std::cout << "\n";
    }
} catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
}
