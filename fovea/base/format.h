#pragma once
// How numbers of a weight are stored, and whether an operand is taken transposed.
#include <cstdint>

namespace fovea {

enum class Format : std::uint8_t { f32, bf16, int8 };
const char* name_of(Format format);

enum class Trans { no, yes };

}  // namespace fovea
