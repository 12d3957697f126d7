#pragma once
// The rows of packed sequences by step of time: those of step 0 of all sequences (the longest
// first), then of step 1 of the sequences that have one, …  The sequences alive at a step are the
// first ones of the step before, so that states are cut and never moved.
// Thread-safety: plain values; reading one from several threads is safe.
#include <cstdint>
#include <vector>

#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct ByStep {
    explicit ByStep(const Segments& packed, bool backwards = false);  // from each one's last row

    std::vector<std::int64_t> sequences;  // longest first
    std::vector<std::int64_t> alive;      // at each step
    Ids rows, back;                       // packed row of each; and where each packed row is
};

Tensor first_rows(const Tensor& x, std::int64_t n);  // of a state, for those still alive

}  // namespace fovea
