#pragma once
// What a trainer tells while it works. Called from the thread that called the trainer, a few times
// a second at most where the work is large; throwing from it stops the training.
#include <cstdint>
#include <functional>
#include <string_view>

namespace fovea {

struct TrainProgress {
    std::string_view stage;  // "reading", "merging", ...
    std::int64_t done = 0;
    std::int64_t total = 0;  // 0: not known
    std::string_view unit;   // "lines", "merges", ...
};
using TrainProgressCallback = std::function<void(const TrainProgress&)>;

}  // namespace fovea
