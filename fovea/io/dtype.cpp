#include "fovea/io/dtype.h"

#include <bit>
#include <cstring>

#include "fovea/base/error.h"

namespace fovea {
namespace {

struct Entry {
    const char* name;
    int bits;
};
constexpr Entry entries[] = {{"BOOL", 8},    {"F4", 4},          {"F6_E2M3", 6},     {"F6_E3M2", 6},
                             {"U8", 8},      {"I8", 8},          {"F8_E5M2", 8},     {"F8_E4M3", 8},
                             {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
                             {"U16", 16},    {"F16", 16},        {"BF16", 16},       {"I32", 32},
                             {"U32", 32},    {"F32", 32},        {"C64", 64},        {"F64", 64},
                             {"I64", 64},    {"U64", 64}};

// Elements may lie at any address in the buffer.
template <class T, class Convert>
void convert_each(const void* from, std::int64_t count, float* to, Convert convert) {
    const char* at = static_cast<const char*>(from);
    for (std::int64_t i = 0; i < count; ++i, at += sizeof(T)) {
        T value;
        std::memcpy(&value, at, sizeof value);
        to[i] = convert(value);
    }
}

template <class T>
void convert_plain(const void* from, std::int64_t count, float* to) {
    convert_each<T>(from, count, to, [](T value) { return static_cast<float>(value); });
}

}  // namespace

const char* name_of(DType t) { return entries[static_cast<std::size_t>(t)].name; }
int bits_of(DType t) { return entries[static_cast<std::size_t>(t)].bits; }

bool parse_dtype(std::string_view name, DType& t) {
    for (std::size_t i = 0; i < std::size(entries); ++i)
        if (name == entries[i].name) {
            t = static_cast<DType>(i);
            return true;
        }
    return false;
}

bool can_convert_to_f32(DType t) {
    switch (t) {
        case DType::BOOL:
        case DType::U8:
        case DType::I8:
        case DType::I16:
        case DType::U16:
        case DType::F16:
        case DType::BF16:
        case DType::I32:
        case DType::U32:
        case DType::F32:
        case DType::F64:
        case DType::I64:
        case DType::U64:
            return true;
        default:
            return false;
    }
}

void convert_to_f32(DType t, const void* from, std::int64_t n, float* to) {
    switch (t) {
        case DType::BOOL:
            return convert_each<std::uint8_t>(from, n, to,
                                              [](std::uint8_t b) { return b ? 1.0f : 0.0f; });
        case DType::U8:
            return convert_plain<std::uint8_t>(from, n, to);
        case DType::I8:
            return convert_plain<std::int8_t>(from, n, to);
        case DType::I16:
            return convert_plain<std::int16_t>(from, n, to);
        case DType::U16:
            return convert_plain<std::uint16_t>(from, n, to);
        case DType::F16:
            return convert_each<std::uint16_t>(from, n, to, f16_to_f32);
        case DType::BF16:
            return convert_each<std::uint16_t>(from, n, to, bf16_to_f32);
        case DType::I32:
            return convert_plain<std::int32_t>(from, n, to);
        case DType::U32:
            return convert_plain<std::uint32_t>(from, n, to);
        case DType::F32:
            if (n > 0) std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(float));
            return;
        case DType::F64:
            return convert_plain<double>(from, n, to);
        case DType::I64:
            return convert_plain<std::int64_t>(from, n, to);
        case DType::U64:
            return convert_plain<std::uint64_t>(from, n, to);
        default:
            fail("safetensors: ", name_of(t), " cannot be read as f32");
    }
}

float bf16_to_f32(std::uint16_t b) { return std::bit_cast<float>(std::uint32_t{b} << 16); }

std::uint16_t f32_to_bf16(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u)  // NaN: keep it one
        return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
    return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float f16_to_f32(std::uint16_t h) {
    const std::uint32_t sign = std::uint32_t{h & 0x8000u} << 16;
    const std::uint32_t exponent = (h >> 10) & 31u;
    const std::uint32_t fraction = h & 0x3ffu;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
    if (exponent != 0)
        return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
    const float small = static_cast<float>(fraction) * 0x1p-24f;  // zero or a denormal: exact
    return sign ? -small : small;
}

std::uint16_t f32_to_f16(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
    if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // >= 65536
    const auto rounded = [](std::uint32_t value, int shift) {  // to nearest, ties to even
        const std::uint32_t half = 1u << (shift - 1), odd = (value >> shift) & 1u;
        return (value + half - 1 + odd) >> shift;
    };
    if (magnitude >= 0x38800000u)  // normal; a carry may run into the exponent, up to infinity
        return static_cast<std::uint16_t>(sign | (rounded(magnitude, 13) - (112u << 10)));
    const int exponent = static_cast<int>(magnitude >> 23);
    if (exponent < 102) return sign;  // below half of the smallest denormal
    return static_cast<std::uint16_t>(sign |
                                      rounded((magnitude & 0x7fffffu) | 0x800000u, 126 - exponent));
}

}  // namespace fovea
