#include "fovea/data/word_forms.h"

#include <algorithm>
#include <unordered_set>

#include "fovea/base/utf8.h"
#include "fovea/text/unicode/unicode.h"

namespace fovea {
namespace {

constexpr std::size_t stem_characters = 5;

std::uint64_t pair_of(std::int32_t a, std::int32_t b) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 32 |
           static_cast<std::uint32_t>(b);
}

// What one text says about the words of another.
struct OtherText {
    std::unordered_set<std::int32_t> forms, lower, beginnings;
    std::unordered_set<std::uint64_t> pairs;  // of neighbours, in lower case

    OtherText(const WordForms& all, std::span<const std::int32_t> words) {
        for (std::size_t i = 0; i < words.size(); ++i) {
            const WordForms::Form& f = all[words[i]];
            if (f.letters.empty()) continue;  // it stands for no word
            forms.insert(words[i]);
            lower.insert(f.lower);
            beginnings.insert(f.beginning);
            if (i + 1 < words.size()) pairs.insert(pair_of(f.lower, all[words[i + 1]].lower));
        }
    }
};

void append_side(const WordForms& all, std::span<const std::int32_t> words, const OtherText& other,
                 bool question, std::vector<float>& to) {
    std::unordered_map<std::int32_t, int> counts;
    for (const std::int32_t w : words) ++counts[all[w].lower];
    const auto pair_at = [&](std::size_t i) {
        return i + 1 < words.size() &&
               other.pairs.count(pair_of(all[words[i]].lower, all[words[i + 1]].lower)) > 0;
    };
    const auto number = [](bool yes) { return yes ? 1.0f : 0.0f; };
    for (std::size_t i = 0; i < words.size(); ++i) {
        const WordForms::Form& f = all[words[i]];
        if (f.letters.empty()) {
            to.insert(to.end(), reading_features, 0.0f);
            continue;
        }
        const float features[reading_features] = {
            number(other.forms.count(words[i]) > 0),
            number(other.lower.count(f.lower) > 0),
            number(other.beginnings.count(f.beginning) > 0),
            number(pair_at(i) || (i > 0 && pair_at(i - 1))),
            static_cast<float>(std::min(counts[f.lower], 8)) / 8,
            number(f.capital),
            number(f.capitals),
            number(f.digit),
            number(f.sign),
            number(question)};
        to.insert(to.end(), features, features + reading_features);
    }
}

}  // namespace

std::int32_t WordForms::key(const std::string& text) {
    return keys_.emplace(text, static_cast<std::int32_t>(keys_.size())).first->second;
}

std::int32_t WordForms::add(std::string_view word) {
    if (const auto known = numbers_.find(word); known != numbers_.end()) return known->second;
    const auto number = static_cast<std::int32_t>(forms_.size());
    words_.emplace_back(word);
    numbers_.emplace(words_.back(), number);
    Form f;
    std::string lower, beginning;
    bool letters = false, small = false;
    std::size_t characters = 0;
    for (std::size_t at = 0; at < word.size(); ++characters) {
        const char32_t c = next_code_point(word, at);
        char32_t low[2];
        const int n = text::to_lower(c, low);
        for (int i = 0; i < n; ++i) append_utf8(lower, low[i]);
        if (characters < stem_characters) beginning = lower;
        const bool letter = text::has(c, text::is_letter), capital = text::has(c, text::is_upper);
        if (characters == 0) f.capital = capital;
        letters = letters || letter;
        small = small || (letter && !capital);
        f.digit = f.digit || text::has(c, text::is_number);
    }
    f.capitals = letters && !small;
    f.sign = !letters && !f.digit;
    f.lower = key(lower);
    f.beginning = key(beginning);
    if (!word.empty()) {
        f.letters.push_back(edge);
        for (const char c : word.substr(0, most_letters))
            f.letters.push_back(static_cast<unsigned char>(c));
        f.letters.push_back(edge);
    }
    forms_.push_back(std::move(f));
    return number;
}

void append_reading_features(const WordForms& forms, std::span<const std::int32_t> question,
                             std::span<const std::int32_t> context, std::vector<float>& to) {
    append_side(forms, question, OtherText(forms, context), true, to);
    append_side(forms, context, OtherText(forms, question), false, to);
}

}  // namespace fovea
