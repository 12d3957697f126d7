#pragma once
// The promise of same bits, shown on the machine at hand: a small Transformer is trained, searched
// and resumed under one thread and many, at every instruction level, in batches and alone, cached
// and in full. One hash stands for all results: two people with different CPUs can compare it.
#include <functional>
#include <string>
#include <vector>

namespace fovea::bench {

struct VerifyCheck {
    std::string precision;  // f32, bf16, int8
    std::string what;       // "threads", "levels", "batch", "cached", "resume"
    std::string how;        // "1, 2, 3, 8", "scalar, avx2", …
    bool holds = false;
};

struct VerifyReport {
    std::vector<VerifyCheck> checks;
    std::string hash;  // of all results, at the first level and thread count tried
    double seconds = 0;
    bool holds() const;
};

// `on_check` hears of each one as it ends. Changes thread count and level while it runs.
VerifyReport verify(const std::function<void(const VerifyCheck&)>& on_check = {});

}  // namespace fovea::bench
