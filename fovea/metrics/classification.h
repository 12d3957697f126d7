#pragma once
// Scores of predicted labels: accuracy, F1 (micro and macro), confusion matrix, as scikit-learn
// defines them: the labels are those that occur on either side, in order of their bytes, and a
// share of nothing is 0. One label for each text, or several. Thread-safety: pure functions and
// plain values, safe from any thread.
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

// Any number of labels for each text, each of which is right or wrong by itself.
struct MultiLabelScore {
    double accuracy = 0;  // texts of which every label is right, and none is missing
    LabelScore micro, macro;
    std::vector<std::string> names;  // sorted
    std::vector<LabelScore> labels;  // in the order of the names

    MetricScore score() const;  // in percent: micro F1 first
};

using LabelSet = std::vector<std::string>;  // in any order; one that stands twice counts once
MultiLabelScore multi_label_score(std::span<const LabelSet> predicted,
                                  std::span<const LabelSet> wanted);

// Expected calibration error (Guo et al. 2017, eq. 3): how far the probabilities of answers are
// from the share of them that is right, over bins of equal width; 0 … 1. A probability at the edge
// of two bins belongs to the lower one, as in scikit-learn's calibration_curve.
double calibration_error(std::span<const double> probabilities, const std::vector<bool>& right,
                         int bins = 10);

// The threshold at which one label's F1 is highest: halfway between two of the probabilities, the
// lowest one of equals; 0.5 where the label is never wanted.
double best_threshold(std::span<const double> probabilities, const std::vector<bool>& wanted);

}  // namespace fovea
