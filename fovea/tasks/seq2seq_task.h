#pragma once
// Translation and summarisation behind the interface of tasks.
#include <memory>

#include "fovea/tasks/task.h"

namespace fovea {

std::unique_ptr<Trainer> make_translate_trainer();
std::unique_ptr<Trainer> make_summarise_trainer();
std::unique_ptr<Predictor> make_seq2seq_predictor();

}  // namespace fovea
