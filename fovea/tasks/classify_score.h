#pragma once
// What a report of a classifier shows. Thread-safety: pure functions.
#include <span>
#include <string>

#include "fovea/base/json.h"
#include "fovea/tasks/classify.h"

namespace fovea {

// The confusion matrix of a score's figures as lines of text: all of a small one, the most frequent
// mistakes of a large one.
std::string confusion_table(const Json& figures);

// Accuracy, F1, calibration and mean loss of answers with one label each, whatever was classified.
// `labels`: of the model, in the order of its probabilities.
MetricScore score_of_one_label(std::span<const std::string> labels,
                               std::span<const TextLabel> answers,
                               std::span<const LabelledText> records);

}  // namespace fovea
