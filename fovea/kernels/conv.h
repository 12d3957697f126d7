#pragma once
// Convolutions as matrix products: each output position becomes a row that holds what its kernel
// sees (zeros outside), laid out as the weights are, [channel, (y,) x]. Backward adds the rows'
// gradients to where the values came from; every input value is summed by one thread, in order.
#include <cstdint>
#include <span>

#include "fovea/base/view.h"

namespace fovea::kernels {

// One dimension of a convolution: output o covers inputs o·stride − padding … + size − 1.
struct Window {
    std::int64_t size = 1, stride = 1, padding = 0;

    std::int64_t outputs(std::int64_t n) const {
        return n + 2 * padding < size ? 0 : (n + 2 * padding - size) / stride + 1;
    }
};

// Sequences of rows: x [total, channels], in = its offsets; y [total out, channels · size], out =
// its offsets. Padding is at the ends of each sequence; nothing crosses a border.
void sequence_windows(ConstView x, std::span<const std::int64_t> in, const Window& window,
                      std::span<const std::int64_t> out, View y);
void sequence_windows_backward(ConstView dy, std::span<const std::int64_t> in, const Window& window,
                               std::span<const std::int64_t> out, View dx, bool accumulate);

// Images: x [images, channels, height, width]; y [images · out_h · out_w, channels · h · w].
struct ImageWindows {
    std::int64_t images = 0, channels = 0, height = 0, width = 0;
    Window vertical, horizontal;
};
void image_windows(const float* x, const ImageWindows& shape, View y);
void image_windows_backward(ConstView dy, const ImageWindows& shape, float* dx, bool accumulate);

}  // namespace fovea::kernels
