#include "fovea/metrics/porter.h"

#include <span>
#include <utility>
#include <vector>

namespace fovea {
namespace {

bool is_vowel_letter(char c) { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u'; }

// For each letter: is it a consonant? A y is one at the start and after a vowel.
std::vector<bool> consonants(std::string_view word) {
    std::vector<bool> flags(word.size());
    for (std::size_t i = 0; i < word.size(); ++i)
        flags[i] = word[i] == 'y' ? i == 0 || !flags[i - 1] : !is_vowel_letter(word[i]);
    return flags;
}

// m of the paper: how often a vowel is followed by a consonant, [C](VC)^m[V].
int measure(std::string_view stem) {
    const auto c = consonants(stem);
    int m = 0;
    for (std::size_t i = 1; i < c.size(); ++i) m += !c[i - 1] && c[i];
    return m;
}

bool contains_vowel(std::string_view stem) {
    for (const bool c : consonants(stem))
        if (!c) return true;
    return false;
}

bool ends_in_double_consonant(std::string_view word) {  // *d
    const std::size_t n = word.size();
    return n >= 2 && word[n - 1] == word[n - 2] && consonants(word)[n - 1];
}

// *o: consonant, vowel, consonant other than w, x, y; also a vowel and a consonant alone (NLTK).
bool ends_in_cvc(std::string_view word) {
    const auto c = consonants(word);
    const std::size_t n = word.size();
    if (n == 2) return !c[0] && c[1];
    const char last = n == 0 ? 'w' : word[n - 1];
    return n >= 3 && c[n - 3] && !c[n - 2] && c[n - 1] && last != 'w' && last != 'x' && last != 'y';
}

struct Rule {
    std::string_view suffix, replacement;
};

// Applies the first rule whose suffix the word has, if its stem's measure is above `above`.
std::string apply(std::span<const Rule> rules, std::string word, int above) {
    for (const Rule& r : rules) {
        if (!word.ends_with(r.suffix)) continue;
        const std::string_view stem(word.data(), word.size() - r.suffix.size());
        if (measure(stem) <= above) return word;
        return std::string(stem).append(r.replacement);
    }
    return word;
}

std::string without(const std::string& word, std::size_t n) {
    return word.substr(0, word.size() - n);
}

std::string step_1a(std::string word) {  // plurals
    if (word.ends_with("ies")) return without(word, word.size() == 4 ? 1 : 2);
    if (word.ends_with("sses")) return without(word, 2);
    if (word.ends_with("ss") || !word.ends_with("s")) return word;
    return without(word, 1);
}

std::string step_1b(std::string word) {  // -eed, -ed, -ing
    if (word.ends_with("ied")) return without(word, word.size() == 4 ? 1 : 2);
    if (word.ends_with("eed")) return measure(without(word, 3)) > 0 ? without(word, 1) : word;
    std::string stem;
    if (word.ends_with("ed") && contains_vowel(without(word, 2)))
        stem = without(word, 2);
    else if (word.ends_with("ing") && contains_vowel(without(word, 3)))
        stem = without(word, 3);
    else
        return word;
    if (stem.ends_with("at") || stem.ends_with("bl") || stem.ends_with("iz")) return stem + "e";
    if (ends_in_double_consonant(stem)) {
        const char last = stem.back();
        return last == 'l' || last == 's' || last == 'z' ? stem : without(stem, 1);
    }
    return measure(stem) == 1 && ends_in_cvc(stem) ? stem + "e" : stem;
}

std::string step_1c(std::string word) {  // -y after a consonant
    const std::size_t n = word.size();
    if (n > 2 && word.back() == 'y' && consonants(word)[n - 2]) word.back() = 'i';
    return word;
}

std::string step_2(std::string word) {
    if (word.ends_with("alli") && measure(without(word, 4)) > 0) return step_2(without(word, 2));
    if (word.ends_with("logi") && measure(without(word, 3)) > 0) return without(word, 1);
    static constexpr Rule rules[] = {
        {"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"},   {"anci", "ance"},
        {"izer", "ize"},    {"bli", "ble"},     {"entli", "ent"},   {"eli", "e"},
        {"ousli", "ous"},   {"ization", "ize"}, {"ation", "ate"},   {"ator", "ate"},
        {"alism", "al"},    {"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"},
        {"aliti", "al"},    {"iviti", "ive"},   {"biliti", "ble"},  {"fulli", "ful"}};
    return apply(rules, std::move(word), 0);
}

std::string step_3(std::string word) {
    static constexpr Rule rules[] = {{"icate", "ic"}, {"ative", ""},  {"alize", "al"},
                                     {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""},
                                     {"ness", ""}};
    return apply(rules, std::move(word), 0);
}

std::string step_4(std::string word) {
    if (word.ends_with("ion")) {
        const std::string stem = without(word, 3);
        const bool fits = measure(stem) > 1 && (stem.back() == 's' || stem.back() == 't');
        return fits ? stem : word;
    }
    static constexpr Rule rules[] = {
        {"al", ""},   {"ance", ""}, {"ence", ""},  {"er", ""},   {"ic", ""},  {"able", ""},
        {"ible", ""}, {"ant", ""},  {"ement", ""}, {"ment", ""}, {"ent", ""}, {"ou", ""},
        {"ism", ""},  {"ate", ""},  {"iti", ""},   {"ous", ""},  {"ive", ""}, {"ize", ""}};
    return apply(rules, std::move(word), 1);
}

std::string step_5(std::string word) {  // a final e, and one of two final l
    if (word.ends_with("e")) {
        const std::string stem = without(word, 1);
        const int m = measure(stem);
        if (m > 1 || (m == 1 && !ends_in_cvc(stem))) word = stem;
    }
    if (word.ends_with("ll") && measure(without(word, 1)) > 1) word.pop_back();
    return word;
}

}  // namespace

std::string porter_stem(std::string_view word) {
    static constexpr Rule irregular[] = {
        {"sky", "sky"},        {"skies", "sky"},        {"dying", "die"},
        {"lying", "lie"},      {"tying", "tie"},        {"news", "news"},
        {"innings", "inning"}, {"inning", "inning"},    {"outings", "outing"},
        {"outing", "outing"},  {"cannings", "canning"}, {"canning", "canning"},
        {"howe", "howe"},      {"proceed", "proceed"},  {"exceed", "exceed"},
        {"succeed", "succeed"}};
    for (const Rule& r : irregular)
        if (word == r.suffix) return std::string(r.replacement);
    if (word.size() <= 2) return std::string(word);
    return step_5(step_4(step_3(step_2(step_1c(step_1b(step_1a(std::string(word))))))));
}

}  // namespace fovea
