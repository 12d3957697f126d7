#include "fovea/train/autotune.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/settings.h"

namespace fovea {
namespace {

bool is_better(const Try& a, const Try& b) {
    if (!a.result || !b.result) return a.result.has_value() && !b.result.has_value();
    return a.result->higher_is_better ? a.result->score > b.result->score
                                      : a.result->score < b.result->score;
}

const std::string* value_in(const SettingValues& values, const std::string& name) {
    for (const auto& [key, value] : values)
        if (key == name) return &value;
    return nullptr;
}

// "x3" of what the best try had.
std::string absolute(const Knob& knob, const std::string& value, const TryResult& best) {
    if (!value.starts_with("x")) return value;
    const std::string* now = value_in(best.settled, knob.setting);
    expect(now, "autotune: no number for ", knob.setting);
    return number_text(std::stod(*now) * std::stod(value.substr(1)));
}

SettingValues with(SettingValues values, const std::string& name, const std::string& value) {
    for (auto& [key, old] : values)
        if (key == name) {
            old = value;
            return values;
        }
    values.emplace_back(name, value);
    return values;
}

std::vector<std::size_t> best_first(const Tuning& t) {
    std::vector<std::size_t> order(t.tries.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return is_better(t.tries[a], t.tries[b]);
    });
    return order;
}

}  // namespace

std::size_t tries_of(const std::vector<Knob>& knobs) {
    std::size_t n = 1;
    for (const Knob& knob : knobs) n += knob.values.size();
    return n;
}

Tuning autotune(const std::vector<Knob>& knobs, const RunTry& run, const TryDone& done) {
    Tuning t;
    const auto add = [&](SettingValues changed) {
        Try one{std::move(changed), {}, {}};
        try {
            one.result = run(t.tries.size(), one.changed);
        } catch (const Error& e) {
            if (t.tries.empty()) throw;
            one.problem = e.what();
        }
        t.tries.push_back(std::move(one));
        const bool best = t.tries.size() == 1 || is_better(t.tries.back(), t.tries[t.best]);
        if (best) t.best = t.tries.size() - 1;
        if (done) done(t.tries.back(), best);
    };
    add({});
    for (const Knob& knob : knobs) {
        const Try start = t.tries[t.best];
        for (const std::string& value : knob.values)
            add(with(start.changed, knob.setting, absolute(knob, value, *start.result)));
    }
    return t;
}

std::string text_of_settings(const SettingValues& changed) {
    std::string text;
    for (const auto& [name, value] : changed)
        text += fmt::format("{}--{} {}", text.empty() ? "" : " ", name, value);
    return text.empty() ? "the defaults" : text;
}

Json Tuning::json() const {
    Json all = Json::array();
    for (const Try& one : tries) {
        Json j = Json::object();
        Json settings = Json::object();
        for (const auto& [name, value] : one.changed) settings[name] = value;
        j["settings"] = settings;
        if (one.result) {
            j[one.result->metric] = one.result->score;
            j["updates"] = one.result->updates;
            j["seconds"] = one.result->seconds;
        } else {
            j["problem"] = one.problem;
        }
        all.push_back(std::move(j));
    }
    Json whole = Json::object();
    whole["best"] = best;
    whole["tries"] = std::move(all);
    return whole;
}

std::string Tuning::table() const {
    std::string text;
    for (const std::size_t i : best_first(*this)) {
        const Try& one = tries[i];
        text += one.result ? fmt::format("  {:>9.3f} {}  {:>6} updates  {}\n", one.result->score,
                                         one.result->metric, one.result->updates,
                                         text_of_settings(one.changed))
                           : fmt::format("  failed: {}  ({})\n", text_of_settings(one.changed),
                                         one.problem);
    }
    return text;
}

}  // namespace fovea
