// Translates lines of standard input with a trained model:  translate run/model < english.txt
#include <iostream>
#include <string>

#include "fovea/tasks/translate.h"

int main(int argc, char** argv) {
    const auto model = fovea::Seq2SeqModel::load(argc > 1 ? argv[1] : "run/model");
    for (std::string line; std::getline(std::cin, line);)
        std::cout << fovea::translate(model, line) << "\n";
}
