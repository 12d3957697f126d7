#include "fovea/train/train_state.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/io/flat_json.h"

namespace fovea {
namespace {

// visit(name, field) for every field of a TrainState, const or not.
template <class State, class Visit>
void for_each_field(State& s, Visit visit) {
    auto& [step, epoch, next_index, tokens_seen, dropout_rng, run, data_fingerprint, budget,
           planned_updates, planned_warmup, skipped_steps, skipped_in_a_row, first_loss,
           smooth_loss, exploded_in_a_row, best_metric, best_value, best_loss, best_step,
           evaluated_step, evaluations, evaluations_at_zero, evaluations_without_gain, loss_sum,
           loss_weight, wall_seconds] = s;
    visit("step", step);
    visit("epoch", epoch);
    visit("next_index", next_index);
    visit("tokens_seen", tokens_seen);
    visit("dropout_rng", dropout_rng);
    visit("run", run);
    visit("data_fingerprint", data_fingerprint);
    visit("budget", budget);
    visit("planned_updates", planned_updates);
    visit("planned_warmup", planned_warmup);
    visit("skipped_steps", skipped_steps);
    visit("skipped_in_a_row", skipped_in_a_row);
    visit("first_loss", first_loss);
    visit("smooth_loss", smooth_loss);
    visit("exploded_in_a_row", exploded_in_a_row);
    visit("best_metric", best_metric);
    visit("best_value", best_value);
    visit("best_loss", best_loss);
    visit("best_step", best_step);
    visit("evaluated_step", evaluated_step);
    visit("evaluations", evaluations);
    visit("evaluations_at_zero", evaluations_at_zero);
    visit("evaluations_without_gain", evaluations_without_gain);
    visit("loss_sum", loss_sum);
    visit("loss_weight", loss_weight);
    visit("wall_seconds", wall_seconds);
}

struct Writer {
    JsonWriter& json;

    void operator()(const char* name, std::int64_t x) { json.key(name), json.value(x); }
    void operator()(const char* name, std::uint64_t x) { json.key(name), json.value(x); }
    void operator()(const char* name, const std::string& x) { json.key(name), json.value(x); }
    void operator()(const char* name, double x) {
        expect(std::isfinite(x), "checkpoint: ", name, " is not finite and is not saved");
        json.key(name), json.value(x);
    }
    void operator()(const char* name, const RngState& r) {
        json.key(name);
        json.open('{');
        (*this)("seed", r.seed);
        (*this)("purpose", std::uint64_t{r.purpose});
        (*this)("position", r.position);
        json.close('}');
    }
};

struct Reader {
    const FlatJson& json;
    const std::string& where;

    void operator()(const char* name, std::int64_t& x) const { x = json.integer(name); }
    void operator()(const char* name, std::uint64_t& x) const { x = json.natural(name); }
    void operator()(const char* name, double& x) const { x = json.number(name); }
    void operator()(const char* name, std::string& x) const { x = json.text(name); }
    void operator()(const char* name, RngState& r) const {
        const std::string path = name;
        expect_input(json.members(path) == 3, where, ": \"", path, "\" must have 3 members");
        r.seed = json.natural(FlatJson::in(path, "seed"));
        const std::uint64_t purpose = json.natural(FlatJson::in(path, "purpose"));
        expect_input(purpose <= 0xffffffffu, where, ": \"", path, "\" is out of range");
        r.purpose = static_cast<std::uint32_t>(purpose);
        r.position = json.natural(FlatJson::in(path, "position"));
    }
};

}  // namespace

std::string state_text(const TrainState& state) {
    JsonWriter json;
    json.open('{');
    Writer{json}("format", train_state_format);
    for_each_field(state, Writer{json});
    json.close('}');
    return json.text() + "\n";
}

TrainState parse_state(const std::string& text, const std::string& where) {
    const FlatJson json(text, where);
    // Before version 0.2 there was no such field.
    const std::int64_t format = json.values().count("format") ? json.integer("format") : 1;
    if (format != train_state_format)
        fail_with(ErrorKind::bad_input,
                  "go on with the version of Fovea that saved it, or start over with --force",
                  where, ": has the format ", format, " but this version reads ",
                  train_state_format);
    TrainState state;
    std::int64_t fields = 1;
    for_each_field(state, [&](const char* name, auto& field) {
        Reader{json, where}(name, field);
        ++fields;
    });
    expect_input(json.members("") == fields, where, ": has ", json.members(""), " fields but ",
                 fields, " are known");
    return state;
}

}  // namespace fovea
