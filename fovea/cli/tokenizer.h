#pragma once
// fovea tokenizer train|encode|decode|inspect
#include <CLI/CLI.hpp>

namespace fovea {

void add_tokenizer_command(CLI::App& app);
void add_tokenizer_train_command(CLI::App& tokenizer);  // tokenizer_train.cpp

}  // namespace fovea
