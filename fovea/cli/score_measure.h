#pragma once
// The work behind `fovea score`: files of lines in, a report out.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "fovea/cli/score_report.h"

namespace fovea {

struct ScoreRequest {
    std::string hypotheses;               // a file of lines, '-' is standard input
    std::vector<std::string> references;  // at least one
    std::vector<std::string> systems;     // further hypotheses, each compared with the first
    std::vector<std::string> metrics;     // of bleu, chrf, chrf++, rouge, exact
    std::string tokenize = "auto";        // of BLEU
    std::string paired;                   // "bootstrap" or "randomization"; empty without systems
    bool confidence = false, lowercase = false, stem = false;
    std::int64_t resamples = 1000;  // of intervals and bootstrap
    std::int64_t trials = 10000;    // of randomization
    std::uint64_t seed = 12345;

    bool measures(const char* metric) const {
        return std::find(metrics.begin(), metrics.end(), metric) != metrics.end();
    }
};

ScoreReport measure_files(const ScoreRequest& request);

}  // namespace fovea
