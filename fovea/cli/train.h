#pragma once
#include <CLI/CLI.hpp>

#include "fovea/cli/task_words.h"

namespace fovea {

// Its flags are those of `task` over the settings of every run; a guess is told.
void add_train_command(CLI::App& app, const TaskOfWords& task);

}  // namespace fovea
