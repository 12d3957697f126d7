// A run of several tasks, from a list of tables. Each table names a task, how it takes part, and
// the task's own settings; what concerns the run and the encoder stands in [train].
#include <algorithm>
#include <deque>
#include <filesystem>
#include <set>

#include "fovea/base/error.h"
#include "fovea/tasks/encoder_training.h"
#include "fovea/tasks/multi.h"

namespace fovea {
namespace {

constexpr const char* the_first_task = "the first task";  // where others say --from

// What a table may say about its data and batches; the rest of RunSettings is the run's.
const std::set<std::string>& settings_of_a_part() {
    static const std::set<std::string> names = {"train",     "dev",    "limit",      "skip-bad",
                                                "dev-limit", "metric", "max-tokens", "max-records"};
    return names;
}

struct RunPart {
    std::string kind, where;  // "tag"; for errors: "task 2 (tag)"
    std::unique_ptr<Trainer> trainer;
    RunSettings run;
    Settings settings;
    std::set<std::string> of_the_run;  // settings that RunSettings declared
    std::string name;
    double weight = 1, share = 1, rate = 1;
};

std::unique_ptr<Trainer> trainer_named(const std::string& name, const std::string& where) {
    std::string known;
    for (const TaskEntry& t : tasks()) {
        if (!t.trainer || t.trainer == make_multi_trainer) continue;
        if (name == t.name) return t.trainer();
        known += (known.empty() ? "" : ", ") + std::string(t.name);
    }
    for (const AuxiliaryTask& t : auxiliary_tasks()) {
        if (name == t.name) return t.trainer();
        known += std::string(", ") + t.name;
    }
    fail_with(ErrorKind::usage, "known are " + known, where, ": there is no task `", name, "`");
}

std::string value_text(const Json& value) {
    return value.is_string() ? value.get<std::string>() : to_text(value);
}

// Paths as they are from any folder: a run may be resumed elsewhere.
void make_absolute(Json& given) {
    const auto absolute = [](Json& path) {
        const std::string p = path.is_string() ? path.get<std::string>() : "";
        if (!p.empty() && p != "none" && p != "auto" && p != "-")
            path = std::filesystem::absolute(p).lexically_normal().string();
    };
    for (const char* key : {"train", "dev"}) {
        if (!given.contains(key)) continue;
        if (given[key].is_array())
            for (Json& one : given[key]) absolute(one);
        else
            absolute(given[key]);
    }
}

class MultiTrainer : public Trainer {
public:
    void describe(Settings& s) override {
        s.add("tasks", tables_,
              "a task of several, as a JSON object (a recipe has [[task]] tables)",
              {.group = "data"});
        making_.describe(s);
        rates_.describe(s);
    }

    std::vector<std::string> metrics() const override { return {"mean"}; }
    bool needs_files() const override { return false; }

    void check(Settings& s, const RunSettings& run) override {
        settings_ = &s;
        if (!run.train.empty())
            refuse_without_effect("train", "with several tasks: each has its own",
                                  "write train = \"FILE\" under its [[task]]");
        static constexpr const char* of_each[] = {"dev",       "limit",      "skip-bad",
                                                  "dev-limit", "max-tokens", "max-records"};
        leave_out(s, of_each, "with several tasks: write it under a [[task]]");
        if (!run.from.empty()) making_.leave_out_with_from(s);
        if (!tables_.empty()) make_parts(run);  // what is wrong with them is said at once
    }

    void prepare(RunSettings& run, const Say& say) override {
        if (tables_.empty())
            fail_with(ErrorKind::usage,
                      "each task of multi.toml is a table: [[task]], task = \"tag\", train = …",
                      "fovea train --task multi: there are no tasks");
        make_parts(run);
        std::vector<TaskShare> shares;
        for (RunPart& p : parts_) {
            p.run.batches.seed = p.run.options.seed = run.options.seed;
            p.run.precision = run.precision;
            if (&p != &parts_[0]) {
                expect_fits_encoder(p);
                p.run.body = body_;
                if (!p.settings.given("max-tokens"))
                    p.run.batches.max_tokens = parts_[0].run.batches.max_tokens;
            }
            p.trainer->prepare(p.run, [&](const std::string& line) { say(p.name + ": " + line); });
            if (&p == &parts_[0]) share_encoder(p);
            shares.push_back({p.name, p.trainer->task(), p.weight, p.share, p.rate});
        }
        mix_.emplace(std::move(shares));
        const RunSettings& first = parts_[0].run;
        run.settle({.rate = first.rate.value_or(1e-3),
                    .warmup = first.options.usual_warmup,
                    .epochs = first.epochs.value_or(10),
                    .d_model = body_->encoder->width});
        metric_ = run.metric;
    }

    TrainSummary summary() const override {
        TrainSummary s = parts_[0].trainer->summary();
        for (std::size_t i = 1; i < parts_.size(); ++i) {
            const TrainSummary other = parts_[i].trainer->summary();
            s.model += " + " + parts_[i].name;
            s.records += other.records;
            s.tokens_per_epoch += static_cast<std::int64_t>(
                parts_[i].share * static_cast<double>(s.batches_per_epoch) *
                static_cast<double>(other.tokens_per_epoch) /
                static_cast<double>(std::max<std::int64_t>(1, other.batches_per_epoch)));
            s.memory_bytes += other.memory_bytes;
        }
        s.parameters = mix_->store().count();
        return s;
    }

