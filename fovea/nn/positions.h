#pragma once
// Where a token stands, as numbers added to its embedding. The codes the tutorials compare:
//   sinusoidal  Vaswani et al. 2017, §3.5:  PE(p, 2i) = sin(p / 10000^(2i/d)), PE(p, 2i+1) = cos(…)
//   halves      the same numbers, all sines first, then all cosines (the layout of Marian)
//   unit        p / (n - 1): from 0 to 1 over the sequence, so a step means less in a long one
//   linear      p itself: unbounded
// The learned code is a table of the model's (ops/positions.h); relative and rotary are no numbers
// added to an embedding but live in self-attention (self_attention.h).
// Thread-safety: pure functions, safe from any thread.
#include <cstdint>
#include <span>
#include <string>

#include "fovea/nn/init.h"
#include "fovea/ops/rows/positions.h"
#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

enum class PositionCode { none, sinusoidal, halves, unit, linear, learned, relative, rotary };

// Is it added to the embeddings?
inline bool is_added(PositionCode code) {
    return code != PositionCode::none && code != PositionCode::relative &&
           code != PositionCode::rotary;
}

const char* name_of(PositionCode code);
PositionCode position_code_of(const std::string& name);  // throws on an unknown name

// [total, width], rows named (none, learned, relative and rotary: an error). `lengths`, for `unit`
// alone: the n of each sequence; without it the segments' own.
Tensor position_code(const Segments& segments, int width, PositionCode code,
                     const Positions& at = {}, std::span<const std::int64_t> lengths = {});

// A table of positions that begins as sines of this form.
Init sines(SinusoidForm form);

}  // namespace fovea
