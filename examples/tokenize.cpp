// Prints ids, tokens and character offsets of a text or of lines:  tokenize tokenizer.json "text"
#include <iostream>
#include <string>

#include "fovea/text/tokenizer.h"

static void show(const fovea::Tokenizer& tokenizer, const std::string& text) {
    const fovea::Encoding e = tokenizer.encode(text);
    for (std::size_t i = 0; i < e.size(); ++i)
        std::cout << e.ids[i] << "\t" << e.tokens[i] << "\t" << e.offsets[i].begin << "-"
                  << e.offsets[i].end << "\n";
}

int main(int argc, char** argv) try {
    const auto tokenizer = fovea::Tokenizer::load(argc > 1 ? argv[1] : "tokenizer.json");
    if (argc > 2) show(tokenizer, argv[2]);
    for (std::string line; argc < 3 && std::getline(std::cin, line);) show(tokenizer, line);
} catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
}
