#include "fovea/kernels/activation.h"

#include "fovea/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/activation.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/act-inl.h"
#include "fovea/kernels/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

template <Act act>
struct Value {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V x) const {
        return Activate<act>(d, x);
    }
};

// dy · act'(…), from the output for relu and tanh, from the input for the others.
template <Act act>
struct Slope {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V dy, V saved) const {
        if constexpr (act == Act::tanh) {
            return hn::Mul(dy, NegFma(saved, saved, hn::Set(d, 1.0f)));
        } else if constexpr (act == Act::relu) {
            return hn::IfThenElseZero(hn::Gt(saved, hn::Zero(d)), dy);
        } else {
            return hn::Mul(dy, ActDerivative<act>(d, saved));
        }
    }
};

struct SigmoidValue {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V x) const {
        return Sigmoid(d, x);
    }
};
struct SigmoidSlope {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V dy, V y) const {
        return hn::Mul(hn::Mul(dy, y), hn::Sub(hn::Set(d, 1.0f), y));
    }
};

void activate_piece(Act act, const float* x, float* y, std::int64_t n) {
    switch (act) {
        case Act::none:
            return Map(n, y, Value<Act::none>(), x);
        case Act::relu:
            return Map(n, y, Value<Act::relu>(), x);
        case Act::gelu:
            return Map(n, y, Value<Act::gelu>(), x);
        case Act::gelu_tanh:
            return Map(n, y, Value<Act::gelu_tanh>(), x);
        case Act::tanh:
            return Map(n, y, Value<Act::tanh>(), x);
        case Act::swish:
            return Map(n, y, Value<Act::swish>(), x);
    }
}

void activate_backward_piece(Act act, const float* dy, const float* saved, float* dx,
                             std::int64_t n, bool add) {
    switch (act) {
        case Act::none:
            return MapInto(add, n, dx, Slope<Act::none>(), dy, saved);
        case Act::relu:
            return MapInto(add, n, dx, Slope<Act::relu>(), dy, saved);
        case Act::gelu:
            return MapInto(add, n, dx, Slope<Act::gelu>(), dy, saved);
        case Act::gelu_tanh:
            return MapInto(add, n, dx, Slope<Act::gelu_tanh>(), dy, saved);
        case Act::tanh:
            return MapInto(add, n, dx, Slope<Act::tanh>(), dy, saved);
        case Act::swish:
            return MapInto(add, n, dx, Slope<Act::swish>(), dy, saved);
    }
}

void sigmoid_piece(const float* x, float* y, std::int64_t n) { Map(n, y, SigmoidValue(), x); }

void sigmoid_backward_piece(const float* dy, const float* y, float* dx, std::int64_t n, bool add) {
    MapInto(add, n, dx, SigmoidSlope(), dy, y);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {
HWY_EXPORT(activate_piece);
HWY_EXPORT(activate_backward_piece);
HWY_EXPORT(sigmoid_piece);
HWY_EXPORT(sigmoid_backward_piece);

constexpr std::int64_t grain = 1 << 13;
}  // namespace

void activate(Act act, const float* x, float* y, std::int64_t n) {
    const auto piece = FOVEA_DISPATCH(activate_piece);
    parallel_for(n, grain, [=](std::int64_t begin, std::int64_t end) {
        piece(act, x + begin, y + begin, end - begin);
    });
}

void activate_backward(Act act, const float* dy, const float* saved, float* dx, std::int64_t n,
                       bool accumulate) {
    const auto piece = FOVEA_DISPATCH(activate_backward_piece);
    parallel_for(n, grain, [=](std::int64_t begin, std::int64_t end) {
        piece(act, dy + begin, saved + begin, dx + begin, end - begin, accumulate);
    });
}

void sigmoid(const float* x, float* y, std::int64_t n) {
    const auto piece = FOVEA_DISPATCH(sigmoid_piece);
    parallel_for(n, grain, [=](std::int64_t begin, std::int64_t end) {
        piece(x + begin, y + begin, end - begin);
    });
}

void sigmoid_backward(const float* dy, const float* y, float* dx, std::int64_t n, bool accumulate) {
    const auto piece = FOVEA_DISPATCH(sigmoid_backward_piece);
    parallel_for(n, grain, [=](std::int64_t begin, std::int64_t end) {
        piece(dy + begin, y + begin, dx + begin, end - begin, accumulate);
    });
}

}  // namespace fovea::kernels
#endif
