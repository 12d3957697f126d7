#pragma once
// What `fovea train` was told, before it runs. Not thread-safe: it belongs to one thread.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fovea/base/settings.h"
#include "fovea/tasks/task.h"

namespace fovea {

struct TrainVerb {
    const TaskEntry* entry = nullptr;
    std::string task, why;  // why: of a task that was guessed
    std::unique_ptr<Trainer> trainer;
    RunSettings run;
    Settings settings;  // of the run and of the task: they point into this object
    std::vector<std::string> files;
    std::string config, dump;
    bool resume = false, force = false, dry_run = false;
    double autotune = 0;           // minutes for tries and the run behind them
    std::int64_t try_updates = 0;  // of each try; 0: by the minutes
};

std::unique_ptr<TrainVerb> new_train_verb(const TaskEntry& task);

struct TrainRun {
    TrainSummary summary;
    TrainResult result;
    std::int64_t memory = 0;  // bytes of tensors at the peak
    bool higher_is_better = true;
};
// One of several runs: nothing is shown but a live line. Throws Interrupted at Ctrl-C.
TrainRun run_with_live_line(TrainVerb& verb);

// --autotune: short runs with other settings in OUT/tries; the best of them become those of the
// verb. OUT/autotune.json says what was tried. A search that was interrupted goes on where it was.
void choose_settings(TrainVerb& verb, const Say& say);

}  // namespace fovea
