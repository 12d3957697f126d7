#include "fovea/kernels/elementwise.h"

#include <algorithm>
#include <cassert>

#include "fovea/base/threads.h"

namespace fovea::kernels {
namespace {
constexpr std::int64_t grain = 1 << 15;
}

void add(const float* a, const float* b, float* y, std::int64_t n) {
    parallel_for(n, grain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) y[i] = a[i] + b[i];
    });
}

void subtract(const float* a, const float* b, float* y, std::int64_t n) {
    parallel_for(n, grain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) y[i] = a[i] - b[i];
    });
}

void multiply(const float* a, const float* b, float* y, std::int64_t n, bool accumulate) {
    parallel_for(n, grain, [=](std::int64_t begin, std::int64_t end) {
        if (accumulate) {
            for (std::int64_t i = begin; i < end; ++i) y[i] += a[i] * b[i];
        } else {
            for (std::int64_t i = begin; i < end; ++i) y[i] = a[i] * b[i];
        }
    });
}

void scale(const float* x, float by, float* y, std::int64_t n, bool accumulate) {
    parallel_for(n, grain, [=](std::int64_t begin, std::int64_t end) {
        if (accumulate) {
            for (std::int64_t i = begin; i < end; ++i) y[i] += by * x[i];
        } else {
            for (std::int64_t i = begin; i < end; ++i) y[i] = by * x[i];
        }
    });
}

void fill(float* y, float value, std::int64_t n) {
    parallel_for(n, grain, [=](std::int64_t begin, std::int64_t end) {
        std::fill(y + begin, y + end, value);
    });
}

void add_row(ConstView x, const float* row, View y) {
    assert(x.rows == y.rows && x.cols == y.cols);
    const std::int64_t rows = std::max<std::int64_t>(1, grain / std::max<std::int64_t>(1, x.cols));
    parallel_for(x.rows, rows, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            for (std::int64_t j = 0; j < x.cols; ++j) y.row(i)[j] = x.row(i)[j] + row[j];
    });
}

}  // namespace fovea::kernels
