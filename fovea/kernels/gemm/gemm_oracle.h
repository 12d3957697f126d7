#pragma once
// For tests: matrix products as plain loops, in the promised order of operations (see gemm.h).
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "fovea/base/rng.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/bf16.h"
#include "fovea/kernels/gemm/gemm.h"
#include "fovea/kernels/isa.h"

namespace fovea::kernels::oracle {

// A matrix that owns its values; `pad` unused columns lie behind each row and hold `guard`.
struct Matrix {
    static constexpr float guard = 12345.0f;
    std::int64_t rows, cols, stride;
    std::vector<float> values;

    Matrix(std::int64_t r, std::int64_t c, std::int64_t pad = 0)
        : rows(r),
          cols(c),
          stride(c + pad),
          values(static_cast<std::size_t>(r * (c + pad)), guard) {}
    float& at(std::int64_t i, std::int64_t j) {
        return values[static_cast<std::size_t>(i * stride + j)];
    }
    float at(std::int64_t i, std::int64_t j) const {
        return values[static_cast<std::size_t>(i * stride + j)];
    }
    operator ConstView() const { return {values.data(), rows, cols, stride}; }
    operator View() { return {values.data(), rows, cols, stride}; }
    bool guards_hold() const {
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = cols; j < stride; ++j)
                if (at(i, j) != guard) return false;
        return true;
    }
};

inline Matrix random_matrix(std::int64_t rows, std::int64_t cols, std::uint64_t seed,
                            std::int64_t pad = 0) {
    Matrix m(rows, cols, pad);
    Rng rng(seed);
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < cols; ++j) m.at(i, j) = static_cast<float>(rng.normal());
    return m;
}

inline Matrix transposed(const Matrix& m) {
    Matrix t(m.cols, m.rows);
    for (std::int64_t i = 0; i < m.rows; ++i)
        for (std::int64_t j = 0; j < m.cols; ++j) t.at(j, i) = m.at(i, j);
    return t;
}

inline float chain_f32(float c, const Matrix& a, const Matrix& b, std::int64_t i, std::int64_t j) {
    for (std::int64_t k = 0; k < a.cols; ++k) c = std::fma(a.at(i, k), b.at(k, j), c);
    return c;
}

inline float chain_bf16(float c, const Matrix& a, const Matrix& b, std::int64_t i, std::int64_t j) {
    for (std::int64_t k0 = 0; k0 < a.cols; k0 += 32) {
        float half[2] = {0, 0};
        for (std::int64_t k = k0; k < k0 + 32; ++k) {
            const bool inside = k < a.cols;
            half[k % 2] = std::fma(inside ? round_to_bf16(a.at(i, k)) : 0.0f,
                                   inside ? round_to_bf16(b.at(k, j)) : 0.0f, half[k % 2]);
        }
        c += half[0] + half[1];
    }
    return c;
}

// One number's quantisation with the scale of its row or column.
struct Quantised {
    float scale = 0;
    std::vector<std::int32_t> q;
};
inline Quantised quantise(const std::vector<float>& x, float levels = 127.0f) {
    Quantised r;
    float largest = 0;
    for (const float v : x) {
        if (!std::isfinite(v)) largest = NAN;
        if (std::fabs(v) > largest) largest = std::fabs(v);
    }
    const bool zero = largest < 0x1p-120f;
    r.scale = zero ? 0.0f : largest / levels;
    for (const float v : x)
        r.q.push_back(zero || std::isnan(largest)
                          ? 0
                          : static_cast<std::int32_t>(std::nearbyint(v * (levels / largest))));
    return r;
}

// C = A B + bias (no activation). bias may be empty.
inline void product(const Matrix& a, const Matrix& b, Matrix& c, Format format,
                    const std::vector<float>& bias = {}, bool accumulate = false) {
    parallel_for(1, 1, [&](std::int64_t, std::int64_t) {  // flushes denormals as the kernels do
        std::vector<Quantised> columns;
        for (std::int64_t j = 0; j < b.cols && is_whole(format); ++j) {
            std::vector<float> column;
            for (std::int64_t k = 0; k < b.rows; ++k) column.push_back(b.at(k, j));
            columns.push_back(quantise(column, levels_of(format)));
        }
        for (std::int64_t i = 0; i < a.rows; ++i) {
            Quantised row;
            if (is_whole(format)) {
                std::vector<float> x;
                for (std::int64_t k = 0; k < a.cols; ++k) x.push_back(a.at(i, k));
                row = quantise(x, levels_of(format));
            }
            for (std::int64_t j = 0; j < b.cols; ++j) {
                float sum = accumulate ? c.at(i, j) : 0.0f;
                if (format == Format::f32) sum = chain_f32(sum, a, b, i, j);
                if (format == Format::bf16) sum = chain_bf16(sum, a, b, i, j);
                if (is_whole(format)) {
                    const Quantised& column = columns[static_cast<std::size_t>(j)];
                    std::int32_t exact = 0;
                    for (std::size_t k = 0; k < row.q.size(); ++k) exact += row.q[k] * column.q[k];
                    sum = static_cast<float>(exact) * (row.scale * column.scale);
                }
                if (!bias.empty()) sum += bias[static_cast<std::size_t>(j)];
                c.at(i, j) = sum;
            }
        }
    });
}

// Equal bits, or both NaN.
inline bool same_bits(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
           (std::isnan(a) && std::isnan(b));
}

// How many elements differ; 0 is the only good answer.
inline std::int64_t differences(const Matrix& a, const Matrix& b) {
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t j = 0; j < a.cols; ++j) n += !same_bits(a.at(i, j), b.at(i, j));
    return n;
}

inline std::vector<Isa> levels() {
    std::vector<Isa> all;
    for (int i = 0; i <= static_cast<int>(best_isa()); ++i) all.push_back(static_cast<Isa>(i));
    return all;
}

// Puts back the level and the thread count that a test changed.
class Restore {
public:
    Restore() = default;
    ~Restore() {
        set_isa(isa_);
        set_thread_count(0);
    }
    Restore(const Restore&) = delete;
    Restore& operator=(const Restore&) = delete;

private:
    Isa isa_ = active_isa();
};

}  // namespace fovea::kernels::oracle
