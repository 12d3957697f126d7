#pragma once
// Convolutions, as windows laid out in rows and one linear (so weights are packed, stored in bf16
// or int8, and multiplied as everywhere). Weights are PyTorch's: [out, in, k] and [out, in, h, w].
#include "fovea/base/act.h"
#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct Conv1dOptions {
    std::int64_t stride = 1;
    std::int64_t padding = 0;  // zeros at both ends of every sequence
    Act act = Act::none;
};

// The sequences a 1-D convolution makes of others: lengths ⌊(n + 2 padding − k) / stride⌋ + 1, or
// 0.
Segments conv1d_segments(const Segments& segments, std::int64_t k, const Conv1dOptions& o = {});

// x [total, in] with its segments, w [out, in, k] -> [conv1d_segments total, out], rows named.
// Sequences do not see each other.
Tensor conv1d(const Tensor& x, const Segments& segments, const Tensor& w, const Tensor& b,
              const Conv1dOptions& options = {});

struct Conv2dOptions {
    std::int64_t stride = 1;
    std::int64_t padding = 0;
    Act act = Act::none;
};

// images [n, in, height, width], w [out, in, h, w] -> one row per output position, image by image,
// line by line: [n · out_h · out_w, out]. A ViT's patch embedding is stride = h = w.
Tensor conv2d(const Tensor& images, const Tensor& w, const Tensor& b,
              const Conv2dOptions& options = {});

}  // namespace fovea
