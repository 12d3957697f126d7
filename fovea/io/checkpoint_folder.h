#pragma once
// Checkpoints that survive kill -9, full disks and power cuts. A run folder holds
//
//   LOCK               who trains here: a second trainer is refused
//   step-0000001200/   model.safetensors, optim.safetensors, state.json, further texts,
//   MANIFEST.json;
//                      complete and verified once it has this name, never changed afterwards
//   LATEST, BEST       hints; resuming looks at the folders themselves
//
// A checkpoint is written to a temporary folder beside, synced, renamed, read back and verified;
// only then are old ones removed. Whatever fails, those saved before stay as they are.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fovea/io/manifest.h"
#include "fovea/io/safetensors.h"
#include "fovea/io/safetensors_writer.h"

namespace fovea {

struct CheckpointOptions {
    int keep_last = 3;
    std::string code_version = "fovea 0.1.0";
};

struct Checkpoint {  // what save() takes; handles only, nothing is copied
    std::vector<TensorToWrite> model;
    std::vector<TensorToWrite> optimizer;
    std::int64_t step = 0;
    std::string run;                           // the run's id
    std::string state;                         // state.json: the trainer's own, read by it alone
    std::map<std::string, std::string> texts;  // file name -> content: config.json, …
    std::int64_t best_step = -1;               // stays, whatever BEST says
    // Saved for its score between two regular ones: it takes no place among the last `keep_last`,
    // and goes once another is the best.
    bool out_of_turn = false;
};

struct SaveReport {
    std::string folder;
    std::int64_t bytes = 0;
    double seconds = 0;
    std::vector<std::int64_t> removed;  // steps rotated out
    std::vector<std::string> warnings;  // the checkpoint is good, but a hint or a removal failed
};

// A checkpoint whose manifest, sizes and checksums have all been checked.
struct OpenCheckpoint {
    std::string folder;
    Manifest manifest;
    std::string state;  // of state.json
    std::int64_t step() const { return manifest.step; }
    TensorFile model() const;
    TensorFile optimizer() const;
};

// Needs no lock. Throws one clear error for whatever is wrong.
OpenCheckpoint open_checkpoint(const std::string& folder);
std::vector<std::int64_t> checkpoint_steps(const std::string& run);  // rising; damaged ones too
std::string checkpoint_path(const std::string& run, std::int64_t step);

// Does the folder hold a run, whole or in part?
bool holds_run(const std::string& run);

struct RejectedCheckpoint {
    std::string folder, reason;
};

struct BestCheckpoint {
    std::int64_t step = 0;
    std::string metric;
    double value = 0;
    bool out_of_turn = false;  // see Checkpoint
};

class CheckpointFolder {  // not thread-safe
public:
    // Makes the folder where needed and locks it until destruction; a folder locked by another
    // process is an error of kind busy.
    explicit CheckpointFolder(std::string run, CheckpointOptions options = {});
    ~CheckpointFolder();
    CheckpointFolder(const CheckpointFolder&) = delete;
    CheckpointFolder& operator=(const CheckpointFolder&) = delete;

    SaveReport save(const Checkpoint& checkpoint);

    // The newest good checkpoint; what was rejected on the way is in rejected(). Clears away what
    // an interrupted save has left. Throws where there are checkpoints but none is good.
    std::optional<OpenCheckpoint> resume();
    const std::vector<RejectedCheckpoint>& rejected() const { return rejected_; }

    // Removes what an earlier run has left here, and nothing else: checkpoints, BEST, LATEST, logs,
    // config.toml and the model. Links are removed, never followed. Files that Fovea does not write
    // inside one of those folders are an error before anything is touched.
    void clear();

    // Writes BEST. A former best that was saved out of turn has done its duty and is removed.
    void mark_best(const BestCheckpoint& best);
    std::optional<BestCheckpoint> best() const;  // none where nothing readable is there

    // Before training: room for keep_last + 1 checkpoints of this size and a tenth more? Those that
    // are here already take none.
    void check_space(std::int64_t checkpoint_bytes) const;

    int failures_in_a_row() const { return failures_; }
    const std::string& path() const { return run_; }

private:
    std::string write_temporary(const Checkpoint& checkpoint, SaveReport& report);
    void discard(const std::string& folder) noexcept;
    void rotate(const Checkpoint& newest, SaveReport& report);
    void remove_leftovers();

    std::string run_;
    CheckpointOptions options_;
    int lock_ = -1;
    int failures_ = 0;
    std::int64_t parent_ = -1;
    std::vector<RejectedCheckpoint> rejected_;
};

}  // namespace fovea
