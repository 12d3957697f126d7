#pragma once
// Just enough Unicode for scores that must agree with those of Python libraries: what str.split,
// str.lower and the general categories mean there. (text/ has the full machinery for tokenizers;
// this room must not depend on it.) Thread-safety: pure functions, safe from any thread.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/utf8.h"

namespace fovea {

bool is_python_space(char32_t c);  // what str.split() splits at
bool is_number(char32_t c);        // general categories N*, P*, S*
bool is_punctuation(char32_t c);
bool is_symbol(char32_t c);
bool is_word_character(char32_t c);  // \w of Python's re: letters, numbers, the underscore

// str.lower(): full case mapping, a sigma at the end of a word becomes ς.
std::u32string lower(std::u32string_view text);
std::string lower(std::string_view utf8);

// str.split(): the words between runs of Unicode white space.
std::vector<std::string> split_words(std::string_view utf8);

std::string_view strip_right(std::string_view utf8);  // str.rstrip()
std::string_view strip(std::string_view utf8);        // str.strip()

// !"#$%&'()*+,-./:;<=>?@[\]^_`{|}~
inline bool is_ascii_punctuation(char32_t c) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
}

}  // namespace fovea
