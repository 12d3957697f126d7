#include "fovea/data/split.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "fovea/base/error.h"
#include "fovea/io/hash.h"

namespace fovea {
namespace {

// Steele, Lea and Flood 2014, splitmix64's finaliser: a bijection, so hashes that differ go on to
// differ whatever the seed.
std::uint64_t rank_of(std::uint64_t hash, std::uint64_t seed) {
    std::uint64_t z = hash ^ (seed * 0x9e3779b97f4a7c15ULL);
    z += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

template <class Fields>
std::uint64_t hash_of_fields(const Fields& fields) {
    std::string all;
    for (const std::string_view field : fields) {
        all.append(std::to_string(field.size())).push_back(':');
        all.append(field);
    }
    return key_of(all).low;
}

}  // namespace

std::uint64_t record_hash(std::span<const std::string> fields) { return hash_of_fields(fields); }

std::uint64_t record_hash(std::initializer_list<std::string_view> fields) {
    return hash_of_fields(fields);
}

std::vector<std::uint8_t> split_into(std::span<const std::uint64_t> record_hashes,
                                     std::span<const std::int64_t> sizes, std::uint64_t seed) {
    expect(sizes.size() < 255, "split_into: ", sizes.size(), " sets are asked for");
    std::vector<std::size_t> order(record_hashes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<std::uint64_t> ranks(record_hashes.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = rank_of(record_hashes[i], seed);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return ranks[a] != ranks[b] ? ranks[a] < ranks[b] : a < b;
    });
    std::vector<std::uint8_t> sets(record_hashes.size(), 0);
    std::vector<std::int64_t> room(sizes.begin(), sizes.end());
    for (std::size_t from = 0; from < order.size();) {
        std::size_t end = from + 1;  // the records that say the same
        while (end < order.size() && ranks[order[end]] == ranks[order[from]]) ++end;
        const auto count = static_cast<std::int64_t>(end - from);
        for (std::size_t s = 0; s < room.size(); ++s) {
            if (room[s] < count) continue;
            room[s] -= count;
            for (std::size_t i = from; i < end; ++i)
                sets[order[i]] = static_cast<std::uint8_t>(s + 1);
            break;
        }
        from = end;
    }
    return sets;
}

std::vector<std::size_t> dev_split(std::span<const std::uint64_t> record_hashes,
                                   const SplitRule& rule) {
    expect(rule.share >= 0 && rule.share < 1, "dev_split: the share is ", rule.share,
           " but must be from 0 to below 1");
    const auto records = static_cast<std::int64_t>(record_hashes.size());
    if (records < rule.none_below) return {};
    std::int64_t wanted =
        static_cast<std::int64_t>(std::floor(rule.share * static_cast<double>(records) + 1e-9));
    if (rule.at_most > 0) wanted = std::min(wanted, rule.at_most);
    const std::vector<std::uint8_t> sets =
        split_into(record_hashes, std::span(&wanted, 1), rule.seed);
    std::vector<std::size_t> held_out;
    for (std::size_t i = 0; i < sets.size(); ++i)
        if (sets[i] == 1) held_out.push_back(i);
    return held_out;
}

bool in_dev_split(std::uint64_t record_hash, double share, std::uint64_t seed) {
    expect(share >= 0 && share <= 1, "in_dev_split: the share is ", share);
    // 53 bits: exactly what a double holds.
    return static_cast<double>(rank_of(record_hash, seed) >> 11) * 0x1p-53 < share;
}

}  // namespace fovea
