#pragma once
// How numbers of a weight are stored, and whether an operand is taken transposed.
#include <cstdint>

namespace fovea {

// int8 and int7 round both operands of a product to whole numbers: weights with a scale per output
// channel when they are stored, the other operand with a scale per row on the way. int7 keeps to
// ±63, which CPUs without 8-bit dot products (VNNI, AMX) multiply half as fast again.
enum class Format : std::uint8_t { f32, bf16, int8, int7 };
const char* name_of(Format format);

constexpr bool is_whole(Format format) { return format == Format::int8 || format == Format::int7; }
// The largest whole number; 1 where there is none.
constexpr float levels_of(Format format) {
    return format == Format::int8 ? 127.0f : format == Format::int7 ? 63.0f : 1.0f;
}

enum class Trans { no, yes };

}  // namespace fovea
