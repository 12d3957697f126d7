#include "fovea/kernels/rows/loss.h"

#include <algorithm>

#include "fovea/base/threads.h"
#include "fovea/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/rows/loss.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/map-inl.h"
#include "fovea/kernels/rows/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

float cross_entropy_row(const float* x, std::int64_t n, std::int32_t label, float smoothing,
                        SoftmaxStats* stats) {
    float sum, rest;
    const float largest = ExpSums(x, n, sum, rest);
    *stats = {largest, 1.0f / sum};
    const float loss = LogOne(sum) - (1 - smoothing) * (x[label] - largest);
    return smoothing > 0 ? loss - smoothing * (rest / static_cast<float>(n)) : loss;
}

struct Probability {  // e^(x − largest) · factor − uniform
    float largest, factor, uniform;
    template <class D, class V>
    HWY_INLINE V operator()(D d, V x) const {
        const V e = ExpNotPositive(d, hn::Sub(x, hn::Set(d, largest)));
        return Fma(e, hn::Set(d, factor), hn::Set(d, -uniform));
    }
};

void cross_entropy_backward_row(const float* x, std::int64_t n, std::int32_t label, float smoothing,
                                const SoftmaxStats& stats, float factor, float* dx, bool add) {
    const Probability f{stats.largest, stats.inverse * factor,
                        smoothing / static_cast<float>(n) * factor};
    MapInto(add, n, dx, f, x);  // dx may be x: the label's own part needs x no more
    dx[label] -= factor * (1 - smoothing);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {
HWY_EXPORT(cross_entropy_row);
HWY_EXPORT(cross_entropy_backward_row);
}  // namespace

void cross_entropy(ConstView logits, const std::int32_t* labels, std::int32_t ignored,
                   float smoothing, SoftmaxStats* stats, float* loss) {
    const auto one_row = FOVEA_DISPATCH(cross_entropy_row);
    parallel_for(
        logits.rows, rows_per_piece(2 * logits.cols), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                loss[i] = 0;
                if (labels[i] != ignored)
                    loss[i] = one_row(logits.row(i), logits.cols, labels[i], smoothing, stats + i);
            }
        });
}

void cross_entropy_backward(ConstView logits, const std::int32_t* labels, std::int32_t ignored,
                            float smoothing, const SoftmaxStats* stats, const float* factor,
                            View dlogits, bool accumulate) {
    const auto one_row = FOVEA_DISPATCH(cross_entropy_backward_row);
    parallel_for(logits.rows, rows_per_piece(2 * logits.cols),
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) {
                         if (labels[i] != ignored) {
                             one_row(logits.row(i), logits.cols, labels[i], smoothing, stats[i],
                                     factor[i], dlogits.row(i), accumulate);
                         } else if (!accumulate) {
                             std::fill_n(dlogits.row(i), logits.cols, 0.0f);
                         }
                     }
                 });
}

}  // namespace fovea::kernels
#endif
