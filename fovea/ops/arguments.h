#pragma once
// What every op checks of its arguments first: that there is data, and that it is f32 (weights
// stored otherwise are for linear and gather_rows alone).
#include "fovea/tensor/tensor.h"

namespace fovea {

inline void expect_f32(const char* op, const char* name, const Tensor& x) {
    expect(!x.empty(), op, ": ", name, " is an empty tensor");
    expect(x.format() == Format::f32, op, ": ", name, " ", x.shape(), " is stored as ",
           name_of(x.format()), " but must be f32");
}

}  // namespace fovea
