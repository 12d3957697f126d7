#pragma once
// Which records of a data set are kept back for measuring where nobody gave a dev set.
// Thread-safety: a pure function.
#include <cstdint>
#include <span>
#include <vector>

namespace fovea {

// One number per record: a hash of its content. 5 % of them, at most 1,000, none of fewer than
// 200: those with the smallest hashes, so that the choice follows the records and neither their
// order nor the seed, and equal records stay on one side.
std::vector<bool> dev_split(std::span<const std::uint64_t> hashes);

}  // namespace fovea
