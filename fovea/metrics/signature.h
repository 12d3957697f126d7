#pragma once
// The last field of every metric's signature: our own version, never that of the library whose
// numbers we agree with. Thread-safety: pure functions, safe from any thread.
#include <span>
#include <string>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {

inline constexpr const char* signature_version = "fovea:0.1.0";

// "3", or "var" where segments have different numbers of references. Refuses what cannot be scored.
inline std::string reference_count(std::size_t n_hypotheses,
                                   std::span<const std::vector<std::string>> references,
                                   const char* metric) {
    expect_input(n_hypotheses == references.size(), metric, ": ", n_hypotheses, " hypotheses but ",
                 references.size(), " references");
    expect_input(n_hypotheses > 0, metric, ": there is nothing to score");
    for (std::size_t i = 0; i < references.size(); ++i)
        expect_input(!references[i].empty(), metric, ": segment ", i + 1, " has no reference");
    for (const auto& r : references)
        if (r.size() != references[0].size()) return "var";
    return std::to_string(references[0].size());
}

}  // namespace fovea
