#pragma once
// How good a model's texts are: the figures of an evaluation, and the one that chooses between
// models.
// Thread-safety: plain functions over models that do not change; several threads may call them.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/data/pairs.h"
#include "fovea/infer/search_options.h"
#include "fovea/metrics/bleu.h"
#include "fovea/tasks/seq2seq_model.h"
#include "fovea/tasks/translate.h"

namespace fovea {

// automatic: rouge for summaries; bleu for translations where it can tell models apart, else chrf.
enum class TextMetric { automatic, bleu, chrf, rouge, exact, loss };
const char* name_of(TextMetric metric);  // auto, bleu, …: as --metric takes it
TextMetric text_metric_of(const std::string& name);

References references_of(const TextPair& pair);  // its target, and what else the data has

struct FittingMetric {
    TextMetric metric;
    std::string why;  // for people, where it is not the task's usual one
};
FittingMetric fitting_metric(const std::string& task, std::span<const References> references);

// The metric of a task over given pairs, decoded with the options, with signature.
struct Seq2SeqScore {
    std::string name, signature;
    double value = 0;
    Json figures = Json::object();     // all metrics
    std::vector<std::string> outputs;  // in the order of the pairs
    double seconds = 0;
    std::int64_t tokens = 0;  // produced
};
Seq2SeqScore evaluate_pairs(std::span<const Seq2SeqModel* const> models,
                            std::span<const TextPair> pairs, const TranslateOptions& options,
                            TextMetric metric = TextMetric::automatic);

}  // namespace fovea
