#include "fovea/kernels/elementwise.h"

#include <algorithm>
#include <cassert>

#include "fovea/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/elementwise.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

struct Plus {
    template <class D, class V>
    HWY_INLINE V operator()(D, V a, V b) const {
        return hn::Add(a, b);
    }
};
struct Minus {
    template <class D, class V>
    HWY_INLINE V operator()(D, V a, V b) const {
        return hn::Sub(a, b);
    }
};
struct Times {
    template <class D, class V>
    HWY_INLINE V operator()(D, V a, V b) const {
        return hn::Mul(a, b);
    }
};
struct TimesFactor {
    float by;
    template <class D, class V>
    HWY_INLINE V operator()(D d, V x) const {
        return hn::Mul(x, hn::Set(d, by));
    }
};

void add_piece(const float* a, const float* b, float* y, std::int64_t n) {
    Map(n, y, Plus(), a, b);
}
void subtract_piece(const float* a, const float* b, float* y, std::int64_t n) {
    Map(n, y, Minus(), a, b);
}
void multiply_piece(const float* a, const float* b, float* y, std::int64_t n, bool accumulate) {
    MapInto(accumulate, n, y, Times(), a, b);
}
void scale_piece(const float* x, float by, float* y, std::int64_t n, bool accumulate) {
    MapInto(accumulate, n, y, TimesFactor{by}, x);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {
HWY_EXPORT(add_piece);
HWY_EXPORT(subtract_piece);
HWY_EXPORT(multiply_piece);
HWY_EXPORT(scale_piece);

constexpr std::int64_t grain = 1 << 14;  // 64 KB a piece
}  // namespace

void add(const float* a, const float* b, float* y, std::int64_t n) {
    const auto piece = FOVEA_DISPATCH(add_piece);
    parallel_for(n, grain, [=](std::int64_t begin, std::int64_t end) {
        piece(a + begin, b + begin, y + begin, end - begin);
    });
}

void subtract(const float* a, const float* b, float* y, std::int64_t n) {
    const auto piece = FOVEA_DISPATCH(subtract_piece);
    parallel_for(n, grain, [=](std::int64_t begin, std::int64_t end) {
        piece(a + begin, b + begin, y + begin, end - begin);
    });
}

void multiply(const float* a, const float* b, float* y, std::int64_t n, bool accumulate) {
    const auto piece = FOVEA_DISPATCH(multiply_piece);
    parallel_for(n, grain, [=](std::int64_t begin, std::int64_t end) {
        piece(a + begin, b + begin, y + begin, end - begin, accumulate);
    });
}

void scale(const float* x, float by, float* y, std::int64_t n, bool accumulate) {
    const auto piece = FOVEA_DISPATCH(scale_piece);
    parallel_for(n, grain, [=](std::int64_t begin, std::int64_t end) {
        piece(x + begin, by, y + begin, end - begin, accumulate);
    });
}

void fill(float* y, float value, std::int64_t n) {
    parallel_for(n, grain, [=](std::int64_t begin, std::int64_t end) {
        std::fill(y + begin, y + end, value);
    });
}

void add_row(ConstView x, const float* row, View y) {
    assert(x.rows == y.rows && x.cols == y.cols);
    const auto piece = FOVEA_DISPATCH(add_piece);
    parallel_for(x.rows, rows_per_piece(x.cols), [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) piece(x.row(i), row, y.row(i), x.cols);
    });
}

}  // namespace fovea::kernels
#endif
