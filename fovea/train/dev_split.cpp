#include "fovea/train/dev_split.h"

#include <algorithm>

namespace fovea {

std::vector<bool> dev_split(std::span<const std::uint64_t> hashes) {
    std::vector<bool> chosen(hashes.size(), false);
    if (hashes.size() < 200) return chosen;
    const std::size_t count = std::min<std::size_t>(1000, hashes.size() / 20);
    std::vector<std::uint64_t> sorted(hashes.begin(), hashes.end());
    const auto first_left = sorted.begin() + static_cast<std::ptrdiff_t>(count);
    std::nth_element(sorted.begin(), first_left, sorted.end());
    for (std::size_t i = 0; i < hashes.size(); ++i) chosen[i] = hashes[i] < *first_left;
    return chosen;
}

}  // namespace fovea
