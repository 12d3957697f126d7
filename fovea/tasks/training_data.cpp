#include "fovea/tasks/training_data.h"

#include <fmt/core.h>

namespace fovea {

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace fovea