    TrainTask task() override { return mix_->task(metric_); }
    std::optional<TrainedEncoder> trained_encoder() const override { return *body_; }

private:
    void share_encoder(const RunPart& first) {
        auto encoder = first.trainer->trained_encoder();
        if (!encoder)
            fail_with(ErrorKind::usage, "put a task that trains a text encoder first", first.where,
                      ": its model has no encoder that others could share");
        body_ = std::make_shared<const TrainedEncoder>(std::move(*encoder));
    }

    // The encoder of a translation has no folder of its own: only losses can stand beside it.
    void expect_fits_encoder(const RunPart& p) const {
        const std::string type = model_type_of(body_->folder.config);
        const auto encoders = text_encoders();
        if (std::any_of(encoders.begin(), encoders.end(),
                        [&](const TextEncoderEntry& e) { return type == e.model_type; }))
            return;
        std::string losses;
        for (const AuxiliaryTask& t : auxiliary_tasks()) {
            if (p.kind == t.name) return;
            losses += (losses.empty() ? "" : ", ") + std::string(t.name);
        }
        fail_with(ErrorKind::usage, "beside it can stand " + losses, p.where,
                  ": saves a model of its own, which the encoder of task 1 is not made for");
    }

    void make_parts(const RunSettings& run) {
        parts_.clear();
        std::set<std::string> names;
        for (std::string& text : tables_) {
            const std::string where = text_of("task ", parts_.size() + 1);
            Json given = parse_json(text, where);
            expect_input(given.is_object(), where, ": is not a table of settings");
            make_absolute(given);
            text = to_text(given);
            RunPart& p = parts_.emplace_back();
            make_part(given, run, p);
            if (!names.insert(p.name).second)
                fail_with(ErrorKind::usage, "name = \"…\" gives a task another name", p.where,
                          ": a task before it is called \"", p.name, "\" too");
        }
    }

    void make_part(const Json& given, const RunSettings& run, RunPart& p) {
        const std::size_t number = parts_.size();
        p.where = text_of("task ", number);
        const auto kind = given.find("task");
        if (kind == given.end() || !kind->is_string())
            fail_with(ErrorKind::usage, "task = \"classify\", \"tag\", \"slots\", …", p.where,
                      ": does not say which task it is");
        p.kind = kind->get<std::string>();
        p.where += " (" + p.kind + ")";
        p.trainer = trainer_named(p.kind, p.where);
        p.name = p.kind;
        p.run.describe(p.settings, p.trainer->metrics());
        for (const Setting& s : p.settings.all()) p.of_the_run.insert(s.name);
        p.trainer->describe(p.settings);
        Settings mixing;
        describe_mixing(mixing, p);
        for (const auto& [key, value] : given.items())
            if (key != "task") take(key, value, p, mixing);
        if (number == 1) hand_on(p);
        p.run.from = number == 1 ? run.from : the_first_task;
        if (p.run.train.empty() && p.trainer->needs_files())
            fail_with(ErrorKind::usage, "train = \"FILE\"", p.where, ": has no data");
        try {
            p.trainer->check(p.settings, p.run);
        } catch (const Error& e) {
            throw Error(p.where + ": " + e.what(), e.kind(), e.hint());
        }
    }

    static void describe_mixing(Settings& s, RunPart& p) {
        s.add("name", p.name, "of the task");
        s.add("weight", p.weight, "of its loss", {.min = 0});
        s.add("share", p.share, "batches for each batch of the first task",
              {.min = 0, .max = 1000});
        s.add("rate", p.rate, "of its head, times the run's learning rate", {.min = 0});
    }

    static void take(const std::string& key, const Json& value, RunPart& p, Settings& mixing) {
        const bool mixes = mixing.find(key) != nullptr;
        Setting* s = mixes ? mixing.find(key) : p.settings.find(key);
        if (!s) fail_with(ErrorKind::usage, "", p.where, ": there is no setting `", key, "`");
        if (!mixes && p.of_the_run.count(s->name) && !settings_of_a_part().count(s->name))
            fail_with(ErrorKind::usage, "move it to [train]", p.where, ": `", key,
                      "` is a setting of the whole run");
        try {
            if (s->is_list && value.is_array())
                for (const Json& one : value) s->set(value_text(one));
            else
                s->set(value_text(value));
        } catch (const Error& e) {
            throw Error(p.where + ": " + e.what(), e.kind(), e.hint());
        }
        s->given = true;
    }

    // What [train] says about the encoder goes to the task that makes it.
    void hand_on(RunPart& p) const {
        Settings own;
        EncoderMaking making;
        LayerRates rates;
        making.describe(own);
        rates.describe(own);
        for (const Setting& s : own.all()) {
            if (!settings_ || !settings_->given(s.name)) continue;
            Setting* to = p.settings.find(s.name);
            if (!to)
                refuse_without_effect(s.name, "with " + p.where + " as the first task",
                                      "leave it out");
            for (const Setting& from : settings_->all()) {
                if (from.name != s.name) continue;
                const std::string text = from.text();
                for (std::size_t at = 0; at <= text.size();) {  // a list has a line for each
                    const std::size_t end = std::min(text.find('\n', at), text.size());
                    to->set(text.substr(at, end - at));
                    at = end + 1;
                }
            }
            to->given = true;
        }
    }

    std::vector<std::string> tables_;
    EncoderMaking making_;  // declared here, used by the first task
    LayerRates rates_;
    const Settings* settings_ = nullptr;
    std::deque<RunPart> parts_;  // settings point into them
    std::shared_ptr<const TrainedEncoder> body_;
    std::string metric_;
    std::optional<TaskMix> mix_;
};

}  // namespace

std::unique_ptr<Trainer> make_multi_trainer() { return std::make_unique<MultiTrainer>(); }

}  // namespace fovea
