#pragma once
// Which records are held out: by a hash of what they say, never by where they stand. The same
// records fall on the same side in every run, on every machine and in any order of the file, and
// identical records never stand on both sides. Thread-safety: pure functions, safe from any thread.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fovea {

// Of the fields in order; ("ab", "c") and ("a", "bc") differ.
std::uint64_t record_hash(std::span<const std::string> fields);
std::uint64_t record_hash(std::initializer_list<std::string_view> fields);

// What a training run holds out where it is given no dev set.
struct SplitRule {
    double share = 0.05;            // of the records, rounded down
    std::int64_t at_most = 1000;    // of them; 0: no bound
    std::int64_t none_below = 200;  // fewer records than this: none is held out
    std::uint64_t seed = 0;         // another seed, another choice
};

// The held-out records by their index, ascending; never more than the rule says. Records with the
// same hash are taken together or not at all, so there may be a few fewer.
std::vector<std::size_t> dev_split(std::span<const std::uint64_t> record_hashes,
                                   const SplitRule& rule = {});

// Several sets at once: sizes[s] records of set s + 1, all others in set 0. Gives each record's
// set. A record's set depends on the multiset of hashes, the sizes and the seed alone.
std::vector<std::uint8_t> split_into(std::span<const std::uint64_t> record_hashes,
                                     std::span<const std::int64_t> sizes, std::uint64_t seed);

// The test for one record, where nobody knows how many there are: true for about `share` of all.
bool in_dev_split(std::uint64_t record_hash, double share, std::uint64_t seed = 0);

}  // namespace fovea
