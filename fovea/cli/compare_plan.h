#pragma once
// What a recipe of `fovea compare` asks for: settings of `fovea train` that all models share, what
// is the comparison's own, and the models with theirs. Thread-safety: plain values.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fovea/cli/train_verb.h"
#include "fovea/tasks/task.h"

namespace fovea {

using SettingValues = std::vector<std::pair<std::string, std::string>>;

// A row of the table.
struct PlannedModel {
    std::string name;
    SettingValues own;      // settings of training in which it differs
    SettingValues predict;  // of prediction (predict.beam = 5), over the shared ones
    std::int64_t seeds = 0;
    std::string trained{};  // the row whose runs it measures; "": it has its own
};

struct ComparePlan {
    const TaskEntry* task = nullptr;
    std::string test, figure;      // figure: of the evaluation; "": the task's own metric
    std::vector<std::string> map;  // parts of the names of attentions that are drawn; none: all
    std::vector<std::string> also_test;  // further files, whose scores stand beside that of `test`
    std::vector<std::string> columns;    // further figures of the evaluation of `test`
    std::int64_t seeds = 1;
    std::vector<std::string> inputs;  // whose attention is drawn
    SettingValues shared, predict;
    std::vector<PlannedModel> models;

    const PlannedModel& model(const std::string& name) const;
    // A training run of one of the models: what all share, then its own.
    std::unique_ptr<TrainVerb> verb_of(const PlannedModel& model) const;
    // What makes its weights, and what is measured of them and how: two runs that say the same of
    // both have the same figures.
    Json training_of(const PlannedModel& model) const;
    Json measuring_of(const PlannedModel& model) const;
};

// Wrong recipes, and wrong settings of any model, are told here, before the first run.
ComparePlan read_compare_plan(const std::string& path);

// A predictor of the task with settings of its own; the caller opens it.
std::unique_ptr<Predictor> predictor_with(const TaskEntry& task, const ComparePlan& plan,
                                          const PlannedModel& model);

}  // namespace fovea
