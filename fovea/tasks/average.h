#pragma once
#include <string>
#include <vector>

namespace fovea {

// The mean of the last checkpoints of a run as a model folder (config and tokenizer are those of
// RUN/model). Returns the checkpoints' names, oldest first. Not thread-safe for one `out`.
std::vector<std::string> average_checkpoints(const std::string& run, int last,
                                             const std::string& out, bool overwrite);

}  // namespace fovea
