#pragma once
// Sizes are checked before anything is allocated: a product that overflows is an error, not a
// small number.
#include <cstddef>
#include <cstdint>

#include "fovea/base/error.h"

namespace fovea {

inline std::int64_t checked_mul(std::int64_t a, std::int64_t b, const char* what = "size") {
    std::int64_t r = 0;
    expect(a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, &r), what, ": ", a, " x ", b,
           " does not fit");
    return r;
}

inline std::int64_t checked_add(std::int64_t a, std::int64_t b, const char* what = "size") {
    std::int64_t r = 0;
    expect(a >= 0 && b >= 0 && !__builtin_add_overflow(a, b, &r), what, ": ", a, " + ", b,
           " does not fit");
    return r;
}

inline constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
inline constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) {
    return ceil_div(a, b) * b;
}

}  // namespace fovea
