#pragma once
// Which model (or ensemble) a verb uses, how its weights are kept, and what may be asked of it: the
// settings of the task's Predictor as flags.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "fovea/tasks/task.h"

namespace fovea {

class ModelFlags {
public:
    // `task` may be "": then the model says what it is for when it is opened, and there are no
    // flags of a task.
    ModelFlags(CLI::App& verb, const std::string& task);

    // The opened model; one of another task is refused with the verb that fits.
    const Predictor& open();
    std::vector<InputFile> input_files() const {
        return predictor_ ? predictor_->input_files() : std::vector<InputFile>();
    }
    // What is known of the task before a model is opened; null where that is nothing.
    const Predictor* predictor() const { return predictor_.get(); }
    const std::string& task() const { return task_; }
    const std::string& folder() const { return folder_; }
    const std::string& precision() const { return precision_; }

private:
    std::string task_, folder_, precision_ = "f32";
    std::vector<std::string> others_;
    std::unique_ptr<Predictor> predictor_;
    Settings settings_;
};

}  // namespace fovea
