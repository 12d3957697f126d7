#include "fovea/kernels/rows/pool.h"

#include <algorithm>
#include <cstring>

#include "fovea/base/threads.h"

namespace fovea::kernels {
namespace {

// Every segment is one piece of work; rows are added in their order, so that a segment's bits do
// not depend on the others.
template <class Body>
void each_segment(Offsets offsets, const Body& body) {
    parallel_for(
        static_cast<std::int64_t>(offsets.size()) - 1, 1, [&](std::int64_t s, std::int64_t) {
            body(s, offsets[static_cast<std::size_t>(s)], offsets[static_cast<std::size_t>(s) + 1]);
        });
}

std::int64_t row_at(End end, std::int64_t begin, std::int64_t past) {
    return end == End::first ? begin : past - 1;
}

void zero_rows(View dx, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) std::fill_n(dx.row(i), dx.cols, 0.0f);
}

}  // namespace

void segment_mean(ConstView x, Offsets offsets, View y) {
    each_segment(offsets, [&](std::int64_t s, std::int64_t begin, std::int64_t end) {
        float* to = y.row(s);
        std::fill_n(to, y.cols, 0.0f);
        for (std::int64_t i = begin; i < end; ++i)
            for (std::int64_t j = 0; j < y.cols; ++j) to[j] += x.row(i)[j];
        if (end - begin < 2) return;
        const float share = 1.0f / static_cast<float>(end - begin);
        for (std::int64_t j = 0; j < y.cols; ++j) to[j] *= share;
    });
}

void segment_mean_backward(ConstView dy, Offsets offsets, View dx, bool accumulate) {
    each_segment(offsets, [&](std::int64_t s, std::int64_t begin, std::int64_t end) {
        const float share = begin < end ? 1.0f / static_cast<float>(end - begin) : 0.0f;
        const float* from = dy.row(s);
        for (std::int64_t i = begin; i < end; ++i) {
            float* to = dx.row(i);
            for (std::int64_t j = 0; j < dx.cols; ++j)
                to[j] = (accumulate ? to[j] : 0.0f) + share * from[j];
        }
    });
}

void segment_sum(ConstView x, std::span<const float> weights, Offsets offsets, View y) {
    each_segment(offsets, [&](std::int64_t s, std::int64_t begin, std::int64_t end) {
        float* to = y.row(s);
        std::fill_n(to, y.cols, 0.0f);
        for (std::int64_t i = begin; i < end; ++i) {
            const float weight = weights[static_cast<std::size_t>(i)];
            for (std::int64_t j = 0; j < y.cols; ++j) to[j] += weight * x.row(i)[j];
        }
    });
}

void segment_sum_backward(ConstView dy, std::span<const float> weights, Offsets offsets, View dx,
                          bool accumulate) {
    each_segment(offsets, [&](std::int64_t s, std::int64_t begin, std::int64_t end) {
        const float* from = dy.row(s);
        for (std::int64_t i = begin; i < end; ++i) {
            const float weight = weights[static_cast<std::size_t>(i)];
            float* to = dx.row(i);
            for (std::int64_t j = 0; j < dx.cols; ++j)
                to[j] = (accumulate ? to[j] : 0.0f) + weight * from[j];
        }
    });
}

void segment_max(ConstView x, Offsets offsets, View y) {
    each_segment(offsets, [&](std::int64_t s, std::int64_t begin, std::int64_t end) {
        float* to = y.row(s);
        if (begin == end) return std::fill_n(to, y.cols, 0.0f), void();
        std::memcpy(to, x.row(begin), static_cast<std::size_t>(y.cols) * sizeof(float));
        for (std::int64_t i = begin + 1; i < end; ++i)
            for (std::int64_t j = 0; j < y.cols; ++j)
                to[j] = x.row(i)[j] > to[j] ? x.row(i)[j] : to[j];
    });
}

void segment_max_backward(ConstView dy, ConstView x, ConstView y, Offsets offsets, View dx,
                          bool accumulate) {
    each_segment(offsets, [&](std::int64_t s, std::int64_t begin, std::int64_t end) {
        if (!accumulate) zero_rows(dx, begin, end);
        for (std::int64_t j = 0; j < dx.cols; ++j) {
            std::int64_t i = begin;
            while (i < end && x.row(i)[j] != y.row(s)[j]) ++i;
            if (i < end) dx.row(i)[j] += dy.row(s)[j];
        }
    });
}

void segment_end(ConstView x, Offsets offsets, End end, View y) {
    each_segment(offsets, [&](std::int64_t s, std::int64_t begin, std::int64_t past) {
        if (begin == past) return std::fill_n(y.row(s), y.cols, 0.0f), void();
        std::memcpy(y.row(s), x.row(row_at(end, begin, past)),
                    static_cast<std::size_t>(y.cols) * sizeof(float));
    });
}

void segment_end_backward(ConstView dy, Offsets offsets, End end, View dx, bool accumulate) {
    each_segment(offsets, [&](std::int64_t s, std::int64_t begin, std::int64_t past) {
        if (!accumulate) zero_rows(dx, begin, past);
        if (begin == past) return;
        float* to = dx.row(row_at(end, begin, past));
        for (std::int64_t j = 0; j < dx.cols; ++j) to[j] += dy.row(s)[j];
    });
}

}  // namespace fovea::kernels
