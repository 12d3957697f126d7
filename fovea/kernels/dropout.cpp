#include "fovea/kernels/dropout.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/philox.h"
#include "fovea/base/threads.h"

namespace fovea::kernels {

DropoutMask dropout_mask(std::uint64_t tape_key, std::uint32_t site, float p,
                         std::span<const std::int64_t> offsets,
                         std::span<const std::uint64_t> samples) {
    return {.key = tape_key ^ (std::uint64_t{site} * 0x9E3779B97F4A7C15u),
            .threshold = static_cast<std::uint32_t>(std::lround(p * 65536.0)),
            .scale = 1.0f / (1.0f - p),
            .offsets = offsets,
            .samples = samples};
}

bool keeps(const DropoutMask& mask, std::uint64_t sample, std::int64_t row, std::int64_t column) {
    const auto block = static_cast<std::uint32_t>(column / 128 * 16 + column % 16);
    const auto k = static_cast<std::size_t>(column % 128 / 16);
    const PhiloxBlock bits =
        philox({block, static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(sample),
                static_cast<std::uint32_t>(sample >> 32)},
               mask.key);
    const std::uint32_t word = bits[k % 4];
    return (k < 4 ? word & 0xffffu : word >> 16) >= mask.threshold;
}

void dropout(ConstView x, const DropoutMask& mask, View y, bool accumulate) {
    const std::int64_t rows =
        std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, x.cols));
    parallel_for(x.rows, rows, [&](std::int64_t begin, std::int64_t end) {
        auto segment = std::upper_bound(mask.offsets.begin(), mask.offsets.end(), begin) - 1;
        for (std::int64_t i = begin; i < end; ++i) {
            while (i >= segment[1]) ++segment;
            const auto s = static_cast<std::size_t>(segment - mask.offsets.begin());
            const std::uint64_t sample = mask.samples.empty() ? s : mask.samples[s];
            for (std::int64_t j = 0; j < x.cols; ++j) {
                const float v =
                    keeps(mask, sample, i - *segment, j) ? x.row(i)[j] * mask.scale : 0.0f;
                y.row(i)[j] = accumulate ? y.row(i)[j] + v : v;
            }
        }
    });
}

}  // namespace fovea::kernels
