#pragma once
// The element types of safetensors files, in the order of their alignment: writers put the widest
// first, so that every tensor is aligned. Thread-safety: pure functions, safe from any thread.
#include <cstdint>
#include <string_view>

namespace fovea {

enum class DType : std::uint8_t {
    BOOL,
    F4,
    F6_E2M3,
    F6_E3M2,
    U8,
    I8,
    F8_E5M2,
    F8_E4M3,
    F8_E8M0,
    F8_E4M3FNUZ,
    F8_E5M2FNUZ,
    I16,
    U16,
    F16,
    BF16,
    I32,
    U32,
    F32,
    C64,
    F64,
    I64,
    U64
};

const char* name_of(DType t);
int bits_of(DType t);
bool parse_dtype(std::string_view name, DType& t);  // false: no such type

// Values as f32. Integers beyond 2^24 and doubles are rounded to the nearest; a double too large
// for f32 becomes an infinity. Returns false where the type cannot be read this way (C64, F8, F6,
// F4).
bool can_convert_to_f32(DType t);
void convert_to_f32(DType t, const void* from, std::int64_t count, float* to);

float f16_to_f32(std::uint16_t h);
float bf16_to_f32(std::uint16_t b);
std::uint16_t f32_to_f16(float x);   // to nearest, ties to even
std::uint16_t f32_to_bf16(float x);  // to nearest, ties to even; denormals are kept

}  // namespace fovea
