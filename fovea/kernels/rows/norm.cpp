#include "fovea/kernels/rows/norm.h"

#include <algorithm>

#include "fovea/base/checked.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/rows/norm.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/dropout-inl.h"
#include "fovea/kernels/map-inl.h"
#include "fovea/kernels/rows/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

struct Itself {
    HWY_INLINE F16 operator()(const F16& x) const { return x; }
};

// x − mean, squared: the mean of the first is the rounding error of `mean`, that of the second the
// variance. (x − mean) is exact where x is near the mean, so nothing is lost however large it is.
struct Moments {
    F16 mean;
    HWY_INLINE void operator()(const F16& x, F16& first, F16& second) const {
        const F16 c = Map16(SubLanes(), x, mean);
        first = Add16(first, c);
        second = Fma16(c, c, second);
    }
};

struct Normalise {
    NormStats s;
    template <class D, class V>
    HWY_INLINE V operator()(D d, V x, V gamma, V beta) const {
        return Fma(Hat(d, x), gamma, beta);
    }
    template <class D, class V>
    HWY_INLINE V operator()(D d, V x, V gamma) const {
        return hn::Mul(Hat(d, x), gamma);
    }
    template <class D, class V>
    HWY_INLINE V Hat(D d, V x) const {
        const V c = hn::Sub(hn::Sub(x, hn::Set(d, s.mean)), hn::Set(d, s.mean_rest));
        return hn::Mul(c, hn::Set(d, s.inverse));
    }
};

void layer_norm_row(const float* x, const float* gamma, const float* beta, float eps, float* y,
                    std::int64_t n, NormStats* stats) {
    const float size = static_cast<float>(n);
    NormStats s{};
    s.mean = SumOver(x, n, Itself()) / size;
    float first, second;
    SumOverTwo(x, n, Moments{Set16(s.mean)}, s.mean, x + n, first, second);
    s.mean_rest = first / size;
    // Var = mean(c²) − mean(c)²; mean(c) is at most a few ulps of the mean, so nothing cancels
    // unless the variance is below what f32 can show at this mean.
    const float variance = HWY_MAX(0.0f, second / size - s.mean_rest * s.mean_rest);
    s.inverse = 1.0f / std::sqrt(variance + eps);
    if (beta) {
        Map(n, y, Normalise{s}, x, gamma, beta);
    } else {
        Map(n, y, Normalise{s}, x, gamma);
    }
    if (stats) *stats = s;
}

struct Square {
    HWY_INLINE F16 operator()(const F16& x) const { return Mul16(x, x); }
};
struct TimesBoth {
    float inverse;
    template <class D, class V>
    HWY_INLINE V operator()(D d, V x, V gamma) const {
        return hn::Mul(hn::Mul(x, hn::Set(d, inverse)), gamma);
    }
};

void rms_norm_row(const float* x, const float* gamma, float eps, float* y, std::int64_t n,
                  NormStats* stats) {
    const float mean_square = SumOver(x, n, Square()) / static_cast<float>(n);
    const NormStats s{0, 0, 1.0f / std::sqrt(mean_square + eps)};
    Map(n, y, TimesBoth{s.inverse}, x, gamma);
    if (stats) *stats = s;
}

struct PlusLanes {
    template <class D, class V>
    HWY_INLINE V operator()(D, V a, V b) const {
        return hn::Add(a, b);
    }
};

void residual_row(const float* x, const float* branch, float* sum, std::int64_t n,
                  const DropoutMask* mask, std::uint64_t sample, std::int64_t row) {
    if (mask) {
        DropoutRow(branch, sum, n, *mask, sample, row, x);
    } else {
        Map(n, sum, PlusLanes(), x, branch);
    }
}

// Σ g and Σ g ∘ x̂ of a row, and on the way dgamma += dy ∘ x̂, dbeta += dy.
HWY_INLINE void BackwardSums(const float* dy, const float* x, const float* gamma, std::int64_t n,
                             const Normalise& norm, float* dgamma, float* dbeta, float& sum,
                             float& dot) {
    const Tag16 d;
    F16 sums = Zero16(), dots = Zero16();
    for (std::int64_t j = 0; j < n; j += 16) {
        const std::int64_t here = n - j;
        const bool whole = here >= 16;
        const F16 g = whole ? Load16(dy + j) : LoadSome16(dy + j, here);
        const F16 in = whole ? Load16(x + j) : LoadSome16(x + j, here);
        const F16 scale = whole ? Load16(gamma + j) : LoadSome16(gamma + j, here);
        F16 hat;
        for (std::size_t i = 0; i < parts16; ++i) hat.part[i] = norm.Hat(d, in.part[i]);
        const F16 scaled = Mul16(g, scale);
        sums = Add16(sums, scaled);
        dots = Fma16(scaled, hat, dots);
        if (whole) {
            Store16(Fma16(g, hat, Load16(dgamma + j)), dgamma + j);
            Store16(Add16(g, Load16(dbeta + j)), dbeta + j);
        } else {
            StoreSome16(Fma16(g, hat, LoadSome16(dgamma + j, here)), dgamma + j, here);
            StoreSome16(Add16(g, LoadSome16(dbeta + j, here)), dbeta + j, here);
        }
    }
    sum = Sum16(sums) / static_cast<float>(n);
    dot = Sum16(dots) / static_cast<float>(n);
}

