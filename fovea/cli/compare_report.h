#pragma once
// What `fovea compare` measured, as a table for people (Markdown), for programs (JSON) and as one
// self-contained page with learning curves and attention maps. Thread-safety: plain values.
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/json.h"

namespace fovea {

struct ComparedModel {
    std::string name;
    // One object a seed: seed, score, parameters, updates, train_seconds, tokens_per_second,
    // processor_seconds, memory, records_per_second, test_tokens_per_second, latency_ms, figures,
    // also_test {file: score}, by_length {name: score}, parts [score], noisy, curve [[step, dev
    // score]].
    std::vector<Json> runs;
    std::string maps;  // of the page: pictures of its attention, as SVG
};

struct Comparison {
    std::string task, test, metric, dev_metric;
    std::vector<std::string> also_test;  // names of further test files
    std::vector<std::string> columns;    // further figures of the evaluation
    bool higher_is_better = true;
    Json settings = Json::object();  // that all models share
    std::vector<ComparedModel> models;

    std::string markdown() const;
    std::string json() const;
    std::string html() const;
};

// Mean and half the width of a 95 % interval: over the seeds (Student's t) where there are several;
// for one run from disjoint parts of the test set, where it has some.
struct ScoreRange {
    double mean = 0;
    std::optional<double> half{};
    bool of_seeds = false;

    std::string text() const;  // "12.34 ± 0.56"
};
ScoreRange score_range(const ComparedModel& model);

}  // namespace fovea
