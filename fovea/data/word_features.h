#pragma once
// What a word and its neighbours look like, as numbers: the words themselves, their beginnings and
// ends, their shapes ("Xxx-d"), and pairs of them, each hashed into a table of so many rows. What
// taggers without a network look at (Ratinov & Roth 2009).
// Thread-safety: pure functions, safe from any thread.
#include <span>
#include <string>

#include "fovea/tensor/segments.h"

namespace fovea {

constexpr int word_feature_count = 20;  // of each word

// [words · word_feature_count], each in [0, buckets).
Ids word_features(std::span<const std::string> words, int buckets);

}  // namespace fovea
