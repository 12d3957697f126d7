#include "fovea/kernels/rows/softmax.h"

#include "fovea/base/threads.h"
#include "fovea/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/rows/softmax.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/map-inl.h"
#include "fovea/kernels/rows/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

struct ScaledExp {  // e^(x − shift) · factor
    float shift, factor;
    template <class D, class V>
    HWY_INLINE V operator()(D d, V x) const {
        return hn::Mul(ExpNotPositive(d, hn::Sub(x, hn::Set(d, shift))), hn::Set(d, factor));
    }
};
struct Minus2 {  // (x − a) − b
    float a, b;
    template <class D, class V>
    HWY_INLINE V operator()(D d, V x) const {
        return hn::Sub(hn::Sub(x, hn::Set(d, a)), hn::Set(d, b));
    }
};
struct SoftmaxSlope {
    float dot;
    template <class D, class V>
    HWY_INLINE V operator()(D d, V dy, V y) const {
        return hn::Mul(y, hn::Sub(dy, hn::Set(d, dot)));
    }
};
struct LogSoftmaxSlope {
    float sum;
    template <class D, class V>
    HWY_INLINE V operator()(D d, V dy, V y) const {
        return NegFma(Exp(d, y), hn::Set(d, sum), dy);
    }
};
struct Same {
    HWY_INLINE F16 operator()(const F16& x) const { return x; }
};

HWY_INLINE float Dot(const float* a, const float* b, std::int64_t n) {
    F16 sum = Zero16();
    std::int64_t j = 0;
    for (; j + 16 <= n; j += 16) sum = Fma16(Load16(a + j), Load16(b + j), sum);
    if (j < n) sum = Fma16(LoadSome16(a + j, n - j), LoadSome16(b + j, n - j), sum);
    return Sum16(sum);
}

void softmax_row(const float* x, float* y, std::int64_t n) {
    float sum, rest;
    const float largest = ExpSums(x, n, sum, rest);
    Map(n, y, ScaledExp{largest, 1.0f / sum}, x);
}
void softmax_backward_row(const float* dy, const float* y, float* dx, std::int64_t n, bool add) {
    MapInto(add, n, dx, SoftmaxSlope{Dot(dy, y, n)}, dy, y);
}
void log_softmax_row(const float* x, float* y, std::int64_t n) {
    float sum, rest;
    const float largest = ExpSums(x, n, sum, rest);
    Map(n, y, Minus2{largest, LogOne(sum)}, x);
}
void log_softmax_backward_row(const float* dy, const float* y, float* dx, std::int64_t n,
                              bool add) {
    MapInto(add, n, dx, LogSoftmaxSlope{SumOver(dy, n, Same())}, dy, y);
}
float log_sum_exp_row(const float* x, std::int64_t n) {
    float sum, rest;
    const float largest = ExpSums(x, n, sum, rest);
    return largest + LogOne(sum);
}
void log_sum_exp_backward_row(float dy, const float* x, float y, float* dx, std::int64_t n,
                              bool add) {
    MapInto(add, n, dx, ScaledExp{y, dy}, x);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {
HWY_EXPORT(softmax_row);
HWY_EXPORT(softmax_backward_row);
HWY_EXPORT(log_softmax_row);
HWY_EXPORT(log_softmax_backward_row);
HWY_EXPORT(log_sum_exp_row);
HWY_EXPORT(log_sum_exp_backward_row);

template <class Row>
void each_row(ConstView x, const Row& row) {
    parallel_for(x.rows, rows_per_piece(2 * x.cols), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) row(i);
    });
}
}  // namespace

void softmax(ConstView x, View y) {
    const auto one_row = FOVEA_DISPATCH(softmax_row);
    each_row(x, [&](std::int64_t i) { one_row(x.row(i), y.row(i), x.cols); });
}

void softmax_backward(ConstView dy, ConstView y, View dx, bool accumulate) {
    const auto one_row = FOVEA_DISPATCH(softmax_backward_row);
    each_row(y,
             [&](std::int64_t i) { one_row(dy.row(i), y.row(i), dx.row(i), y.cols, accumulate); });
}

void log_softmax(ConstView x, View y) {
    const auto one_row = FOVEA_DISPATCH(log_softmax_row);
    each_row(x, [&](std::int64_t i) { one_row(x.row(i), y.row(i), x.cols); });
}

void log_softmax_backward(ConstView dy, ConstView y, View dx, bool accumulate) {
    const auto one_row = FOVEA_DISPATCH(log_softmax_backward_row);
    each_row(y,
             [&](std::int64_t i) { one_row(dy.row(i), y.row(i), dx.row(i), y.cols, accumulate); });
}

void log_sum_exp(ConstView x, float* y) {
    const auto one_row = FOVEA_DISPATCH(log_sum_exp_row);
    each_row(x, [&](std::int64_t i) { y[i] = one_row(x.row(i), x.cols); });
}

void log_sum_exp_backward(const float* dy, ConstView x, const float* y, View dx, bool accumulate) {
    const auto one_row = FOVEA_DISPATCH(log_sum_exp_backward_row);
    each_row(
        x, [&](std::int64_t i) { one_row(dy[i], x.row(i), y[i], dx.row(i), x.cols, accumulate); });
}

}  // namespace fovea::kernels
#endif
