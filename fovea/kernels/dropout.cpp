#include "fovea/kernels/dropout.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/philox.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/dropout.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/dropout-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

void dropout_row(const float* x, float* y, std::int64_t n, const DropoutMask& mask,
                 std::uint64_t sample, std::int64_t row, const float* base) {
    DropoutRow(x, y, n, mask, sample, row, base);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {
HWY_EXPORT(dropout_row);
}

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

void dropout(ConstView x, const DropoutMask& mask, View y, const float* base) {
    const auto one_row = FOVEA_DISPATCH(dropout_row);
    parallel_for(x.rows, rows_per_piece(4 * x.cols), [&](std::int64_t begin, std::int64_t end) {
        NamedRows names(mask, begin);
        for (std::int64_t i = begin; i < end; ++i, names.next())
            one_row(x.row(i), y.row(i), x.cols, mask, names.sample(), names.row(),
                    base ? base + i * y.stride : nullptr);
    });
}

}  // namespace fovea::kernels
#endif
