#pragma once
// What `fovea score` found, and how it is shown.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/metrics/resampling.h"
#include "fovea/metrics/score.h"

namespace fovea {

struct ReportedScore {
    std::string key;
    MetricScore score;
    std::optional<Interval> interval;    // --confidence
    std::optional<PairedResult> paired;  // of a further system against the first
};

struct ScoredSystem {
    std::string file;
    std::vector<ReportedScore> scores;  // the same metrics in the same order for every system
};

struct ScoreReport {
    std::int64_t lines = 0, references = 0;
    std::string tokenizer;          // of BLEU; empty where it was not asked for
    bool tokenizer_fitted = false;  // chosen by the references, not by a flag
    bool looks_tokenized = false;   // BLEU is comparable only for text that is not
    std::string paired;             // "bootstrap", "randomization"; empty without further systems
    std::int64_t resamples = 0;     // of the intervals and the bootstrap test; 0: none made
    std::int64_t trials = 0;        // of the randomization test; 0: none made
    std::uint64_t seed = 0;
    std::vector<ScoredSystem> systems;  // the first is the baseline

    std::string text() const;
    Json json() const;
};

}  // namespace fovea
