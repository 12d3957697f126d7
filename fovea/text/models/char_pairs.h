#pragma once
// A set of pairs of neighbouring characters: those that some token can join. Between any two others
// a text falls into parts that can be encoded one by one.
#include <cstdint>
#include <vector>

#include "fovea/text/hash.h"

namespace fovea::text {

class CharPairs {
public:
    void add(char32_t left, char32_t right) {
        if (2 * (count_ + 1) > slots_.size()) grow();
        std::uint64_t& slot = slots_[find(key(left, right))];
        count_ += slot == 0;
        slot = key(left, right);
    }
    bool contains(char32_t left, char32_t right) const {
        return !slots_.empty() && slots_[find(key(left, right))] != 0;
    }

private:
    std::vector<std::uint64_t> slots_;  // open-addressed, 0 = free
    std::size_t count_ = 0;

    static std::uint64_t key(char32_t left, char32_t right) {
        return (std::uint64_t{left} << 32 | right) + 1;
    }
    std::size_t find(std::uint64_t k) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = hash_of_number(k) & mask;
        while (slots_[at] != 0 && slots_[at] != k) at = (at + 1) & mask;
        return at;
    }
    void grow() {
        std::vector<std::uint64_t> old(slots_.empty() ? 64 : 2 * slots_.size());
        old.swap(slots_);
        for (const std::uint64_t k : old)
            if (k != 0) slots_[find(k)] = k;
    }
};

}  // namespace fovea::text
