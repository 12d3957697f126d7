#pragma once
// Counts of n-grams, exact (no hash that could collide): an n-gram is numbered by the pair
// (number of its first n-1 items, number of its last item), so that any order fits one 64-bit key.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace fovea {

class NgramNumbers {
public:
    // The numbers of all n-grams of `items`, order by order: result[n-1][i] is the n-gram that
    // starts at i. Equal n-grams of one NgramNumbers have equal numbers.
    std::vector<std::vector<std::uint32_t>> number(std::span<const std::uint32_t> items,
                                                   int max_order) {
        std::vector<std::vector<std::uint32_t>> orders(static_cast<std::size_t>(max_order));
        if (max_order == 0) return orders;
        orders[0].assign(items.begin(), items.end());
        if (static_cast<int>(pairs_.size()) < max_order) pairs_.resize(orders.size());
        for (std::size_t n = 1; n < orders.size() && items.size() > n; ++n) {
            orders[n].reserve(items.size() - n);
            for (std::size_t i = 0; i + n < items.size(); ++i) {
                const std::uint64_t pair = (std::uint64_t{orders[n - 1][i]} << 32) | items[i + n];
                const auto next = static_cast<std::uint32_t>(pairs_[n].size());
                orders[n].push_back(pairs_[n].try_emplace(pair, next).first->second);
            }
        }
        return orders;
    }

private:
    std::vector<std::unordered_map<std::uint64_t, std::uint32_t>> pairs_;  // by order
};

using NgramCounts = std::unordered_map<std::uint32_t, std::int64_t>;  // of one order

inline NgramCounts count_ngrams(std::span<const std::uint32_t> numbers) {
    NgramCounts counts;
    for (const std::uint32_t n : numbers) ++counts[n];
    return counts;
}

// Σ min(a, b): n-grams of one side that the other has too, each used once.
inline std::int64_t matches(const NgramCounts& a, const NgramCounts& b) {
    std::int64_t sum = 0;
    for (const auto& [ngram, count] : a)
        if (const auto it = b.find(ngram); it != b.end()) sum += std::min(count, it->second);
    return sum;
}

// Numbers for items of any type, in order of appearance.
template <class Item>
class ItemNumbers {
public:
    template <class Items>
    std::vector<std::uint32_t> number(const Items& items) {
        std::vector<std::uint32_t> numbers;
        numbers.reserve(items.size());
        for (const auto& item : items)
            numbers.push_back(map_.try_emplace(Item(item), static_cast<std::uint32_t>(map_.size()))
                                  .first->second);
        return numbers;
    }

private:
    std::unordered_map<Item, std::uint32_t> map_;
};

}  // namespace fovea
