#include <cstdlib>

#include "fovea/base/files.h"
#include "fovea/base/threads.h"
#include "fovea/bench/child_program.h"
#include "fovea/bench/train.h"

namespace fovea::bench {

double largest_resident_size() {
    LineReader status("/proc/self/status");
    for (std::string line; status.next(line);)
        if (line.starts_with("VmHWM:")) return 1024 * std::strtod(line.c_str() + 6, nullptr);
    return 0;
}

double training_memory(const TrainBenchOptions& o, const std::string& preset,
                       const std::string& precision, int updates) {
    std::vector<std::string> words = {"bench",       "training-memory",
                                      "--preset",    preset,
                                      "--precision", precision,
                                      "--updates",   std::to_string(updates),
                                      "--threads",   std::to_string(thread_count()),
                                      "--seed",      std::to_string(o.seed)};
    if (o.batch_tokens > 0)
        words.insert(words.end(), {"--batch-tokens", std::to_string(o.batch_tokens)});
    if (o.vocabulary > 0) words.insert(words.end(), {"--vocab-size", std::to_string(o.vocabulary)});
    if (!o.data.empty()) words.insert(words.end(), {"--data", o.data});
    return std::strtod(output_of_fovea(words).c_str(), nullptr);
}

}  // namespace fovea::bench
