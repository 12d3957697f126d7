#include "fovea/io/train_state.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/json.h"

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
    Json& json;

    static double finite(const std::string& name, double x) {
        expect(std::isfinite(x), "checkpoint: ", name, " is not finite and is not saved");
        return x;
    }
    void operator()(const char* name, std::int64_t x) { json[name] = x; }
    void operator()(const char* name, std::uint64_t x) { json[name] = x; }
    void operator()(const char* name, double x) { json[name] = finite(name, x); }
    void operator()(const char* name, const std::string& x) { json[name] = x; }
    void operator()(const char* name, const RngState& r) {
        json[name] = {{"seed", r.seed}, {"purpose", r.purpose}, {"position", r.position}};
    }
    void operator()(const char* name, const std::map<std::string, double>& m) {
        Json& object = json[name] = Json::object();
        for (const auto& [key, x] : m) object[key] = finite(key, x);
    }
};

struct Reader {
    const Json& json;
    const std::string& where;

    [[noreturn]] void wrong(const std::string& name) const {
        throw Error(where + ": \"" + name + "\" is missing or of the wrong type",
                    ErrorKind::bad_input);
    }
    const Json& find(const Json& object, const char* name) const {
        const auto it = object.find(name);
        if (it == object.end()) wrong(name);
        return *it;
    }
    void operator()(const char* name, std::int64_t& x) const {
        const Json& j = find(json, name);
        if (!j.is_number_integer() ||
            (j.is_number_unsigned() &&
             j.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)))
            wrong(name);
        x = j.get<std::int64_t>();
    }
    void operator()(const char* name, std::uint64_t& x) const { x = natural(json, name); }
    std::uint64_t natural(const Json& object, const char* name) const {
        const Json& j = find(object, name);
        if (!j.is_number_unsigned()) wrong(name);
        return j.get<std::uint64_t>();
    }
    void operator()(const char* name, double& x) const {
        const Json& j = find(json, name);
        if (!j.is_number()) wrong(name);
        x = j.get<double>();
    }
    void operator()(const char* name, std::string& x) const {
        const Json& j = find(json, name);
        if (!j.is_string()) wrong(name);
        x = j.get<std::string>();
    }
    void operator()(const char* name, RngState& r) const {
        const Json& j = find(json, name);
        if (!j.is_object() || j.size() != 3) wrong(name);
        r.seed = natural(j, "seed");
        const std::uint64_t purpose = natural(j, "purpose");
        if (purpose > 0xffffffffu) wrong(name);
        r.purpose = static_cast<std::uint32_t>(purpose);
        r.position = natural(j, "position");
    }
    void operator()(const char* name, std::map<std::string, double>& m) const {
        const Json& j = find(json, name);
        if (!j.is_object()) wrong(name);
        m.clear();
        for (const auto& [key, x] : j.items()) {
            if (!x.is_number()) wrong(name);
            m[key] = x.get<double>();
        }
    }
};

}  // namespace

std::string state_text(const TrainState& state) {
    Json json;
    for_each_field(state, Writer{json});
    return to_text(json, 1) + "\n";
}

TrainState parse_state(const std::string& text, const std::string& where) {
    const Json json = parse_json(text, where);
    expect_input(json.is_object(), where, ": is not a JSON object");
    TrainState state;
    std::size_t fields = 0;
    for_each_field(state, [&](const char* name, auto& field) {
        Reader{json, where}(name, field);
        ++fields;
    });
    expect_input(json.size() == fields, where, ": has ", json.size(), " fields but ", fields,
                 " are known");
    return state;
}

}  // namespace fovea
