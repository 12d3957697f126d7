#include "fovea/train/snapshot.h"

#include <algorithm>

#include "fovea/base/files.h"

namespace fovea {
namespace {

void copy_into(Tensor to, const TensorFile& file, const std::string& name) {
    const Tensor from = file.read(name);
    expect_input(from.shape() == to.shape(), file.path(), ": ", name, " is ", from.shape(),
                 " but this run wants ", to.shape());
    std::copy_n(from.data(), from.size(), to.write());
}

}  // namespace

Checkpoint Snapshot::of_state(const TrainState& state) const {
    Checkpoint c;
    c.step = state.step;
    c.run = state.run;
    c.best_step = state.best_step;
    c.state = state_text(state);
    for (const std::string& name : store.names())
        c.model.push_back(TensorToWrite::of(name, store.at(name)));
    for (const AdamW::Slot& s : adam.slots()) {
        c.optimizer.push_back(TensorToWrite::of("m." + s.name, s.m));
        c.optimizer.push_back(TensorToWrite::of("v." + s.name, s.v));
    }
    if (average)
        for (const auto& [name, value] : average->values())
            c.optimizer.push_back(TensorToWrite::of("ema." + name, value));
    return c;
}

TrainState Snapshot::restore(const OpenCheckpoint& from) const {
    const std::string path = join_path(from.folder, "state.json");
    TrainState state = parse_state(from.state, path);
    expect_input(state.step == from.step() && state.run == from.manifest.run, path, ": is of step ",
                 state.step, ", run ", state.run, " but the checkpoint of step ", from.step(),
                 ", run ", from.manifest.run);
    const TensorFile model = from.model(), moments = from.optimizer();
    for (const std::string& name : store.names()) copy_into(store.at(name), model, name);
    for (AdamW::Slot& s : adam.slots()) {
        copy_into(s.m, moments, "m." + s.name);
        copy_into(s.v, moments, "v." + s.name);
    }
    if (average)
        for (auto& [name, value] : average->values()) copy_into(value, moments, "ema." + name);
    adam.set_updates(state.step - state.skipped_steps);
    return state;
}

std::int64_t Snapshot::bytes() const {
    std::int64_t n = 0;
    for (const std::string& name : store.names()) n += 4 * store.at(name).size();
    for (const AdamW::Slot& s : adam.slots()) n += 8 * s.m.size();
    if (average)
        for (const auto& [name, value] : average->values()) n += 4 * value.size();
    return n;
}

}  // namespace fovea
