#pragma once
// Bounds of a flag's number, with messages a person can read.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <string>

namespace fovea {

// The value must be a finite number from `least` on (CLI11's own bounds print 309 digits).
inline CLI::Validator at_least(long long least) {
    return CLI::Validator(
        [least](const std::string& text) -> std::string {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            if (end == text.c_str() || *end != '\0') return {};  // the parser says it better
            if (std::isfinite(value) && value >= static_cast<double>(least)) return {};
            return text + " is too small: a number from " + std::to_string(least) + " on is wanted";
        },
        "", "");
}

}  // namespace fovea
