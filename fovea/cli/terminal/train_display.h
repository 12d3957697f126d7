#pragma once
// A training run as a person watches it: one live line on a terminal, a row per epoch and per
// evaluation; plain lines elsewhere.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "fovea/cli/terminal/progress.h"
#include "fovea/train/loop.h"

namespace fovea {

class TrainDisplay {
public:
    explicit TrainDisplay(bool quiet);
    TrainEvents events();
    void finish() { line_.finish(); }  // before the last words: the line stands above them

private:
    void step(const StepReport& r);
    Progress line_;
    bool quiet_;
    std::atomic<int> stop_{0};
};

}  // namespace fovea
