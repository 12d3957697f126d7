#pragma once
// Pretraining on plain text: `fovea train --task pretrain`. Its models answer under other tasks:
// masked ones fill, causal ones generate.
#include <memory>

#include "fovea/tasks/task.h"

namespace fovea {

std::unique_ptr<Trainer> make_pretrain_trainer();

}  // namespace fovea
