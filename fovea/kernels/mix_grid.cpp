#include "fovea/kernels/mix_grid.h"

#include <algorithm>

#include "fovea/base/threads.h"
#include "fovea/kernels/elementwise.h"

#ifndef FOVEA_KERNELS_MIX_GRID_ONCE_
#define FOVEA_KERNELS_MIX_GRID_ONCE_
namespace fovea::kernels {

// One output position: the inputs' lines and columns, as offsets from the picture, and weights.
struct MixGridWork {
    const float* x;
    const std::int64_t *lines, *places;  // in values
    const float *line_weights, *place_weights;
    std::int64_t line_count, place_count, columns;
    float* y;
    bool add;
};

}  // namespace fovea::kernels
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/mix_grid.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

void MixGridPosition(const MixGridWork& m) {
    for (std::int64_t c = 0; c < m.columns; c += 16) {
        const std::int64_t some = std::min<std::int64_t>(16, m.columns - c);
        F16 sum = Zero16();
        for (std::int64_t a = 0; a < m.line_count; ++a) {
            F16 line = Zero16();
            for (std::int64_t b = 0; b < m.place_count; ++b) {
                const float* x = m.x + m.lines[a] + m.places[b] + c;
                line = Fma16(Set16(m.place_weights[b]),
                             some == 16 ? Load16(x) : LoadSome16(x, some), line);
            }
            sum = Fma16(Set16(m.line_weights[a]), line, sum);
        }
        if (m.add) sum = Add16(sum, LoadSome16(m.y + c, some));
        StoreSome16(sum, m.y + c, some);
    }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(MixGridPosition);

AxisMix AxisMix::transposed(std::int64_t inputs) const {
    std::vector<std::vector<std::pair<std::int64_t, float>>> to(static_cast<std::size_t>(inputs));
    for (std::int64_t o = 0; o < outputs(); ++o)
        for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(o)]);
             k < static_cast<std::size_t>(offsets[static_cast<std::size_t>(o) + 1]); ++k)
            to[static_cast<std::size_t>(input[k])].emplace_back(o, weight[k]);
    AxisMix t;
    for (const auto& list : to) {
        for (const auto& [o, w] : list) {
            t.input.push_back(o);
            t.weight.push_back(w);
        }
        t.offsets.push_back(static_cast<std::int64_t>(t.input.size()));
    }
    return t;
}

void mix_grid(ConstView x, const Grid& in, const AxisMix& vertical, const AxisMix& horizontal,
              View y, bool add) {
    const auto position = FOVEA_DISPATCH(MixGridPosition);
    std::vector<std::int64_t> lines = vertical.input, places = horizontal.input;
    for (std::int64_t& line : lines) line *= in.width * x.cols;
    for (std::int64_t& place : places) place *= x.cols;
    const std::int64_t out_h = vertical.outputs(), out_w = horizontal.outputs();
    parallel_for(
        in.images * out_h, rows_per_piece(out_w * x.cols * 4),
        [&](std::int64_t line, std::int64_t past) {
            for (; line < past; ++line) {
                const auto i = static_cast<std::size_t>(line % out_h);
                const std::int64_t from = vertical.offsets[i];
                for (std::int64_t o = 0; o < out_w; ++o) {
                    const std::int64_t first = horizontal.offsets[static_cast<std::size_t>(o)];
                    position(
                        {.x = x.row(line / out_h * in.area()),
                         .lines = lines.data() + from,
                         .places = places.data() + first,
                         .line_weights = vertical.weight.data() + from,
                         .place_weights = horizontal.weight.data() + first,
                         .line_count = vertical.offsets[i + 1] - from,
                         .place_count = horizontal.offsets[static_cast<std::size_t>(o) + 1] - first,
                         .columns = x.cols,
                         .y = y.row(line * out_w + o),
                         .add = add});
                }
            }
        });
}

}  // namespace fovea::kernels
#endif
