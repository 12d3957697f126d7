#include "fovea/data/made_pairs.h"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "fovea/base/error.h"
#include "fovea/base/rng.h"
#include "fovea/data/conll.h"

namespace fovea {
namespace {

using Items = std::vector<std::string>;

struct MadeKind {
    const char* name;
    std::int64_t least, most;  // items
    void (*make)(Rng& rng, std::int64_t items, Items& source, Items& target);
};

std::string letter(std::int64_t i) { return std::string(1, static_cast<char>('a' + i)); }

void copy(Rng& rng, std::int64_t items, Items& source, Items& target) {
    for (std::int64_t i = 0; i < items; ++i) source.push_back(letter(rng.below(26)));
    target = source;
}

void reversal(Rng& rng, std::int64_t items, Items& source, Items& target) {
    copy(rng, items, source, target);
    std::reverse(target.begin(), target.end());
}

void sorting(Rng& rng, std::int64_t items, Items& source, Items& target) {
    std::vector<int> numbers(100);
    std::iota(numbers.begin(), numbers.end(), 0);
    rng.shuffle(numbers);
    numbers.resize(static_cast<std::size_t>(items));
    for (const int n : numbers) source.push_back(std::to_string(n));
    std::sort(numbers.begin(), numbers.end());
    for (const int n : numbers) target.push_back(std::to_string(n));
}

// Keys are pairs of letters, each once.
void recall(Rng& rng, std::int64_t items, Items& source, Items& target) {
    std::vector<int> keys(26 * 26);
    std::iota(keys.begin(), keys.end(), 0);
    rng.shuffle(keys);
    const std::int64_t asked = rng.below(items);
    std::string key;
    for (std::int64_t i = 0; i < items; ++i) {
        const int k = keys[static_cast<std::size_t>(i)];
        const std::string name = letter(k / 26) + letter(k % 26);
        const std::string value = std::to_string(rng.below(10));
        source.push_back(name);
        source.push_back(value);
        if (i != asked) continue;
        key = name;
        target = {value};
    }
    source.push_back("?");
    source.push_back(key);
}

// Three of 70 syllables: a test file has hardly a name that a training file has.
std::string made_name(Rng& rng) {
    constexpr std::string_view consonants = "bdfgklmnprstvz", vowels = "aeiou";
    std::string name;
    for (int syllable = 0; syllable < 3; ++syllable) {
        name += consonants[static_cast<std::size_t>(rng.below(14))];
        name += vowels[static_cast<std::size_t>(rng.below(5))];
    }
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
    return name;
}

// Words that are translated, names that can only be copied.
void names(Rng& rng, std::int64_t items, Items& source, Items& target) {
    constexpr const char* words[][2] = {
        {"calls", "ruft"},  {"sees", "sieht"},   {"asks", "fragt"},   {"hears", "hört"},
        {"knows", "kennt"}, {"meets", "trifft"}, {"finds", "findet"}, {"pays", "zahlt"}};
    for (std::int64_t i = 0; i < items; ++i) {
        const auto& word = words[rng.below(8)];
        const std::string name = made_name(rng);
        source.insert(source.end(), {word[0], name});
        target.insert(target.end(), {word[1], name});
    }
}

constexpr MadeKind kinds[] = {{"copy", 1, 100000, copy},
                              {"reversal", 1, 100000, reversal},
                              {"sorting", 1, 100, sorting},
                              {"recall", 1, 676, recall},
                              {"names", 1, 100000, names}};

const MadeKind& kind_named(const std::string& name) {
    for (const MadeKind& k : kinds)
        if (name == k.name) return k;
    fail_with(ErrorKind::usage, "one of copy, reversal, sorting, recall, names",
              "data make: no kind \"", name, "\"");
}

}  // namespace

std::vector<std::string> made_pair_kinds() {
    std::vector<std::string> names;
    for (const MadeKind& k : kinds) names.emplace_back(k.name);
    return names;
}

std::vector<TextPair> made_pairs(const MadePairs& o) {
    const MadeKind& kind = kind_named(o.kind);
    if (o.shortest < kind.least || o.longest > kind.most || o.shortest > o.longest)
        fail_with(ErrorKind::usage,
                  text_of("lengths of ", o.kind, " are from ", kind.least, " to ", kind.most,
                          ": --length 5-20"),
                  "data make: lengths from ", o.shortest, " to ", o.longest, " cannot be made");
    std::vector<TextPair> pairs;
    for (std::int64_t i = 0; i < o.count; ++i) {
        Rng rng(o.seed, 0x3ade);
        rng.seek(static_cast<std::uint64_t>(i) << 20);
        Items source, target;
        kind.make(rng, o.shortest + rng.below(o.longest - o.shortest + 1), source, target);
        TextPair pair;
        pair.source = sentence_text(source);
        pair.target = sentence_text(target);
        pairs.push_back(std::move(pair));
    }
    return pairs;
}

std::string tagged_lines(const TextPair& pair) {
    std::istringstream words(pair.source), tags(pair.target);
    std::string lines, word, tag;
    while (words >> word) {
        if (!(tags >> tag))
            fail_with(ErrorKind::usage,
                      "copy, reversal, sorting and names have a tag for each word",
                      "data make: --tagged wants targets as long as their sources");
        lines += word + "\t" + tag + "\n";
    }
    return lines + "\n";
}

}  // namespace fovea
