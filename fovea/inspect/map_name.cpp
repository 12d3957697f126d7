#include "fovea/inspect/map_name.h"

#include <algorithm>
#include <vector>

namespace fovea {
namespace {

std::vector<std::string> words_of_path(std::string_view path) {
    std::vector<std::string> words(1);
    for (const char c : path) {
        if (c == '.')
            words.emplace_back();
        else
            words.back() += c;
    }
    return words;
}

// Nine digits at most: no model has more layers, and an int holds them.
bool is_number(const std::string& word) {
    return !word.empty() && word.size() <= 9 &&
           std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string joined(const std::vector<std::string>& words, std::size_t count) {
    std::string path;
    for (std::size_t i = 0; i < count; ++i) path += (i ? "." : "") + words[i];
    return path;
}

}  // namespace

MapName read_map_name(std::string_view path) {
    std::vector<std::string> words = words_of_path(path);
    const auto number = std::find_if(words.begin(), words.end(), is_number);
    if (number == words.end())
        return {.folded = std::string(path),
                .block = words.size() > 1 ? joined(words, words.size() - 1) : std::string(path),
                .stack = words.back()};
    const auto at = static_cast<std::size_t>(number - words.begin());
    MapName n;
    n.layer = std::stoi(*number) + 1;
    n.block = joined(words, at + 1);
    if (at >= 2 && words[at - 2] != "model") n.stack = words[at - 2];
    *number = "*";
    n.folded = joined(words, words.size());
    return n;
}

}  // namespace fovea
