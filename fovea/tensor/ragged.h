#pragma once
// Rows of different lengths laid end to end: pointer scores, attention maps.
#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct Ragged {
    Tensor values;      // [total]
    Segments segments;  // one segment a row

    std::int64_t rows() const { return segments.count(); }
    std::span<const float> row(std::int64_t i) const {
        return values.span().subspan(static_cast<std::size_t>(segments.begin(i)),
                                     static_cast<std::size_t>(segments.length(i)));
    }
};

}  // namespace fovea
