#pragma once
// `fovea bench train|translate|infer|pretrain|scaling`: whole models beside their rivals.
#include <CLI/CLI.hpp>

namespace fovea {

void add_model_benches(CLI::App& bench);

}  // namespace fovea
