#pragma once
// What any metric hands on: to a task's evaluation, a log, a table, a JSON answer.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <string>

#include "fovea/base/json.h"

namespace fovea {

// (fovea::Score is how attention compares a query with a key.)
struct MetricScore {
    std::string name;  // for people: "BLEU", "chrF2", "ROUGE-L", "accuracy"
    double value = 0;  // shares are in percent, 0 … 100
    bool higher_is_better = true;
    std::string signature;          // all that must be equal for two values to be comparable
    Json figures = Json::object();  // what else was measured, by name
};

inline Json json_of(const MetricScore& s) {
    return {{"name", s.name},
            {"value", s.value},
            {"higher_is_better", s.higher_is_better},
            {"signature", s.signature},
            {"figures", s.figures}};
}

}  // namespace fovea