struct InputGradient {
    Normalise norm;
    float sum, dot;
    template <class D, class V>
    HWY_INLINE V operator()(D d, V dy, V x, V gamma) const {
        const V centred = hn::Sub(hn::Mul(dy, gamma), hn::Set(d, sum));
        return hn::Mul(hn::Set(d, norm.s.inverse),
                       NegFma(norm.Hat(d, x), hn::Set(d, dot), centred));
    }
};

void norm_backward_row(const float* dy, const float* x, const float* gamma, const NormStats& stats,
                       bool centred, std::int64_t n, float* dx, bool add_dx, float* dgamma,
                       float* dbeta) {
    InputGradient f{{stats}, 0, 0};
    BackwardSums(dy, x, gamma, n, f.norm, dgamma, dbeta, f.sum, f.dot);
    if (!centred) f.sum = 0;
    if (dx) MapInto(add_dx, n, dx, f, dy, x, gamma);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {
HWY_EXPORT(layer_norm_row);
HWY_EXPORT(rms_norm_row);
HWY_EXPORT(residual_row);
HWY_EXPORT(norm_backward_row);

constexpr std::int64_t chunk_rows = 64;

void backward(bool centred, ConstView dy, ConstView x, const float* gamma, const NormStats* stats,
              const NormGradients& out) {
    const auto one_row = FOVEA_DISPATCH(norm_backward_row);
    const std::int64_t chunks = ceil_div(x.rows, chunk_rows), n = x.cols;
    parallel_for(chunks, 1, [&](std::int64_t c, std::int64_t) {
        float* dgamma = out.partial + c * 2 * n;
        std::fill_n(dgamma, 2 * n, 0.0f);
        for (std::int64_t i = c * chunk_rows; i < std::min(x.rows, (c + 1) * chunk_rows); ++i)
            one_row(dy.row(i), x.row(i), gamma, stats[i], centred, n,
                    out.dx.data ? out.dx.row(i) : nullptr, out.add_dx, dgamma, dgamma + n);
    });
    if (chunks == 0) std::fill_n(out.partial, 2 * n, 0.0f);
    for (std::int64_t step = 1; step < chunks; step *= 2)
        for (std::int64_t c = 0; c + step < chunks; c += 2 * step) {
            float* to = out.partial + c * 2 * n;
            add(to, to + step * 2 * n, to, 2 * n);
        }
    if (out.dgamma) scale(out.partial, 1.0f, out.dgamma, n, out.add_dgamma);
    if (out.dbeta) scale(out.partial + n, 1.0f, out.dbeta, n, out.add_dbeta);
}

}  // namespace

void layer_norm(ConstView x, const float* gamma, const float* beta, float eps, View y,
                NormStats* stats) {
    const auto one_row = FOVEA_DISPATCH(layer_norm_row);
    parallel_for(x.rows, rows_per_piece(x.cols), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            one_row(x.row(i), gamma, beta, eps, y.row(i), x.cols, stats ? stats + i : nullptr);
    });
}

void rms_norm(ConstView x, const float* gamma, float eps, View y, NormStats* stats) {
    const auto one_row = FOVEA_DISPATCH(rms_norm_row);
    parallel_for(x.rows, rows_per_piece(x.cols), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            one_row(x.row(i), gamma, eps, y.row(i), x.cols, stats ? stats + i : nullptr);
    });
}

void residual_layer_norm(const ResidualNorm& in, View sum, View y, NormStats* stats) {
    const auto add_row = FOVEA_DISPATCH(residual_row);
    const auto norm_row = FOVEA_DISPATCH(layer_norm_row);
    const std::int64_t n = in.x.cols;
    const std::int64_t whole[] = {0, in.x.rows};
    const DropoutMask unnamed{.offsets = whole};
    parallel_for(in.x.rows, rows_per_piece(n), [&](std::int64_t begin, std::int64_t end) {
        NamedRows names(in.mask ? *in.mask : unnamed, begin);
        for (std::int64_t i = begin; i < end; ++i, names.next()) {
            float* s = sum.data ? sum.row(i) : y.row(i);  // normalised in place if nobody keeps it
            add_row(in.x.row(i), in.branch.row(i), s, n, in.mask, names.sample(), names.row());
            norm_row(s, in.gamma, in.beta, in.eps, y.row(i), n, stats ? stats + i : nullptr);
        }
    });
}

std::int64_t norm_partial_size(std::int64_t rows, std::int64_t cols) {
    return 2 * ceil_div(std::max<std::int64_t>(1, rows), chunk_rows) * cols;
}

void layer_norm_backward(ConstView dy, ConstView x, const float* gamma, const NormStats* stats,
                         const NormGradients& out) {
    backward(true, dy, x, gamma, stats, out);
}

void rms_norm_backward(ConstView dy, ConstView x, const float* gamma, const NormStats* stats,
                       const NormGradients& out) {
    backward(false, dy, x, gamma, stats, out);
}

}  // namespace fovea::kernels
#endif
