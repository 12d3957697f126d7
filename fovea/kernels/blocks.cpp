#include "fovea/kernels/blocks.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "fovea/base/threads.h"
#include "fovea/kernels/elementwise.h"

namespace fovea::kernels {

void copy_block(ConstView from, View to, bool accumulate) {
    assert(from.rows == to.rows && from.cols == to.cols);
    if (from.dense() && to.dense() && from.rows > 1)  // one long row: split by size, not by rows
        return copy_block({from.data, 1, from.size()}, {to.data, 1, to.size()}, accumulate);
    if (from.rows == 1) {
        if (accumulate) return add(to.data, from.data, to.data, to.cols);
        return scale(from.data, 1.0f, to.data, to.cols);
    }
    parallel_for(from.rows, rows_per_piece(from.cols), [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const float* f = from.row(i);
            float* t = to.row(i);
            if (accumulate) {
                for (std::int64_t j = 0; j < from.cols; ++j) t[j] += f[j];
            } else if (from.cols > 0) {
                std::memcpy(t, f, static_cast<std::size_t>(from.cols) * sizeof(float));
            }
        }
    });
}

void zero_block(View to) {
    if (to.dense()) return fill(to.data, 0.0f, to.size());
    parallel_for(to.rows, rows_per_piece(to.cols), [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) std::fill_n(to.row(i), to.cols, 0.0f);
    });
}

}  // namespace fovea::kernels
