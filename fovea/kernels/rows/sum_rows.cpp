#include "fovea/kernels/rows/sum_rows.h"

#include <algorithm>
#include <cassert>

#include "fovea/base/checked.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/aligned_buffer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/rows/sum_rows.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

// out[j] = Σᵢ x[i, j] for the rows of one chunk, in the order of the rows; 64 columns at a time
// stay in registers.
void ColumnSums(ConstView x, float* out) {
    std::int64_t j = 0;
    for (; j + 64 <= x.cols; j += 64) {
        F16 sum[4] = {Zero16(), Zero16(), Zero16(), Zero16()};
        for (std::int64_t i = 0; i < x.rows; ++i) {
            const float* row = x.row(i) + j;
            HWY_UNROLL(4)
            for (int l = 0; l < 4; ++l) sum[l] = Add16(sum[l], Load16(row + l * 16));
        }
        for (int l = 0; l < 4; ++l) Store16(sum[l], out + j + l * 16);
    }
    for (; j < x.cols; j += 16) {
        const std::int64_t some = std::min<std::int64_t>(16, x.cols - j);
        F16 sum = Zero16();
        for (std::int64_t i = 0; i < x.rows; ++i) sum = Add16(sum, LoadSome16(x.row(i) + j, some));
        StoreSome16(sum, out + j, some);
    }
}

// to += from
void AddTo(float* to, const float* from, std::int64_t n) {
    std::int64_t j = 0;
    for (; j + 16 <= n; j += 16) Store16(Add16(Load16(to + j), Load16(from + j)), to + j);
    if (j < n)
        StoreSome16(Add16(LoadSome16(to + j, n - j), LoadSome16(from + j, n - j)), to + j, n - j);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(ColumnSums);
HWY_EXPORT(AddTo);

void sum_rows(ConstView x, View out, bool accumulate) {
    assert(out.size() == x.cols);
    constexpr std::int64_t chunk_rows = 256, chunk_cols = 512;
    const std::int64_t n = x.cols, chunks = std::max<std::int64_t>(1, ceil_div(x.rows, chunk_rows));
    thread_local AlignedBuffer buffer;
    float* partial = buffer.reserve<float>(checked_mul(chunks, n));
    const auto sums = FOVEA_DISPATCH(ColumnSums);
    const auto add = FOVEA_DISPATCH(AddTo);
    const std::int64_t col_chunks = ceil_div(n, chunk_cols);
    parallel_for(chunks * col_chunks, 1, [&](std::int64_t task, std::int64_t) {
        const std::int64_t c = task / col_chunks, j = task % col_chunks * chunk_cols;
        sums(x.block(c * chunk_rows, std::min(x.rows, (c + 1) * chunk_rows), j,
                     std::min(n, j + chunk_cols)),
             partial + c * n + j);
    });
    // Pairwise: chunk 0 with 1, 2 with 3, …; then those of distance 2, 4, ….
    parallel_for(n, 4096, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t step = 1; step < chunks; step *= 2)
            for (std::int64_t c = 0; c + step < chunks; c += 2 * step)
                add(partial + c * n + begin, partial + (c + step) * n + begin, end - begin);
        if (!accumulate) std::fill(out.data + begin, out.data + end, 0.0f);
        add(out.data + begin, partial + begin, end - begin);
    });
}

}  // namespace fovea::kernels
#endif
