#include "fovea/cli/required_bound.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"

namespace fovea {

RequiredBound required_bound(const std::string& verb, const std::string& text,
                             const std::vector<std::string>& names) {
    const char* const form = "write NAME=VALUE, e.g. --require bleu=30";
    const auto wrong = [&](const std::string& hint, const std::string& what) {
        throw Error(fmt::format("{}: --require {}{}", verb, text, what), ErrorKind::usage, hint);
    };
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size()) wrong(form, " has no value");
    char* end = nullptr;
    const RequiredBound bound{text.substr(0, equals), std::strtod(text.c_str() + equals + 1, &end)};
    if (*end != '\0' || !std::isfinite(bound.value)) wrong(form, ": the value is no number");
    std::string known;
    for (const std::string& n : names) known += (known.empty() ? "" : ", ") + n;
    if (std::find(names.begin(), names.end(), bound.name) == names.end())
        wrong("measured are " + known, ": \"" + bound.name + "\" is not measured");
    return bound;
}

void expect_reached(const std::string& verb, const RequiredBound& bound, double value) {
    const bool lower_is_better =
        bound.name == "loss" || bound.name == "perplexity" || bound.name == "bits_per_byte";
    if (lower_is_better ? value <= bound.value : value >= bound.value) return;
    throw Error(fmt::format("{}: {} is {:.2f}, {} the required {:.2f}", verb, bound.name, value,
                            lower_is_better ? "above" : "below", bound.value),
                ErrorKind::missed);
}

}  // namespace fovea
