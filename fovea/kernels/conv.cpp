#include "fovea/kernels/conv.h"

#include <algorithm>
#include <cstring>

#include "fovea/base/threads.h"

namespace fovea::kernels {
namespace {

// The kernel positions [first, past) of output o that lie within n inputs.
struct Inside {
    std::int64_t first, past, origin;

    Inside(const Window& w, std::int64_t o, std::int64_t n) : origin(o * w.stride - w.padding) {
        first = std::clamp<std::int64_t>(-origin, 0, w.size);
        past = std::clamp<std::int64_t>(n - origin, first, w.size);
    }
};

template <class Body>
void each_sequence(std::span<const std::int64_t> in, std::span<const std::int64_t> out,
                   const Body& body) {
    parallel_for(static_cast<std::int64_t>(in.size()) - 1, 1, [&](std::int64_t s, std::int64_t) {
        const auto k = static_cast<std::size_t>(s);
        body(in[k], in[k + 1] - in[k], out[k], out[k + 1] - out[k]);
    });
}

}  // namespace

void sequence_windows(ConstView x, std::span<const std::int64_t> in, const Window& window,
                      std::span<const std::int64_t> out, View y) {
    each_sequence(in, out, [&](std::int64_t x0, std::int64_t n, std::int64_t y0, std::int64_t m) {
        for (std::int64_t o = 0; o < m; ++o) {
            const Inside inside(window, o, n);
            float* to = y.row(y0 + o);
            if (inside.first > 0 || inside.past < window.size) std::fill_n(to, y.cols, 0.0f);
            for (std::int64_t t = inside.first; t < inside.past; ++t) {
                const float* from = x.row(x0 + inside.origin + t);
                for (std::int64_t c = 0; c < x.cols; ++c) to[c * window.size + t] = from[c];
            }
        }
    });
}

void sequence_windows_backward(ConstView dy, std::span<const std::int64_t> in, const Window& window,
                               std::span<const std::int64_t> out, View dx, bool accumulate) {
    each_sequence(in, out, [&](std::int64_t x0, std::int64_t n, std::int64_t y0, std::int64_t m) {
        if (!accumulate)
            for (std::int64_t i = 0; i < n; ++i) std::fill_n(dx.row(x0 + i), dx.cols, 0.0f);
        for (std::int64_t o = 0; o < m; ++o) {
            const Inside inside(window, o, n);
            const float* from = dy.row(y0 + o);
            for (std::int64_t t = inside.first; t < inside.past; ++t) {
                float* to = dx.row(x0 + inside.origin + t);
                for (std::int64_t c = 0; c < dx.cols; ++c) to[c] += from[c * window.size + t];
            }
        }
    });
}

void image_windows(const float* x, const ImageWindows& s, View y) {
    const std::int64_t out_h = s.vertical.outputs(s.height), out_w = s.horizontal.outputs(s.width);
    const std::int64_t area = s.vertical.size * s.horizontal.size;
    parallel_for(s.images * out_h, 1, [&](std::int64_t line, std::int64_t) {
        const float* image = x + line / out_h * s.channels * s.height * s.width;
        const Inside rows(s.vertical, line % out_h, s.height);
        for (std::int64_t o = 0; o < out_w; ++o) {
            const Inside cols(s.horizontal, o, s.width);
            float* to = y.row(line * out_w + o);
            const bool whole = rows.first == 0 && rows.past == s.vertical.size && cols.first == 0 &&
                               cols.past == s.horizontal.size;
            if (!whole) std::fill_n(to, y.cols, 0.0f);
            for (std::int64_t c = 0; c < s.channels; ++c)
                for (std::int64_t r = rows.first; r < rows.past; ++r)
                    std::memcpy(to + c * area + r * s.horizontal.size + cols.first,
                                image + (c * s.height + rows.origin + r) * s.width + cols.origin +
                                    cols.first,
                                static_cast<std::size_t>(cols.past - cols.first) * sizeof(float));
        }
    });
}

void image_windows_backward(ConstView dy, const ImageWindows& s, float* dx, bool accumulate) {
    const std::int64_t out_h = s.vertical.outputs(s.height), out_w = s.horizontal.outputs(s.width);
    const std::int64_t area = s.vertical.size * s.horizontal.size, plane = s.height * s.width;
    parallel_for(s.images * s.channels, 1, [&](std::int64_t p, std::int64_t) {
        float* to = dx + p * plane;
        if (!accumulate) std::fill_n(to, plane, 0.0f);
        const std::int64_t image = p / s.channels, c = p % s.channels;
        for (std::int64_t line = 0; line < out_h; ++line) {
            const Inside rows(s.vertical, line, s.height);
            for (std::int64_t o = 0; o < out_w; ++o) {
                const Inside cols(s.horizontal, o, s.width);
                const float* from = dy.row((image * out_h + line) * out_w + o) + c * area;
                for (std::int64_t r = rows.first; r < rows.past; ++r)
                    for (std::int64_t k = cols.first; k < cols.past; ++k)
                        to[(rows.origin + r) * s.width + cols.origin + k] +=
                            from[r * s.horizontal.size + k];
            }
        }
    });
}

}  // namespace fovea::kernels
