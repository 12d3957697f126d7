#include "fovea/train/run_state.h"

#include "fovea/base/error.h"

namespace fovea {
namespace {

// One list of all fields serves writing and reading, so that none can be forgotten in one of them.
template <class State, class Visit>
void each_field(State& s, Visit&& visit) {
    visit("step", s.step);
    visit("epoch", s.epoch);
    visit("next_batch", s.next_batch);
    visit("tokens", s.tokens);
    visit("dropout_position", s.dropout_position);
    visit("smooth_loss", s.smooth_loss);
    visit("epoch_loss", s.epoch_loss);
    visit("epoch_tokens", s.epoch_tokens);
    visit("has_best", s.has_best);
    visit("best_metric", s.best_metric);
    visit("best_step", s.best_step);
    visit("evaluations_since_best", s.evaluations_since_best);
    visit("skipped", s.skipped);
    visit("skipped_in_a_row", s.skipped_in_a_row);
    visit("seconds", s.seconds);
    visit("finished", s.finished);
}

}  // namespace

// A field added to the struct changes its size: add it to each_field, then here.
static_assert(sizeof(RunState) == 16 * 8, "RunState has changed: are all fields saved?");

Json RunState::to_json() const {
    Json j;
    each_field(*this, [&](const char* name, const auto& value) { j[name] = value; });
    return j;
}

RunState RunState::from_json(const Json& json, const std::string& where) {
    RunState s;
    each_field(s, [&](const char* name, auto& value) {
        expect_input(json.is_object() && json.contains(name), where, ": \"", name, "\" is missing");
        try {
            json.at(name).get_to(value);
        } catch (const Json::exception&) {
            throw Error(where + ": \"" + name + "\" has the wrong type", ErrorKind::bad_input);
        }
    });
    return s;
}

}  // namespace fovea
