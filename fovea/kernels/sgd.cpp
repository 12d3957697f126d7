#include "fovea/kernels/sgd.h"

#include "fovea/base/threads.h"
#include "fovea/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/sgd.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

template <class D, class V>
HWY_INLINE V SgdUpdate(D d, const SgdStep& s, V w, V g, V& b) {
    const V momentum = hn::Set(d, s.momentum);
    g = Fma(hn::Set(d, s.decay), w, hn::Mul(g, hn::Set(d, s.gradient_scale)));
    b = Fma(momentum, b, g);
    return NegFma(hn::Set(d, s.rate), s.nesterov ? Fma(momentum, b, g) : b, w);
}

void sgd_piece(float* w, const float* g, float* b, std::int64_t n, const SgdStep& s) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        auto bi = hn::LoadU(d, b + i);
        hn::StoreU(SgdUpdate(d, s, hn::LoadU(d, w + i), hn::LoadU(d, g + i), bi), d, w + i);
        hn::StoreU(bi, d, b + i);
    }
    if (const std::int64_t here = n - i; here > 0) {
        auto bi = LoadSome(d, b + i, here);
        const auto wi = SgdUpdate(d, s, LoadSome(d, w + i, here), LoadSome(d, g + i, here), bi);
        StoreSome(wi, d, w + i, here);
        StoreSome(bi, d, b + i, here);
    }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {
HWY_EXPORT(sgd_piece);
}

void sgd(float* w, const float* g, float* b, std::int64_t n, const SgdStep& step) {
    const auto piece = FOVEA_DISPATCH(sgd_piece);
    parallel_for(n, 1 << 13, [&](std::int64_t begin, std::int64_t end) {
        piece(w + begin, g + begin, b + begin, end - begin, step);
    });
}

void sgd_rows(float* w, ConstView g, float* b, std::span<const std::int32_t> rows,
              const SgdStep& step) {
    const auto piece = FOVEA_DISPATCH(sgd_piece);
    parallel_for(g.rows, rows_per_piece(g.cols), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t at = rows[static_cast<std::size_t>(i)] * g.cols;
            piece(w + at, g.row(i), b + at, g.cols, step);
        }
    });
}

}  // namespace fovea::kernels
#endif
