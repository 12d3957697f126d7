#include "fovea/kernels/rows/pointwise_loss.h"

#include <vector>

#include "fovea/base/checked.h"
#include "fovea/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/rows/pointwise_loss.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/map-inl.h"
#include "fovea/kernels/rows/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

struct SquaredValue {
    template <class D, class V>
    HWY_INLINE V operator()(D, V x, V t) const {
        const V c = hn::Sub(x, t);
        return hn::Mul(c, c);
    }
};
struct SquaredSlope {
    template <class D, class V>
    HWY_INLINE V operator()(D, V x, V t) const {
        const V c = hn::Sub(x, t);
        return hn::Add(c, c);
    }
};
struct BinaryValue {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V x, V t) const {
        const V linear = NegFma(x, t, hn::Max(x, hn::Zero(d)));
        const V e = Exp(d, hn::Neg(hn::Abs(x)));
        return hn::Add(linear, Log1p(d, e));
    }
    // log(1 + e) for e in [0, 1]: Kahan's correction of what 1 + e rounds away.
    template <class D, class V>
    HWY_INLINE V Log1p(D d, V e) const {
        const V one = hn::Set(d, 1.0f), u = hn::Add(one, e), rest = hn::Sub(u, one);
        const V exact = hn::Div(hn::Mul(Log(d, u), e), rest);
        return hn::IfThenElse(hn::Eq(rest, hn::Zero(d)), e, exact);
    }
};
struct BinarySlope {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V x, V t) const {
        return hn::Sub(Sigmoid(d, x), t);
    }
};

struct Whole {
    HWY_INLINE F16 operator()(const F16& x) const { return x; }
};

template <class F>
struct TimesOne {
    F f;
    float factor;
    template <class D, class V>
    HWY_INLINE V operator()(D d, V x, V t) const {
        return hn::Mul(hn::Set(d, factor), f(d, x, t));
    }
};
template <class F>
struct TimesEach {
    F f;
    template <class D, class V>
    HWY_INLINE V operator()(D d, V x, V t, V factor) const {
        return hn::Mul(factor, f(d, x, t));
    }
};

// The sum of n <= 2048 losses; `loss` receives them.
float loss_piece(PointwiseLoss kind, const float* x, const float* t, float* loss, std::int64_t n) {
    if (kind == PointwiseLoss::squared) {
        Map(n, loss, SquaredValue(), x, t);
    } else {
        Map(n, loss, BinaryValue(), x, t);
    }
    return SumOver(loss, n, Whole());
}

template <class F>
HWY_INLINE void SlopePiece(const float* x, const float* t, float factor, const float* factors,
                           float* dx, std::int64_t n, bool add) {
    if (factors) {
        MapInto(add, n, dx, TimesEach<F>{}, x, t, factors);
    } else {
        MapInto(add, n, dx, TimesOne<F>{F(), factor}, x, t);
    }
}

void slope_piece(PointwiseLoss kind, const float* x, const float* t, float factor,
                 const float* factors, float* dx, std::int64_t n, bool add) {
    if (kind == PointwiseLoss::squared) {
        SlopePiece<SquaredSlope>(x, t, factor, factors, dx, n, add);
    } else {
        SlopePiece<BinarySlope>(x, t, factor, factors, dx, n, add);
    }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {
HWY_EXPORT(loss_piece);
HWY_EXPORT(slope_piece);
constexpr std::int64_t chunk = 2048;
}  // namespace

double pointwise_loss(PointwiseLoss kind, const float* x, const float* t, float* loss,
                      std::int64_t n) {
    const auto piece = FOVEA_DISPATCH(loss_piece);
    std::vector<float> sums(static_cast<std::size_t>(ceil_div(n, chunk)));
    parallel_for(ceil_div(n, chunk), 4, [&](std::int64_t begin, std::int64_t end) {
        float own[chunk];
        for (std::int64_t c = begin; c < end; ++c) {
            const std::int64_t i = c * chunk;
            sums[static_cast<std::size_t>(c)] =
                piece(kind, x + i, t + i, loss ? loss + i : own, std::min(chunk, n - i));
        }
    });
    double total = 0;
    for (const float s : sums) total += s;
    return total;
}

void pointwise_loss_backward(PointwiseLoss kind, const float* x, const float* t, float factor,
                             const float* factors, float* dx, std::int64_t n, bool accumulate) {
    const auto piece = FOVEA_DISPATCH(slope_piece);
    parallel_for(n, 4 * chunk, [&](std::int64_t begin, std::int64_t end) {
        piece(kind, x + begin, t + begin, factor, factors ? factors + begin : nullptr, dx + begin,
              end - begin, accumulate);
    });
}

}  // namespace fovea::kernels
#endif
