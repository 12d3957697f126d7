#pragma once
// Pairs of columns rotated by the angle of their row's position (rotary position embedding).
#include <cstdint>
#include <span>

#include "fovea/base/view.h"

namespace fovea::kernels {

enum class Turn { forward, back };  // back: by the opposite angles, the transpose

// x and y [rows, heads·dk]; table [positions, dk]: sin and cos of pair i in columns 2i and 2i+1;
// positions [rows], all within the table (checked by the caller). y may be x; add: y += instead.
void rotary(ConstView x, std::int64_t dk, ConstView table, std::span<const std::int32_t> positions,
            Turn turn, View y, bool add);

}  // namespace fovea::kernels
