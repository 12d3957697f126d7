#pragma once
// bfloat16: the upper half of an f32. The conversion is vcvtneps2bf16's, bit for bit: nearest even,
// denormals become zeros of their sign, NaNs become quiet. Plain C++ for tables, tests and tails;
// vectors have their own in the kernels.
#include <bit>
#include <cstdint>

namespace fovea::kernels {

using Bf16 = std::uint16_t;

inline constexpr Bf16 to_bf16(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<Bf16>((bits >> 16) | 0x40u);
    if (magnitude < 0x00800000u) return static_cast<Bf16>((bits >> 16) & 0x8000u);
    return static_cast<Bf16>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

inline constexpr float from_bf16(Bf16 x) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16);
}

inline constexpr float round_to_bf16(float x) { return from_bf16(to_bf16(x)); }

}  // namespace fovea::kernels
