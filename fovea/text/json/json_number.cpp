#include "fovea/text/json/json_number.h"

#include <charconv>
#include <cmath>
#include <cstdint>

namespace fovea::text {

double as_tokenizers_reads(double exact) {
    if (!std::isfinite(exact) || exact == 0) return exact;
    // The shortest digits that give `exact` back, as d.ddd…e±xx.
    char text[40];
    const auto end =
        std::to_chars(text, text + sizeof text, std::fabs(exact), std::chars_format::scientific)
            .ptr;
    std::uint64_t digits = 0;
    int exponent = 0;
    const char* p = text;
    for (bool fraction = false; p < end && *p != 'e'; ++p) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        digits = digits * 10 + static_cast<std::uint64_t>(*p - '0');  // at most 17 of them
        exponent -= fraction;
    }
    int written = 0;
    if (p + 1 < end) std::from_chars(p[1] == '+' ? p + 2 : p + 1, end, written);
    exponent += written;
    // Beyond 10^±22 a power of ten is no exact double, and the text has another form: leave it.
    constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (exponent < -22 || exponent > 22) return exact;
    const auto whole = static_cast<double>(digits);
    const double f = exponent < 0 ? whole / powers[-exponent] : whole * powers[exponent];
    return std::copysign(f, exact);
}

}  // namespace fovea::text
