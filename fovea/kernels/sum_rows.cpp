#include "fovea/kernels/sum_rows.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "fovea/base/checked.h"
#include "fovea/base/threads.h"

namespace fovea::kernels {

void sum_rows(ConstView x, View out, bool accumulate) {
    assert(out.size() == x.cols);
    constexpr std::int64_t chunk_rows = 256;
    const std::int64_t chunks = ceil_div(x.rows, chunk_rows), n = x.cols;
    std::vector<float> partial(static_cast<std::size_t>(std::max<std::int64_t>(1, chunks) * n));
    parallel_for(chunks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t c = begin; c < end; ++c) {
            float* sum = partial.data() + c * n;
            for (std::int64_t i = c * chunk_rows; i < std::min(x.rows, (c + 1) * chunk_rows); ++i)
                for (std::int64_t j = 0; j < n; ++j) sum[j] += x.row(i)[j];
        }
    });
    parallel_for(n, 4096, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t step = 1; step < chunks; step *= 2)
            for (std::int64_t c = 0; c + step < chunks; c += 2 * step)
                for (std::int64_t j = begin; j < end; ++j)
                    partial[static_cast<std::size_t>(c * n + j)] +=
                        partial[static_cast<std::size_t>((c + step) * n + j)];
        for (std::int64_t j = begin; j < end; ++j)
            out.data[j] = (accumulate ? out.data[j] : 0.0f) + partial[static_cast<std::size_t>(j)];
    });
}

}  // namespace fovea::kernels
