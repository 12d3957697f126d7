// Translates lines of standard input with a trained model:  example_translate run/model < in.txt
#include <exception>
#include <iostream>
#include <string>

#include "fovea/tasks/translate.h"

int main(int argc, char** argv) try {
    if (argc != 2) return std::cerr << "usage: example_translate MODEL < in.txt\n", 2;
    const auto model = fovea::Seq2SeqModel::load(argv[1]);
    for (std::string line; std::getline(std::cin, line);)
        std::cout << fovea::translate(model, line) << "\n";
} catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
}
