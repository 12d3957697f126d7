#include "fovea/kernels/conv2d.h"

#include <algorithm>
#include <cstring>

#include "fovea/base/threads.h"
#include "fovea/kernels/elementwise.h"

namespace fovea::kernels {
namespace {

// The kernel positions [first, past) of output o that lie within n inputs.
struct TapsInside {
    std::int64_t first, past, origin;

    TapsInside(const Window& w, std::int64_t o, std::int64_t n) : origin(o * w.stride - w.padding) {
        first = std::clamp<std::int64_t>(-origin, 0, w.size);
        past = std::clamp<std::int64_t>(n - origin, first, w.size);
    }
    bool whole(const Window& w) const { return first == 0 && past == w.size; }
};

void gather_line(ConstView x, const GridWindows& s, std::int64_t line, float* to) {
    const std::int64_t out_h = s.out_height(), out_w = s.out_width(), c = x.cols;
    const std::int64_t image = line / out_h * s.in.area(), run = s.horizontal.size * c;
    const TapsInside rows(s.vertical, line % out_h, s.in.height);
    for (std::int64_t o = 0; o < out_w; ++o, to += s.vertical.size * run) {
        const TapsInside cols(s.horizontal, o, s.in.width);
        if (!rows.whole(s.vertical) || !cols.whole(s.horizontal))
            std::fill_n(to, s.vertical.size * run, 0.0f);
        const auto bytes = static_cast<std::size_t>((cols.past - cols.first) * c) * sizeof(float);
        if (bytes == 0) continue;
        for (std::int64_t r = rows.first; r < rows.past; ++r)
            std::memcpy(to + r * run + cols.first * c,
                        x.row(image + (rows.origin + r) * s.in.width + cols.origin + cols.first),
                        bytes);
    }
}

// One line of one picture's dx, from the output lines of `lines` that saw it, in their order.
void scatter_line(ConstView windows, const GridWindows& s, LineRange lines, std::int64_t in_line,
                  View dx) {
    const std::int64_t out_h = s.out_height(), out_w = s.out_width(), c = dx.cols;
    const std::int64_t image = in_line / s.in.height, y = in_line % s.in.height;
    const std::int64_t run = s.horizontal.size * c;
    // outputs o with o·stride − padding <= y < o·stride − padding + size
    const std::int64_t low = y + s.vertical.padding - s.vertical.size + 1;
    const std::int64_t from = std::max(
        lines.first,
        image * out_h + (low <= 0 ? 0 : (low + s.vertical.stride - 1) / s.vertical.stride));
    const std::int64_t to =
        std::min({lines.past, (image + 1) * out_h,
                  image * out_h + (y + s.vertical.padding) / s.vertical.stride + 1});
    for (std::int64_t line = from; line < to; ++line) {
        const std::int64_t r =
            y - ((line - image * out_h) * s.vertical.stride - s.vertical.padding);
        for (std::int64_t o = 0; o < out_w; ++o) {
            const TapsInside cols(s.horizontal, o, s.in.width);
            const float* g = windows.row((line - lines.first) * out_w + o) + r * run;
            float* d = dx.row(in_line * s.in.width + cols.origin + cols.first);
            const std::int64_t n = (cols.past - cols.first) * c;
            g += cols.first * c;
            for (std::int64_t i = 0; i < n; ++i) d[i] += g[i];
        }
    }
}

}  // namespace

void grid_windows(ConstView x, const GridWindows& s, LineRange lines, View windows) {
    const std::int64_t out_w = s.out_width(), values = out_w * windows.cols;
    parallel_for(lines.past - lines.first, rows_per_piece(values),
                 [&](std::int64_t i, std::int64_t past) {
                     for (; i < past; ++i)
                         gather_line(x, s, lines.first + i, windows.row(i * out_w));
                 });
}

void add_grid_windows(ConstView windows, const GridWindows& s, LineRange lines, View dx) {
    if (lines.first >= lines.past) return;
    // The input lines that these outputs may have seen.
    const std::int64_t out_h = s.out_height();
    const auto input_line = [&](std::int64_t line, std::int64_t shift) {
        const std::int64_t y = line % out_h * s.vertical.stride - s.vertical.padding + shift;
        return line / out_h * s.in.height + std::clamp<std::int64_t>(y, 0, s.in.height - 1);
    };
    const std::int64_t first = input_line(lines.first, 0);
    const std::int64_t past = input_line(lines.past - 1, s.vertical.size - 1) + 1;
    parallel_for(past - first, rows_per_piece(s.in.width * dx.cols * s.vertical.size),
                 [&](std::int64_t i, std::int64_t end) {
                     for (; i < end; ++i) scatter_line(windows, s, lines, first + i, dx);
                 });
}

void taps_before_channels(ConstView w, std::int64_t taps, View to) {
    const std::int64_t channels = w.cols / taps;
    for (std::int64_t o = 0; o < w.rows; ++o)
        for (std::int64_t c = 0; c < channels; ++c)
            for (std::int64_t t = 0; t < taps; ++t)
                to.row(o)[t * channels + c] = w.row(o)[c * taps + t];
}

void channels_before_taps(ConstView w, std::int64_t taps, View to, bool add) {
    const std::int64_t channels = w.cols / taps;
    for (std::int64_t o = 0; o < w.rows; ++o)
        for (std::int64_t c = 0; c < channels; ++c)
            for (std::int64_t t = 0; t < taps; ++t) {
                float& d = to.row(o)[c * taps + t];
                d = (add ? d : 0.0f) + w.row(o)[t * channels + c];
            }
}

}  // namespace fovea::kernels
