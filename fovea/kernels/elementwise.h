#pragma once
// Loops over dense arrays of n values, one value at a time: sums, products, scaling. Outputs may be
// the very same array as an input. With accumulate, y += … instead of y = ….
#include <cstdint>

#include "fovea/base/view.h"

namespace fovea::kernels {

// How many rows of `cols` values make a piece of work worth handing to a thread (64 KB).
inline constexpr std::int64_t rows_per_piece(std::int64_t cols) {
    return cols >= (1 << 14) ? 1 : (1 << 14) / (cols > 0 ? cols : 1);
}

void add(const float* a, const float* b, float* y, std::int64_t n);       // y = a + b
void subtract(const float* a, const float* b, float* y, std::int64_t n);  // y = a − b
void multiply(const float* a, const float* b, float* y, std::int64_t n, bool accumulate = false);
void scale(const float* x, float by, float* y, std::int64_t n, bool accumulate = false);
void fill(float* y, float value, std::int64_t n);
void add_row(ConstView x, const float* row, View y);  // y[i, :] = x[i, :] + row

}  // namespace fovea::kernels
