#pragma once
// Sizes of a dense row-major array, one to four of them, outermost first.
#include <array>
#include <cstdint>
#include <initializer_list>
#include <ostream>

#include "fovea/base/checked.h"

namespace fovea {

class Shape {
public:
    static constexpr int max_rank = 4;

    Shape() = default;
    Shape(std::initializer_list<std::int64_t> sizes) {
        expect(sizes.size() <= max_rank, "shape: rank ", sizes.size(), " but at most ", max_rank);
        for (const std::int64_t n : sizes) push(n);
    }

    void push(std::int64_t n) {
        expect(rank_ < max_rank, "shape: rank is ", rank_, " already");
        expect(n >= 0, "shape: size ", n, " is negative");
        sizes_[static_cast<std::size_t>(rank_++)] = n;
        size_ = checked_mul(size_, n, "shape");
    }

    int rank() const { return rank_; }
    std::int64_t operator[](int i) const { return sizes_[static_cast<std::size_t>(i)]; }
    std::int64_t size() const { return rank_ == 0 ? 0 : size_; }  // a default shape holds nothing

    // As a matrix: the last size is the columns, all others together are the rows.
    std::int64_t cols() const {
        return rank_ == 0 ? 0 : sizes_[static_cast<std::size_t>(rank_ - 1)];
    }
    std::int64_t rows() const {
        if (rank_ == 0) return 0;
        std::int64_t r = 1;
        for (int i = 0; i + 1 < rank_; ++i) r *= sizes_[static_cast<std::size_t>(i)];
        return r;
    }

    bool operator==(const Shape& o) const {
        if (rank_ != o.rank_) return false;
        for (int i = 0; i < rank_; ++i)
            if ((*this)[i] != o[i]) return false;
        return true;
    }
    bool operator!=(const Shape& o) const { return !(*this == o); }

    friend std::ostream& operator<<(std::ostream& out, const Shape& s) {
        out << '[';
        for (int i = 0; i < s.rank(); ++i) out << (i ? ", " : "") << s[i];
        return out << ']';
    }

private:
    std::array<std::int64_t, max_rank> sizes_{};
    std::int64_t size_ = 1;
    int rank_ = 0;
};

}  // namespace fovea
