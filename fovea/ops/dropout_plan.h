#pragma once
// For ops that have dropout inside.
#include <optional>

#include "fovea/kernels/dropout.h"
#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// What the mask of one call is made from. A small value for the backward lambda to keep, since the
// mask is computed again there.
struct DropoutPlan {
    Segments names;
    std::int64_t rows, cols;  // x seen as one named row each
    float p;
    std::uint64_t key;
    std::uint32_t site;

    kernels::DropoutMask mask() const;
};

// Nothing where no dropout is wanted (no tape, a tape without dropout, p = 0, nothing in x); takes
// a site of the tape otherwise. Names come from x, else from `other`; none is an error.
std::optional<DropoutPlan> plan_dropout(const char* op, const Tensor& x, float p,
                                        const Tensor* other = nullptr);

// The error of rows without names, for what draws at random: `x` of the call.
[[noreturn]] void fail_without_names(const char* op, const char* x, const Tensor& of);

}  // namespace fovea
