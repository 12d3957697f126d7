#include "fovea/data/label_lines.h"

#include <algorithm>
#include <set>

namespace fovea {
namespace {

constexpr std::string_view label_mark = "__label__";
constexpr std::size_t few_label_lines = 20;  // by fewer nothing can be told

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// "3" or "NUM:date": what nobody begins sentence after sentence with.
bool is_label_word(const std::string& word) {
    if (word.empty()) return false;
    if (word.size() <= 2 && std::all_of(word.begin(), word.end(), is_digit)) return true;
    const std::size_t colon = word.find(':');
    return colon != std::string::npos && colon > 0 && colon + 1 < word.size() &&
           std::all_of(word.begin(), word.end(),
                       [](char c) { return is_letter(c) || is_digit(c) || c == ':'; });
}

bool is_short_tail(const std::string& tail) {
    return !tail.empty() && tail.size() <= 32 && tail.find_first_of(" \t") == std::string::npos;
}

// One label of each line, where all have one and the labels come again and again.
template <class LabelOf>
bool all_have_one(std::span<const std::string> lines, LabelOf label_of) {
    std::set<std::string> labels;
    std::size_t count = 0;
    for (const std::string& line : lines) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        const std::string label = label_of(line);
        if (label.empty()) return false;
        labels.insert(label);
        ++count;
    }
    return count >= few_label_lines && labels.size() >= 2 && labels.size() * 4 <= count;
}

std::string after_spaces(const std::string& line, std::size_t from) {
    const std::size_t text = line.find_first_not_of(" \t", from);
    return text == std::string::npos ? "" : line.substr(text);
}

}  // namespace

LabelPlace label_place(std::span<const std::string> lines) {
    if (lines.empty()) return LabelPlace::none;
    const bool marked = std::all_of(lines.begin(), lines.end(), [](const std::string& line) {
        return line.starts_with(label_mark) || line.empty();
    });
    if (marked && lines[0].starts_with(label_mark)) return LabelPlace::marked;
    if (all_have_one(lines, [](const std::string& line) -> std::string {
            const std::string word = line.substr(0, line.find(' '));
            return is_label_word(word) && word.size() < line.size() ? word : "";
        }))
        return LabelPlace::first_word;
    if (all_have_one(lines, [](const std::string& line) -> std::string {
            const std::size_t cut = line.rfind(';');
            if (cut == std::string::npos || cut == 0) return "";
            const std::string tail = line.substr(cut + 1);
            return is_short_tail(tail) ? tail : "";
        }))
        return LabelPlace::behind;
    return LabelPlace::none;
}

LabelLine split_label_line(LabelPlace place, const std::string& line) {
    LabelLine found;
    if (place == LabelPlace::behind) {
        const std::size_t cut = line.rfind(';');
        if (cut == std::string::npos) return {{}, line};
        return {{line.substr(cut + 1)}, line.substr(0, cut)};
    }
    std::size_t from = 0;
    while (from < line.size()) {
        if (place == LabelPlace::marked && line.compare(from, label_mark.size(), label_mark) != 0)
            break;
        const std::size_t end = std::min(line.find_first_of(" \t", from), line.size());
        const std::size_t skip = place == LabelPlace::marked ? label_mark.size() : 0;
        found.labels.push_back(line.substr(from + skip, end - from - skip));
        from = std::min(line.find_first_not_of(" \t", end), line.size());
        if (place == LabelPlace::first_word) break;
    }
    found.text = after_spaces(line, from);
    return found;
}

}  // namespace fovea
