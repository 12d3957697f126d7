#pragma once
// Scores of predicted labels: accuracy, F1 (micro and macro), confusion matrix, as scikit-learn
// defines them: the labels are those that occur on either side, in order of their bytes, and a
// share of nothing is 0. Thread-safety: pure functions and plain values, safe from any thread.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/metrics/score.h"

namespace fovea {

struct ConfusionMatrix {
    std::vector<std::string> labels;   // sorted
    std::vector<std::int64_t> counts;  // [labels, labels]: row = wanted, column = predicted

    std::int64_t at(std::size_t wanted, std::size_t predicted) const {
        return counts[wanted * labels.size() + predicted];
    }
};

ConfusionMatrix confusion_matrix(std::span<const std::string> predicted,
                                 std::span<const std::string> wanted);

struct LabelScore {  // shares are 0 … 1
    double precision = 0, recall = 0, f1 = 0;
    std::int64_t support = 0;  // times wanted
};

struct ClassificationScore {
    double accuracy = 0;
    LabelScore micro;  // over all decisions; with one label each, F1 is the accuracy
    LabelScore macro;  // mean over labels, rare ones counting as much as frequent ones
    std::vector<LabelScore> labels;  // in the order of the matrix
    ConfusionMatrix confusion;

    // As a task reports it, in percent: accuracy first, the rest as figures.
    MetricScore score() const;
};

ClassificationScore classification_score(std::span<const std::string> predicted,
                                         std::span<const std::string> wanted);

}  // namespace fovea
