#include "fovea/kernels/depthwise.h"

#include <algorithm>
#include <cstring>

#include "fovea/base/checked.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/aligned_buffer.h"
#include "fovea/kernels/elementwise.h"

#ifndef FOVEA_KERNELS_DEPTHWISE_ONCE_
#define FOVEA_KERNELS_DEPTHWISE_ONCE_
namespace fovea::kernels {

// One row of y. `taps` [count, columns] are those that fall on rows of the sequence, the first of
// them on `x`.
struct DepthwiseRowWork {
    const float *x, *taps, *bias;
    std::int64_t stride, count, columns;
    float* y;
    bool add;
};

}  // namespace fovea::kernels
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/depthwise.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

void DepthwiseRow(const DepthwiseRowWork& r) {
    for (std::int64_t c = 0; c < r.columns; c += 16) {
        const std::int64_t some = std::min<std::int64_t>(16, r.columns - c);
        const bool whole = some == 16;
        F16 sum = r.bias ? LoadSome16(r.bias + c, some) : Zero16();
        for (std::int64_t t = 0; t < r.count; ++t) {
            const float* w = r.taps + t * r.columns + c;
            const float* v = r.x + t * r.stride + c;
            const F16 a = whole ? Load16(w) : LoadSome16(w, some);
            const F16 b = whole ? Load16(v) : LoadSome16(v, some);
            sum = Fma16(a, b, sum);
        }
        if (r.add) sum = Add16(sum, LoadSome16(r.y + c, some));
        StoreSome16(sum, r.y + c, some);
    }
}

void DepthwiseTap(const float* x, const float* dy, std::int64_t stride, std::int64_t rows,
                  std::int64_t columns, float* sums) {
    F16 sum = Zero16();
    for (std::int64_t i = 0; i < rows; ++i)
        sum = columns == 16 ? Fma16(Load16(dy + i * stride), Load16(x + i * stride), sum)
                            : Fma16(LoadSome16(dy + i * stride, columns),
                                    LoadSome16(x + i * stride, columns), sum);
    StoreSome16(Add16(LoadSome16(sums, columns), sum), sums, columns);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(DepthwiseRow);
HWY_EXPORT(DepthwiseTap);

void lay_out_taps(ConstView w, TapOrder order, float* taps) {
    for (std::int64_t c = 0; c < w.rows; ++c)
        for (std::int64_t t = 0; t < w.cols; ++t)
            taps[(order == TapOrder::forward ? t : w.cols - 1 - t) * w.rows + c] = w.row(c)[t];
}

AddTap depthwise_tap() { return FOVEA_DISPATCH(DepthwiseTap); }

void depthwise(ConstView x, std::span<const std::int64_t> offsets, const DepthwiseTaps& taps,
               View y, bool add) {
    const ConstView w = taps.w;
    thread_local AlignedBuffer buffer;
    float* rows = buffer.reserve<float>(checked_mul(w.rows, w.cols));
    lay_out_taps(w, taps.order, rows);
    const auto row = FOVEA_DISPATCH(DepthwiseRow);
    const std::int64_t half = w.cols / 2;
    parallel_for(x.rows, rows_per_piece(x.cols * w.cols), [&](std::int64_t i, std::int64_t past) {
        auto end = std::upper_bound(offsets.begin(), offsets.end(), i);
        for (; i < past; ++i) {
            while (*end <= i) ++end;
            const std::int64_t from = std::max(i - half, *(end - 1));
            const std::int64_t to = std::min(i + half + 1, *end);
            row({.x = x.row(from),
                 .taps = rows + (from - i + half) * w.rows,
                 .bias = taps.bias,
                 .stride = x.stride,
                 .count = to - from,
                 .columns = x.cols,
                 .y = y.row(i),
                 .add = add});
        }
    });
}

void depthwise_weights(ConstView x, ConstView dy, std::span<const std::int64_t> offsets, View dw,
                       bool add) {
    constexpr std::int64_t block = 16;
    const AddTap tap = depthwise_tap();
    const std::int64_t half = dw.cols / 2;
    parallel_for(ceil_div(x.cols, block), 1, [&](std::int64_t b, std::int64_t) {
        const std::int64_t c = b * block, columns = std::min(block, x.cols - c);
        for (std::int64_t t = 0; t < dw.cols; ++t) {
            float sums[block] = {};
            for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
                // rows i of y for which i + shift lies within the sequence too
                const std::int64_t shift = t - half;
                const std::int64_t from = offsets[s] + std::max<std::int64_t>(0, -shift);
                const std::int64_t to = offsets[s + 1] - std::max<std::int64_t>(0, shift);
                if (from < to)
                    tap(x.row(from + shift) + c, dy.row(from) + c, x.stride, to - from, columns,
                        sums);
            }
            for (std::int64_t j = 0; j < columns; ++j) {
                float& to = dw.row(c + j)[t];
                to = (add ? to : 0.0f) + sums[j];
            }
        }
    });
}

}  // namespace fovea::kernels
#endif
