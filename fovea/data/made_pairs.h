#pragma once
// Pairs made by rule, to see what a mechanism can do at which length: each is a source and the one
// right target.
//   copy      d b a        →  d b a
//   reversal  d b a        →  a b d
//   sorting   31 7 90      →  7 31 90            (different numbers below 100)
//   recall    a 3 d 9 b 5 ? d  →  9              (keys with values, then a key)
//   names     calls Tamiro  →  ruft Tamiro       (words to translate, names to copy)
// Thread-safety: pure functions, safe from any thread.
#include <cstdint>
#include <string>
#include <vector>

#include "fovea/data/pairs.h"

namespace fovea {

struct MadePairs {
    std::string kind;  // of made_pair_kinds()
    std::int64_t count = 10000;
    std::int64_t shortest = 5, longest = 20;  // items of a source; each length is as likely
    std::uint64_t seed = 1;
};

std::vector<std::string> made_pair_kinds();

// Pair i depends on (seed, i) alone. Wrong wishes are usage errors.
std::vector<TextPair> made_pairs(const MadePairs& options);

// A pair as words with tags, for tagging: source word i and target word i, tab between them, a line
// each; an empty line behind. Kinds whose sides differ in length are usage errors.
std::string tagged_lines(const TextPair& pair);

}  // namespace fovea
