#pragma once
// Feature files of CMU Sphinx (.mfc): an int32, the number of floats behind it, then f32 values,
// `width` for each frame; all of one byte order, which shows in the count.
// Thread-safety: calls for different files may run at once.
#include <string>
#include <string_view>

#include "fovea/tensor/tensor.h"

namespace fovea {

inline constexpr int mfc_width = 13;  // coefficients of a frame, as Sphinx makes them

// [frames, width]; at most 60,000 frames (ten minutes at 100 a second).
Tensor read_mfc(const std::string& path, int width = mfc_width);
Tensor parse_mfc(std::string_view bytes, const std::string& where, int width = mfc_width);

}  // namespace fovea
