#include <fmt/core.h>

#include <filesystem>
#include <sstream>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/cli/train_verb.h"
#include "fovea/train/autotune.h"

namespace fovea {
namespace {

// Settings that a person gave stay as they are, and so does a model that is gone on from; the rest
// is worth a try.
std::vector<Knob> open_knobs(const TrainVerb& v) {
    std::vector<Knob> knobs;
    for (const Knob& knob : v.trainer->knobs())
        for (const Setting& s : v.settings.all())
            if (s.name == knob.setting && !s.given &&
                (v.run.from.empty() || s.options.group != "model"))
                knobs.push_back(knob);
    return knobs;
}

void copy_given(const TrainVerb& from, TrainVerb& to) {
    for (const Setting& s : from.settings.all()) {
        if (!s.given || s.name == "task") continue;
        std::istringstream lines(s.text());
        for (std::string line; std::getline(lines, line);) to.settings.set(s.name, line);
    }
}

Json settings_json(const SettingValues& values) {
    Json j = Json::object();
    for (const auto& [name, value] : values) j[name] = value;
    return j;
}

Json to_json(const TryResult& r, const SettingValues& changed) {
    Json j = Json::object();
    j["settings"] = settings_json(changed);
    j["score"] = r.score;
    j["higher_is_better"] = r.higher_is_better;
    j["metric"] = r.metric;
    j["updates"] = r.updates;
    j["seconds"] = r.seconds;
    j["lr"] = r.settled.at(0).second;
    return j;
}

TryResult from_json(const Json& j) {
    return {.score = j.at("score").get<double>(),
            .higher_is_better = j.at("higher_is_better").get<bool>(),
            .metric = j.at("metric").get<std::string>(),
            .updates = j.at("updates").get<std::int64_t>(),
            .seconds = j.at("seconds").get<double>(),
            .settled = {{"lr", j.at("lr").get<std::string>()}}};
}

// What a try of the same settings gave before the search was interrupted.
std::optional<TryResult> known_result(const std::string& path, const SettingValues& changed) {
    if (!file_exists(path)) return {};
    const Json j = read_json(path);
    if (j.value("settings", Json()) != settings_json(changed)) return {};
    return from_json(j);
}

void set_budget(TrainVerb& v, double minutes, std::int64_t updates) {
    v.run.steps = v.run.epochs = std::nullopt;
    v.run.minutes = std::nullopt;
    if (updates > 0)
        v.run.steps = updates;
    else
        v.run.minutes = minutes;
}

TryResult run_try(const TrainVerb& base, const SettingValues& changed, const std::string& folder,
                  double minutes) {
    const std::unique_ptr<TrainVerb> v = new_train_verb(*base.entry);
    copy_given(base, *v);
    for (const auto& [name, value] : changed) v->settings.set(name, value);
    v->run.options.seed = base.run.options.seed;
    set_budget(*v, minutes, base.try_updates);
    v->run.options.out = folder;
    v->run.options.force = true;
    const TrainRun run = run_with_live_line(*v);
    const TrainResult& r = run.result;
    if (!r.best_metric)
        throw Error("train: --autotune has no records to measure on", ErrorKind::usage,
                    "give --dev FILE: the data are too few to hold some out");
    return {.score = *r.best_metric,
            .higher_is_better = run.higher_is_better,
            .metric = r.metric,
            .updates = r.step,
            .seconds = r.seconds,
            .settled = {{"lr", number_text(v->run.options.schedule.peak)}}};
}

}  // namespace

void choose_settings(TrainVerb& verb, const Say& say) {
    if (!verb.run.measures())
        throw Error("train: --autotune needs records to measure on", ErrorKind::usage,
                    "leave out --dev none");
    const std::vector<Knob> knobs = open_knobs(verb);
    const std::size_t count = tries_of(knobs);
    const double minutes = verb.autotune / 2 / static_cast<double>(count);
    const std::string folder = join_path(verb.run.options.out, "tries");
    say(verb.try_updates > 0
            ? fmt::format("autotune: {} tries of {} updates", count, verb.try_updates)
            : fmt::format("autotune: {} tries of {:.2g} minutes, then the best settings for {:.2g}",
                          count, minutes, verb.autotune / 2));
    const auto run = [&](std::size_t number, const SettingValues& changed) {
        const std::string own = join_path(folder, std::to_string(number + 1));
        const std::string told = own + ".json";
        if (const auto known = known_result(told, changed)) return *known;
        make_folders(folder);
        const TryResult r = run_try(verb, changed, own, minutes);
        write_file_atomically(told, to_text(to_json(r, changed)) + "\n");
        std::filesystem::remove_all(own);
        return r;
    };
    std::size_t number = 0;
    const Tuning tuning = autotune(knobs, run, [&](const Try& one, bool best) {
        ++number;
        say(one.result ? fmt::format("try {}/{}: {} {:.3f} after {} updates{}   {}", number, count,
                                     one.result->metric, one.result->score, one.result->updates,
                                     best ? " (best)" : "", text_of_settings(one.changed))
                       : fmt::format("try {}/{}: {}: {}", number, count,
                                     text_of_settings(one.changed), one.problem));
    });
    write_file_atomically(join_path(verb.run.options.out, "autotune.json"),
                          to_text(tuning.json()) + "\n");
    std::filesystem::remove_all(folder);
    const SettingValues& best = tuning.tries[tuning.best].changed;
    for (const auto& [name, value] : best) verb.settings.set(name, value);
    if (!verb.run.steps && !verb.run.epochs && !verb.run.minutes)
        verb.settings.set("minutes", number_text(verb.autotune / 2));
    say("autotune: best is " + text_of_settings(best));
}

}  // namespace fovea
