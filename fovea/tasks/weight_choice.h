#pragma once
// How a loaded model computes: one word of a user (f32, bf16, int8, int7) for the format its
// matrices are kept in and the precision of its products. Thread-safety: plain values.
#include <string>
#include <vector>

#include "fovea/base/precision.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct WeightChoice {
    Format format = Format::f32;
    Precision precision = Precision::f32;

    static WeightChoice named(const std::string& name);  // an unknown name is a usage error
    static std::vector<std::string> names() { return {"f32", "bf16", "int8", "int7"}; }
};

}  // namespace fovea
