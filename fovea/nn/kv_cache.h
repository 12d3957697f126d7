#pragma once
// Keys and values of one attention layer while decoding. Rows are appended, and dropped once nobody
// sees them: which of them a hypothesis may look at (its own history, shared with its siblings up
// to where they part) is a Visibility made of runs, so re-ordering beams copies nothing. Not
// thread-safe: one cache belongs to one decoding loop.
#include <algorithm>
#include <cstdint>
#include <span>

#include "fovea/tensor/tensor.h"

namespace fovea {

class KvCache {
public:
    // Room for rows to come, so that capacity() (the rows of keys(), by which a Visibility counts)
    // is known before the rows are.
    void reserve(std::int64_t rows, std::int64_t width_k, std::int64_t width_v) {
        grow(k_, width_k, rows);
        grow(v_, width_v, rows);
    }

    // Appends rows; keys() and values() show all rows so far.
    void append(const Tensor& k, const Tensor& v) {
        expect(k.rows() == v.rows(), "cache: ", k.rows(), " keys but ", v.rows(), " values");
        grow(k_, k.cols(), rows_ + k.rows());
        grow(v_, v.cols(), rows_ + v.rows());
        std::copy_n(k.data(), k.size(), k_.write() + rows_ * k.cols());
        std::copy_n(v.data(), v.size(), v_.write() + rows_ * v.cols());
        rows_ += k.rows();
    }

    // Keeps these rows (in ascending order) and moves them to the front.
    void keep(std::span<const std::int64_t> rows) {
        std::int64_t to = 0;
        for (const std::int64_t from : rows) {
            expect(from >= to && from < rows_, "cache: row ", from, " of ", rows_);
            if (from != to) {
                std::copy_n(k_.data() + from * k_.cols(), k_.cols(), k_.write() + to * k_.cols());
                std::copy_n(v_.data() + from * v_.cols(), v_.cols(), v_.write() + to * v_.cols());
            }
            ++to;
        }
        rows_ = to;
    }

    std::int64_t rows() const { return rows_; }
    std::int64_t capacity() const { return k_.empty() ? 0 : k_.rows(); }
    const Tensor& keys() const { return k_; }  // [capacity, width], rows() of them written
    const Tensor& values() const { return v_; }

private:
    void grow(Tensor& t, std::int64_t cols, std::int64_t need) const {
        if (!t.empty() && t.rows() >= need) return;
        Tensor larger =
            Tensor::zeros({std::max<std::int64_t>(need, 2 * (t.empty() ? 32 : t.rows())), cols});
        if (!t.empty()) std::copy_n(t.data(), rows_ * cols, larger.write());
        t = larger;
    }

    Tensor k_, v_;
    std::int64_t rows_ = 0;
};

}  // namespace fovea
