#pragma once
// This very program as a child process, for what only a fresh process can tell (memory, start-up).
#include <string>
#include <vector>

namespace fovea::bench {

// What `fovea WORDS…` writes to its standard output; throws where it ends with an error.
std::string output_of_fovea(std::vector<std::string> words);

}  // namespace fovea::bench
