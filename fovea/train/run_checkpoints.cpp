#include "fovea/train/run_checkpoints.h"

#include <utility>

#include "fovea/base/files.h"

namespace fovea {

RunCheckpoints::RunCheckpoints(const TrainOptions& options, std::int64_t bytes, Say say)
    : options_(options), say_(std::move(say)), folder_(options.out, {.keep_last = options.keep}) {
    if (options.force && !options.resume) folder_.clear();
    folder_.check_space(bytes);
}

std::optional<TrainState> RunCheckpoints::resume(const Snapshot& snapshot,
                                                 const std::string& fingerprint) {
    const std::optional<OpenCheckpoint> found = folder_.resume();
    for (const RejectedCheckpoint& r : folder_.rejected())
        say_("checkpoint " + r.folder + " passed over: " + r.reason);
    if (!found) {
        say_("no checkpoint in " + options_.out + ": starts from the beginning");
        return {};
    }
    const TrainState saved = parse_state(found->state, join_path(found->folder, "state.json"));
    if (saved.data_fingerprint != fingerprint && !options_.allow_data_change)
        throw Error(options_.out + ": was trained on other data, with another vocabulary or --seed",
                    ErrorKind::bad_input,
                    "give the same files and flags (config.toml holds them), or "
                    "--allow-data-change to go on all the same");
    const TrainState state = snapshot.restore(*found);
    saved_step_ = state.step;
    if (state.best_step == state.step) mark_best(state, false);
    say_(text_of("goes on from ", found->folder, ", step ", state.step));
    return state;
}

void RunCheckpoints::mark_best(const TrainState& s, bool out_of_turn) {
    const auto marked = folder_.best();
    if (!marked || marked->step != s.step)
        folder_.mark_best({s.step, s.best_metric, s.best_value, out_of_turn});
}

void RunCheckpoints::write(const Snapshot& snapshot, const TrainState& state, Moment moment) {
    const bool out_of_turn = moment == Moment::new_best;
    if (state.step != saved_step_) {
        Checkpoint checkpoint = snapshot.of_state(state);
        checkpoint.out_of_turn = out_of_turn;
        const SaveReport report = folder_.save(checkpoint);
        for (const std::string& w : report.warnings) say_("warning: " + w);
        saved_step_ = state.step;
    }
    if (state.best_step == state.step) mark_best(state, out_of_turn);
}

void RunCheckpoints::save(const Snapshot& snapshot, const TrainState& state, Moment moment) {
    try {
        write(snapshot, state, moment);
    } catch (const Error& e) {
        const char* const way_out = "earlier checkpoints are whole; free some space and --resume";
        if (moment == Moment::end_of_the_run)
            throw Error(text_of("train: the checkpoint of step ", state.step,
                                " could not be saved: ", e.what()),
                        ErrorKind::failed, way_out);
        if (folder_.failures_in_a_row() >= 3)
            throw Error(text_of("train: three checkpoints in a row could not be saved: ", e.what()),
                        ErrorKind::failed, way_out);
        say_(text_of("WARNING: checkpoint of step ", state.step, " not saved: ", e.what(),
                     " (the earlier ones are whole; training goes on)"));
    }
}

}  // namespace fovea
