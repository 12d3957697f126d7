#include "fovea/kernels/depthwise2d.h"

#include <algorithm>
#include <vector>

#include "fovea/base/checked.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/aligned_buffer.h"
#include "fovea/kernels/elementwise.h"

#ifndef FOVEA_KERNELS_DEPTHWISE2D_ONCE_
#define FOVEA_KERNELS_DEPTHWISE2D_ONCE_
namespace fovea::kernels {

// One line of y. `taps` [k lines, k, columns]; the lines [first, past) of the kernel lie within the
// picture, the first of them on the line `x`.
struct Depthwise2dLine {
    const float *x, *taps, *bias;
    std::int64_t width, columns, k, lines;
    float* y;
    bool add;
};

}  // namespace fovea::kernels
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/depthwise2d.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

// 16 columns (or the last `some`) of the pixel at j.
HWY_INLINE void Depthwise2dPixel(const Depthwise2dLine& l, std::int64_t j, std::int64_t c,
                                 std::int64_t some) {
    const std::int64_t half = l.k / 2;
    const std::int64_t from = HWY_MAX(std::int64_t{0}, j - half);
    const std::int64_t to = HWY_MIN(l.width, j + half + 1);
    const bool whole = some == 16;
    F16 sum = l.bias ? LoadSome16(l.bias + c, some) : Zero16();
    for (std::int64_t r = 0; r < l.lines; ++r) {
        const float* x = l.x + (r * l.width + from) * l.columns + c;
        const float* w = l.taps + (r * l.k + from - j + half) * l.columns + c;
        for (std::int64_t s = from; s < to; ++s, x += l.columns, w += l.columns)
            sum = whole ? Fma16(Load16(w), Load16(x), sum)
                        : Fma16(LoadSome16(w, some), LoadSome16(x, some), sum);
    }
    float* y = l.y + j * l.columns + c;
    if (l.add) sum = Add16(sum, LoadSome16(y, some));
    if (whole)
        Store16(sum, y);
    else
        StoreSome16(sum, y, some);
}

void Depthwise2dRow(const Depthwise2dLine& l) {
    for (std::int64_t c = 0; c < l.columns; c += 16) {
        const std::int64_t some = std::min<std::int64_t>(16, l.columns - c);
        for (std::int64_t j = 0; j < l.width; ++j) Depthwise2dPixel(l, j, c, some);
    }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(Depthwise2dRow);

namespace {

std::int64_t side_of(std::int64_t taps) {
    std::int64_t k = 1;
    while (k * k < taps) ++k;
    return k;
}

}  // namespace

void depthwise2d(ConstView x, const Grid& grid, const DepthwiseTaps& taps, View y, bool add) {
    const ConstView w = taps.w;
    thread_local AlignedBuffer buffer;
    float* weights = buffer.reserve<float>(checked_mul(w.rows, w.cols));
    lay_out_taps(w, taps.order, weights);
    const auto row = FOVEA_DISPATCH(Depthwise2dRow);
    const std::int64_t k = side_of(w.cols), half = k / 2;
    parallel_for(grid.images * grid.height, rows_per_piece(grid.width * x.cols * k),
                 [&](std::int64_t line, std::int64_t past) {
                     for (; line < past; ++line) {
                         const std::int64_t i = line % grid.height;
                         const std::int64_t from = std::max<std::int64_t>(0, i - half);
                         const std::int64_t to = std::min(grid.height, i + half + 1);
                         row({.x = x.row((line - i + from) * grid.width),
                              .taps = weights + (from - i + half) * k * w.rows,
                              .bias = taps.bias,
                              .width = grid.width,
                              .columns = x.cols,
                              .k = k,
                              .lines = to - from,
                              .y = y.row(line * grid.width),
                              .add = add});
                     }
                 });
}

void depthwise2d_weights(ConstView x, ConstView dy, const Grid& grid, View dw, bool add) {
    constexpr std::int64_t block = 16;
    const AddTap tap = depthwise_tap();
    const std::int64_t k = side_of(dw.cols), half = k / 2;
    parallel_for(ceil_div(x.cols, block), 1, [&](std::int64_t b, std::int64_t) {
        const std::int64_t c = b * block, columns = std::min(block, x.cols - c);
        std::vector<float> sums(static_cast<std::size_t>(dw.cols * block), 0.0f);
        for (std::int64_t line = 0; line < grid.images * grid.height; ++line)
            for (std::int64_t t = 0; t < dw.cols; ++t) {
                const std::int64_t down = t / k - half, right = t % k - half;
                const std::int64_t i = line % grid.height + down;
                // pixels j of the line for which j + right lies within it too
                const std::int64_t from = std::max<std::int64_t>(0, -right);
                const std::int64_t to = grid.width - std::max<std::int64_t>(0, right);
                if (i < 0 || i >= grid.height || from >= to) continue;
                tap(x.row((line + down) * grid.width + from + right) + c,
                    dy.row(line * grid.width + from) + c, x.stride, to - from, columns,
                    sums.data() + t * block);
            }
        for (std::int64_t t = 0; t < dw.cols; ++t)
            for (std::int64_t j = 0; j < columns; ++j) {
                float& to = dw.row(c + j)[t];
                to = (add ? to : 0.0f) + sums[static_cast<std::size_t>(t * block + j)];
            }
    });
}

}  // namespace fovea::kernels
#endif
