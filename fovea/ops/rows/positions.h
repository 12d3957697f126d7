#pragma once
// Where a row stands in its sequence. These are the ops that know sequences before attention does:
// their results carry row names (sample, row), which later ops hand on, so that dropout masks do
// not depend on the batch.
#include <span>
#include <vector>

#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

enum class SinusoidForm {
    paper,   // Vaswani et al. 2017, §3.5: sin in even, cos in odd columns, 10000^(−2i/d)
    halves,  // the same frequencies; all sines, then all cosines (Marian)
    spread,  // halves, with frequencies 10000^(−i/(d/2−1)) (tensor2tensor, fairseq, Whisper)
};

struct Positions {
    std::int64_t offset = 0;            // position of each sequence's first row …
    std::vector<std::int64_t> first{};  // … and for each sequence on its own (cached decoding)
};

// The position of every packed row: offset + first[sequence] + row in the sequence.
Ids position_ids(const Segments& segments, const Positions& at = {});

// [total, d] of sines and cosines, rows named.
Tensor sinusoid(const Segments& segments, std::int64_t d, SinusoidForm form = SinusoidForm::paper,
                const Positions& at = {});

// Rows of a learned table [positions, d], named.
Tensor learned_positions(const Tensor& table, const Segments& segments, const Positions& at = {});

// Su et al. 2021 (RoFormer), eq. 34: columns 2i and 2i+1 of every head, as a point in the plane,
// are rotated by position · 10000^(−2i/dk). x [total, heads·dk] are queries or keys; rotated so,
// their products depend on the difference of positions alone. dk must be even.
Tensor rotary(const Tensor& x, int heads, const Segments& segments, const Positions& at = {});

}  // namespace fovea
