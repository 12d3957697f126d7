#include "fovea/kernels/max_pool2d.h"

#include <algorithm>
#include <limits>

#include "fovea/base/threads.h"
#include "fovea/kernels/elementwise.h"

namespace fovea::kernels {
namespace {

// Taps [first, past) of a window that begins at `start` (maybe before 0) and lie in [0, length).
struct TapRange {
    std::int64_t first, past;
    TapRange(std::int64_t start, std::int64_t size, std::int64_t length)
        : first(std::max<std::int64_t>(0, -start)), past(std::min(size, length - start)) {}
};

// Outputs [first, past) whose windows hold the input at `place`.
struct OutputRange {
    std::int64_t first, past;
    OutputRange(std::int64_t place, const Window& w, std::int64_t outputs) {
        const std::int64_t at = place + w.padding;
        first = at < w.size ? 0 : (at - w.size) / w.stride + 1;
        past = std::min(outputs, at / w.stride + 1);
    }
};

// One tap of a window: larger values, and values that are no numbers, replace what is there.
void take_larger(const float* x, std::int64_t n, std::uint8_t tap, float* y, std::uint8_t* chosen) {
    for (std::int64_t c = 0; c < n; ++c) {
        const bool larger = x[c] > y[c] || x[c] != x[c];
        y[c] = larger ? x[c] : y[c];
        chosen[c] = larger ? tap : chosen[c];
    }
}

void add_chosen(const float* dy, const std::uint8_t* chosen, std::uint8_t tap, std::int64_t n,
                float* dx) {
    for (std::int64_t c = 0; c < n; ++c) dx[c] += chosen[c] == tap ? dy[c] : 0.0f;
}

}  // namespace

void max_pool2d(ConstView x, const GridWindows& s, View y, std::uint8_t* chosen) {
    const std::int64_t high = s.out_height(), wide = s.out_width(), n = x.cols;
    parallel_for(y.rows, rows_per_piece(n * s.taps()), [&](std::int64_t row, std::int64_t past) {
        for (; row < past; ++row) {
            const std::int64_t line = row / wide, i = line % high, j = row % wide;
            const std::int64_t top = i * s.vertical.stride - s.vertical.padding,
                               left = j * s.horizontal.stride - s.horizontal.padding;
            const TapRange down(top, s.vertical.size, s.in.height),
                across(left, s.horizontal.size, s.in.width);
            std::fill_n(y.row(row), n, -std::numeric_limits<float>::infinity());
            const std::int64_t first = down.first * s.horizontal.size + across.first;
            std::fill_n(chosen + row * n, n, static_cast<std::uint8_t>(first));
            for (std::int64_t r = down.first; r < down.past; ++r)
                for (std::int64_t c = across.first; c < across.past; ++c)
                    take_larger(
                        x.row((line / high * s.in.height + top + r) * s.in.width + left + c), n,
                        static_cast<std::uint8_t>(r * s.horizontal.size + c), y.row(row),
                        chosen + row * n);
        }
    });
}

void max_pool2d_backward(ConstView dy, const GridWindows& s, const std::uint8_t* chosen, View dx,
                         bool add) {
    const std::int64_t high = s.out_height(), wide = s.out_width(), n = dx.cols;
    parallel_for(dx.rows, rows_per_piece(n * 4), [&](std::int64_t row, std::int64_t past) {
        for (; row < past; ++row) {
            if (!add) std::fill_n(dx.row(row), n, 0.0f);
            const std::int64_t line = row / s.in.width, y = line % s.in.height,
                               x = row % s.in.width, image = line / s.in.height;
            const OutputRange lines(y, s.vertical, high), places(x, s.horizontal, wide);
            for (std::int64_t i = lines.first; i < lines.past; ++i)
                for (std::int64_t j = places.first; j < places.past; ++j) {
                    const std::int64_t r = y + s.vertical.padding - i * s.vertical.stride,
                                       c = x + s.horizontal.padding - j * s.horizontal.stride,
                                       from = (image * high + i) * wide + j;
                    add_chosen(dy.row(from), chosen + from * n,
                               static_cast<std::uint8_t>(r * s.horizontal.size + c), n,
                               dx.row(row));
                }
        }
    });
}

}  // namespace fovea::kernels
