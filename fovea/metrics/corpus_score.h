#pragma once
// A corpus measured by one metric: its MetricScore, and the sums per segment from which confidence
// intervals and paired tests are made (resampling.h). Texts are tokenised and counted once.
// Several references per segment: BLEU takes matches from all of them and the closest length, chrF
// and ROUGE the best reference of each segment, exact match any.
// Thread-safety: pure functions, safe from any thread.
#include <span>
#include <string>
#include <vector>

#include "fovea/metrics/bleu.h"
#include "fovea/metrics/chrf.h"
#include "fovea/metrics/rouge.h"
#include "fovea/metrics/score.h"
#include "fovea/metrics/segment_sums.h"

namespace fovea {

struct CorpusScore {
    std::string key;  // for flags and JSON: "bleu", "chrf2", "chrf2++", "rougeL", "exact_match"
    MetricScore score;
    SegmentSums sums;
};

CorpusScore measure_bleu(std::span<const std::string> hypotheses,
                         std::span<const References> references, const BleuOptions& options = {});
CorpusScore measure_chrf(std::span<const std::string> hypotheses,
                         std::span<const References> references, const ChrfOptions& options = {});
// ROUGE-1, ROUGE-2, ROUGE-L and ROUGE-Lsum: mean F1 in percent.
std::vector<CorpusScore> measure_rouge(std::span<const std::string> hypotheses,
                                       std::span<const References> references,
                                       const RougeOptions& options = {});
CorpusScore measure_exact_match(std::span<const std::string> hypotheses,
                                std::span<const References> references);

}  // namespace fovea
