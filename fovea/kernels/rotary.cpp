#include "fovea/kernels/rotary.h"

#include <algorithm>

#include "fovea/base/threads.h"

namespace fovea::kernels {

// Four products and two sums per pair, without fma: any instruction set rounds them alike.
void rotary(ConstView x, std::int64_t dk, ConstView table, std::span<const std::int32_t> positions,
            Turn turn, View y, bool add) {
    const float sign = turn == Turn::forward ? 1.0f : -1.0f;
    const std::int64_t chunk =
        std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, x.cols));
    parallel_for(x.rows, chunk, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) {
            const float* angle = table.row(positions[static_cast<std::size_t>(r)]);
            for (std::int64_t head = 0; head < x.cols; head += dk) {
                const float* from = x.row(r) + head;
                float* to = y.row(r) + head;
                for (std::int64_t i = 0; i < dk; i += 2) {
                    const float sine = sign * angle[i], cosine = angle[i + 1];
                    const float a = from[i], b = from[i + 1];
                    const float first = a * cosine - b * sine, second = a * sine + b * cosine;
                    to[i] = add ? to[i] + first : first;
                    to[i + 1] = add ? to[i + 1] + second : second;
                }
            }
        }
    });
}

}  // namespace fovea::kernels
