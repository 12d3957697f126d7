#include "fovea/io/train_state.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/io/flat_json.h"

namespace fovea {
namespace {

// visit(name, field) for every field of a TrainState, const or not.
template <class State, class Visit>
void for_each_field(State& s, Visit visit) {
    auto& [step, epoch, micro_step, examples_seen, tokens_seen, init_rng, shuffle_rng, dropout_rng,
           masking_rng, augmentation_rng, data_fingerprint, permutation_key, next_index, schedule,
           learning_rate, loss_scale, loss_scale_good_steps, clipped_steps, gradient_norm_sum,
           ema_updates, skipped_steps, skipped_in_a_row, best_metric, best_value, best_step,
           evaluations_without_gain, loss_sum, loss_tokens, metric_sums, wall_seconds,
           config_hash] = s;
    visit("step", step);
    visit("epoch", epoch);
    visit("micro_step", micro_step);
    visit("examples_seen", examples_seen);
    visit("tokens_seen", tokens_seen);
    visit("init_rng", init_rng);
    visit("shuffle_rng", shuffle_rng);
    visit("dropout_rng", dropout_rng);
    visit("masking_rng", masking_rng);
    visit("augmentation_rng", augmentation_rng);
    visit("data_fingerprint", data_fingerprint);
    visit("permutation_key", permutation_key);
    visit("next_index", next_index);
    visit("schedule", schedule);
    visit("learning_rate", learning_rate);
    visit("loss_scale", loss_scale);
    visit("loss_scale_good_steps", loss_scale_good_steps);
    visit("clipped_steps", clipped_steps);
    visit("gradient_norm_sum", gradient_norm_sum);
    visit("ema_updates", ema_updates);
    visit("skipped_steps", skipped_steps);
    visit("skipped_in_a_row", skipped_in_a_row);
    visit("best_metric", best_metric);
    visit("best_value", best_value);
    visit("best_step", best_step);
    visit("evaluations_without_gain", evaluations_without_gain);
    visit("loss_sum", loss_sum);
    visit("loss_tokens", loss_tokens);
    visit("metric_sums", metric_sums);
    visit("wall_seconds", wall_seconds);
    visit("config_hash", config_hash);
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
    void operator()(const char* name, const std::map<std::string, double>& m) {
        json.key(name);
        json.open('{');
        for (const auto& [key, x] : m) (*this)(key.c_str(), x);
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
    void operator()(const char* name, std::map<std::string, double>& m) const {
        json.members(name);
        const std::string prefix = FlatJson::in(name, "");
        m.clear();
        for (auto it = json.values().lower_bound(prefix);
             it != json.values().end() && it->first.rfind(prefix, 0) == 0; ++it)
            m[it->first.substr(prefix.size())] = json.number(it->first);
    }
};

}  // namespace

std::string state_text(const TrainState& state) {
    JsonWriter json;
    json.open('{');
    for_each_field(state, Writer{json});
    json.close('}');
    return json.text() + "\n";
}

TrainState parse_state(const std::string& text, const std::string& where) {
    const FlatJson json(text, where);
    TrainState state;
    std::int64_t fields = 0;
    for_each_field(state, [&](const char* name, auto& field) {
        Reader{json, where}(name, field);
        ++fields;
    });
    expect_input(json.members("") == fields, where, ": has ", json.members(""), " fields but ",
                 fields, " are known");
    return state;
}

}  // namespace fovea
