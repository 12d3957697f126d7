#include "fovea/kernels/adam.h"

#include <cmath>

#include "fovea/base/threads.h"
#include "fovea/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/adam.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

template <class D, class V>
HWY_INLINE V AdamUpdate(D d, const AdamNumbers& a, V w, V g, V& m, V& v) {
    g = hn::Mul(g, hn::Set(d, a.gradient_scale));
    m = Fma(hn::Set(d, a.beta1), m, hn::Mul(hn::Set(d, a.rest1), g));
    v = Fma(hn::Set(d, a.beta2), v, hn::Mul(hn::Set(d, a.rest2), hn::Mul(g, g)));
    const V root = Fma(hn::Sqrt(v), hn::Set(d, a.root), hn::Set(d, a.eps));
    const V update = hn::Div(hn::Mul(hn::Set(d, a.rate), m), root);
    return hn::Sub(hn::Mul(w, hn::Set(d, a.keep)), update);
}

void adam_piece(float* w, const float* g, float* m, float* v, std::int64_t n,
                const AdamNumbers& a) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        auto mi = hn::LoadU(d, m + i), vi = hn::LoadU(d, v + i);
        const auto wi = AdamUpdate(d, a, hn::LoadU(d, w + i), hn::LoadU(d, g + i), mi, vi);
        hn::StoreU(wi, d, w + i);
        hn::StoreU(mi, d, m + i);
        hn::StoreU(vi, d, v + i);
    }
    if (const std::int64_t here = n - i; here > 0) {
        auto mi = LoadSome(d, m + i, here), vi = LoadSome(d, v + i, here);
        const auto wi =
            AdamUpdate(d, a, LoadSome(d, w + i, here), LoadSome(d, g + i, here), mi, vi);
        StoreSome(wi, d, w + i, here);
        StoreSome(mi, d, m + i, here);
        StoreSome(vi, d, v + i, here);
    }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {
HWY_EXPORT(adam_piece);

AdamNumbers adam_numbers(const AdamStep& step) {
    const double t = static_cast<double>(step.step), rate = step.rate;
    return {
        .keep = static_cast<float>(1 - rate * step.decay),
        .beta1 = step.beta1,
        .rest1 = static_cast<float>(1 - static_cast<double>(step.beta1)),
        .beta2 = step.beta2,
        .rest2 = static_cast<float>(1 - static_cast<double>(step.beta2)),
        .rate = static_cast<float>(rate / (1 - std::pow(static_cast<double>(step.beta1), t))),
        .root = static_cast<float>(1 / std::sqrt(1 - std::pow(static_cast<double>(step.beta2), t))),
        .eps = step.eps,
        .gradient_scale = step.gradient_scale};
}

}  // namespace

void adamw(float* w, const float* g, float* m, float* v, std::int64_t n, const AdamStep& step) {
    const AdamNumbers numbers = adam_numbers(step);
    const auto piece = FOVEA_DISPATCH(adam_piece);
    parallel_for(n, 1 << 13, [&](std::int64_t begin, std::int64_t end) {
        piece(w + begin, g + begin, m + begin, v + begin, end - begin, numbers);
    });
}

void adamw_rows(const AdamTables& tables, ConstView g, std::span<const std::int32_t> rows,
                const AdamStep& step) {
    const AdamNumbers numbers = adam_numbers(step);
    const auto piece = FOVEA_DISPATCH(adam_piece);
    parallel_for(g.rows, rows_per_piece(g.cols), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t at = rows[static_cast<std::size_t>(i)] * g.cols;
            piece(tables.w + at, g.row(i), tables.m + at, tables.v + at, g.cols, numbers);
        }
    });
}

}  // namespace fovea::kernels
#endif
