#include "fovea/kernels/rows/embedding.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "fovea/base/threads.h"
#include "fovea/kernels/bf16.h"

namespace fovea::kernels {
namespace {

std::int64_t rows_per_chunk(std::int64_t cols) {
    return std::max<std::int64_t>(1, (1 << 15) / std::max<std::int64_t>(1, cols));
}

// The positions 0 … n-1 grouped by id, rising within a group, and where each id's group begins: a
// counting sort, which is stable.
struct Groups {
    std::vector<std::int32_t> positions;
    std::vector<std::int32_t> begin;  // [ids + 1]

    Groups(std::span<const std::int32_t> ids, std::int64_t count)
        : positions(ids.size()), begin(static_cast<std::size_t>(count) + 1) {
        for (const std::int32_t id : ids) ++begin[static_cast<std::size_t>(id) + 1];
        for (std::size_t r = 1; r < begin.size(); ++r) begin[r] += begin[r - 1];
        std::vector<std::int32_t> next(begin.begin(), begin.end() - 1);
        for (std::size_t i = 0; i < ids.size(); ++i)
            positions[static_cast<std::size_t>(next[static_cast<std::size_t>(ids[i])]++)] =
                static_cast<std::int32_t>(i);
    }
};

}  // namespace

void gather_rows(ConstView table, std::span<const std::int32_t> ids, View y) {
    parallel_for(y.rows, rows_per_chunk(y.cols), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            std::memcpy(y.row(i), table.row(ids[static_cast<std::size_t>(i)]),
                        static_cast<std::size_t>(y.cols) * sizeof(float));
    });
}

void gather_rows_bf16(const std::uint16_t* table, std::span<const std::int32_t> ids, View y) {
    parallel_for(y.rows, rows_per_chunk(y.cols), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::uint16_t* from = table + ids[static_cast<std::size_t>(i)] * y.cols;
            for (std::int64_t j = 0; j < y.cols; ++j) y.row(i)[j] = from_bf16(from[j]);
        }
    });
}

void gather_rows_int8(const std::int8_t* table, const float* scales,
                      std::span<const std::int32_t> ids, View y) {
    parallel_for(y.rows, rows_per_chunk(y.cols), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int32_t id = ids[static_cast<std::size_t>(i)];
            const std::int8_t* from = table + id * y.cols;
            for (std::int64_t j = 0; j < y.cols; ++j)
                y.row(i)[j] = scales[id] * static_cast<float>(from[j]);
        }
    });
}

void scatter_add_rows(ConstView dy, std::span<const std::int32_t> ids, View dtable,
                      bool accumulate) {
    const Groups groups(ids, dtable.rows);
    parallel_for(dtable.rows, rows_per_chunk(dy.cols), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) {
            const std::int32_t first = groups.begin[static_cast<std::size_t>(r)],
                               last = groups.begin[static_cast<std::size_t>(r) + 1];
            float* to = dtable.row(r);
            if (!accumulate && first == last) std::fill_n(to, dy.cols, 0.0f);
            for (std::int32_t k = first; k < last; ++k) {
                const float* from = dy.row(groups.positions[static_cast<std::size_t>(k)]);
                if (k == first && !accumulate) {
                    std::memcpy(to, from, static_cast<std::size_t>(dy.cols) * sizeof(float));
                } else {
                    for (std::int64_t j = 0; j < dy.cols; ++j) to[j] += from[j];
                }
            }
        }
    });
}

}  // namespace fovea::kernels
