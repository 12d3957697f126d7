#pragma once
#include "fovea/tensor/tensor.h"

namespace fovea::test {

// [n, channels, height, width], as PyTorch has pictures, as rows.
inline Tensor rows_of_planes(const Tensor& planes) {
    const Shape& s = planes.shape();
    const std::int64_t channels = s[1], area = s[2] * s[3];
    Tensor rows({s[0] * area, channels});
    for (std::int64_t n = 0; n < s[0]; ++n)
        for (std::int64_t c = 0; c < channels; ++c)
            for (std::int64_t i = 0; i < area; ++i)
                rows.write()[(n * area + i) * channels + c] =
                    planes.data()[(n * channels + c) * area + i];
    return rows;
}

}  // namespace fovea::test
