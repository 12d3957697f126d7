// From flags and recipes to one training, and back to a recipe that says everything.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/cli/options.h"
#include "fovea/cli/recipe.h"
#include "fovea/cli/train_flags.h"

namespace fovea {
namespace {

using Names = std::vector<const char*>;

// Fixed by the model that --from goes on from.
const Names of_the_model = {"preset",
                            "vocab",
                            "vocab-size",
                            "lowercase",
                            "separate-vocab",
                            "tokenizer",
                            "target-tokenizer",
                            "dropout",
                            "attention-dropout",
                            "activation-dropout",
                            "encoder-layers",
                            "decoder-layers",
                            "d-model",
                            "ffn",
                            "heads",
                            "pre-norm",
                            "activation",
                            "positions",
                            "max-relative"};

bool given(const CLI::App& verb, const char* name) {
    return verb.get_option(std::string("--") + name)->count() > 0;
}

// A budget on the command line replaces a recipe's, with what that was found to mean.
std::set<std::string> replaced_keys(const CLI::App& verb) {
    for (const char* name : {"steps", "epochs", "minutes"})
        if (given(verb, name))
            return {"steps", "epochs", "minutes", "planned-updates", "planned-warmup"};
    return {};
}

void refuse_flags_without_effect(const CLI::App& verb, const TrainingFlags& f) {
    const auto refuse = [](const char* name, const std::string& why, const std::string& hint) {
        throw Error(fmt::format("train: --{} has no effect {}", name, why), ErrorKind::usage, hint);
    };
    if (!f.t.from.empty())
        for (const char* name : of_the_model)
            if (given(verb, name))
                refuse(name, "with --from: sizes and vocabulary are those of the model",
                       fmt::format("leave out --{} or --from", name));
    if (!f.t.tokenizer.empty())
        for (const char* name : {"vocab", "vocab-size", "lowercase", "separate-vocab"})
            if (given(verb, name))
                refuse(name, "with --tokenizer", fmt::format("leave out --{}", name));
    if (!f.t.target_tokenizer.empty() && f.t.tokenizer.empty())
        refuse("target-tokenizer", "without --tokenizer", "give both");
    if (!f.dump.empty() && !f.dry_run) refuse("dump", "without --dry-run", "add --dry-run");
    if (f.dev == "none" && f.metric != "auto")
        refuse("metric", "with --dev none", "give a --dev file");
}

void apply_recipes(CLI::App& verb, TrainingFlags& f) {
    if (!f.config.empty()) apply_recipe(verb, f.config, replaced_keys(verb));
    refuse_flags_without_effect(verb, f);
    if (!f.t.run.resume || f.t.run.out.empty()) return;
    const std::string own = join_path(f.t.run.out, "config.toml");
    if (file_exists(own))
        apply_recipe(verb, own, replaced_keys(verb));
    else if (f.train.empty())
        throw Error(f.t.run.out + ": holds no run to resume (no config.toml)", ErrorKind::not_found,
                    "give the folder that --out named, or all flags again");
}

template <class T>
void want_flag(const std::optional<T>& value, bool ok, const char* flag, const char* range) {
    if (value && !ok)
        fail_with(ErrorKind::usage, text_of(flag, " takes ", range), "train: ", flag, " is ",
                  *value);
}

void take_budget(TrainingFlags& f) {
    want_flag(f.steps, f.steps.value_or(1) >= 1, "--steps", "a number of updates from 1");
    want_flag(f.epochs, f.epochs.value_or(1) >= 1, "--epochs", "a number of passes from 1");
    want_flag(f.minutes, f.minutes.value_or(1) > 0, "--minutes", "a number above 0");
    want_flag(f.lr, f.lr.value_or(1) > 0, "--lr", "a number above 0");
    want_flag(f.warmup, f.warmup.value_or(0) >= 0, "--warmup", "a number of updates from 0");
    TrainOptions& run = f.t.run;
    run.steps = f.steps.value_or(0);
    run.epochs = f.epochs.value_or(0);
    run.minutes = f.minutes.value_or(0);
    if (!f.steps && !f.epochs && !f.minutes) run.epochs = 10;
    // Only minutes need it: updates and epochs mean the same everywhere.
    const bool planned = f.minutes && f.planned_updates.value_or(0) > 0;
    run.planned_updates = planned ? *f.planned_updates : 0;
    run.schedule.kind = schedule_kind_of(f.schedule);
    run.schedule.peak = f.lr.value_or(0);
    run.schedule.warmup = f.warmup ? *f.warmup : planned ? f.planned_warmup.value_or(-1) : -1;
}

void take_model(TrainingFlags& f, const TransformerConfig& preset) {
    TransformerConfig& c = f.t.config;
    const TransformerConfig flags = c;
    c = preset;
    c.attention_dropout = flags.attention_dropout;
    c.activation_dropout = flags.activation_dropout;
    c.max_relative_position = flags.max_relative_position;
    c.normalize_before = flags.normalize_before;
    c.dropout = f.dropout.value_or(c.dropout);
    c.encoder_layers = f.encoder_layers.value_or(c.encoder_layers);
    c.decoder_layers = f.decoder_layers.value_or(c.decoder_layers);
    c.d_model = f.d_model.value_or(c.d_model);
    c.encoder_ffn_dim = c.decoder_ffn_dim = f.ffn.value_or(c.encoder_ffn_dim);
    c.encoder_attention_heads = c.decoder_attention_heads =
        f.heads.value_or(c.encoder_attention_heads);
    c.positions = position_code_of(f.positions);
    if (f.activation == "gelu") c.activation_function = Act::gelu;
    if (f.activation == "swish") c.activation_function = Act::swish;
    c.max_position_embeddings = static_cast<int>(std::max<std::int64_t>(1024, f.t.limits.source));
}

std::string absolute(const std::string& path) {
    return path.empty() || path == "-"
               ? path
               : std::filesystem::absolute(path).lexically_normal().string();
}

std::string absolute_pairs(const std::string& argument) {
    const PairFiles files = pair_files_of(argument);
    return files.target_path.empty() ? absolute(files.path)
                                     : absolute(files.path) + "," + absolute(files.target_path);
}

}  // namespace

void settle(CLI::App& verb, TrainingFlags& f) {
    apply_recipes(verb, f);
    if (f.train.empty())
        throw Error("fovea train: no data", ErrorKind::usage,
                    "fovea train --train pairs.tsv --dev dev.tsv --out run");
    if (f.t.run.out.empty() && !f.dry_run)
        throw Error("fovea train: --out is missing: where should the run go?", ErrorKind::usage,
                    "add --out run");
    Seq2SeqTraining& t = f.t;
    const Seq2SeqTraining defaults = seq2seq_defaults(f.task, f.preset);
    t.task = f.task;
    const auto fill = [](PairFiles& files, const std::string& argument) {
        const PairFiles named = pair_files_of(argument);
        files.path = named.path;
        files.target_path = named.target_path;
    };
    fill(t.train, f.train);
    t.dev = t.train;
    t.split_dev = f.dev == "auto";
    fill(t.dev, f.dev == "auto" || f.dev == "none" ? "" : f.dev);
    t.metric = text_metric_of(f.metric);
    t.limits = defaults.limits;
    if (f.max_source) t.limits.source = *f.max_source;
    if (f.max_target) t.limits.target = *f.max_target;
    take_model(f, defaults.config);
    t.vocabulary.kind = vocabulary_kind_of(f.vocab);
    t.joint_vocabulary = !f.separate;
    t.batches.seed = t.run.seed = global_options().seed;
    take_budget(f);
    SearchOptions search = defaults.search;
    search.max_length = static_cast<int>(std::max<std::int64_t>(1, t.limits.target));
    t.search = f.search.over(search);
    t.check();
}

std::string run_recipe(const CLI::App& verb, const TrainingFlags& f, const TrainOptions& run) {
    RecipeValues values;
    const TransformerConfig& c = f.t.config;
    const auto put = [&](const char* name, const auto& value) {
        values.resolved[name] = fmt::format("{}", value);
    };
    put("train", absolute_pairs(f.train));
    if (f.dev != "auto" && f.dev != "none") put("dev", absolute_pairs(f.dev));
    put("out", absolute(run.out));
    for (const auto& [name, path] : {std::pair{"from", f.t.from},
                                     {"tokenizer", f.t.tokenizer},
                                     {"target-tokenizer", f.t.target_tokenizer}})
        if (!path.empty()) put(name, absolute(path));
    put("lr", run.schedule.peak);
    put("max-source", f.t.limits.source);
    put("max-target", f.t.limits.target);
    put("dropout", c.dropout);
    put("encoder-layers", c.encoder_layers);
    put("decoder-layers", c.decoder_layers);
    put("d-model", c.d_model);
    put("ffn", c.encoder_ffn_dim);
    put("heads", c.encoder_attention_heads);
    if (!f.steps && !f.minutes) put("epochs", run.epochs);
    // A warm-up that was given stays; one that follows the budget goes when the budget does.
    put("planned-updates", run.planned_updates);
    put(f.warmup ? "warmup" : "planned-warmup", run.schedule.warmup);
    put("beam", f.t.search.beam);
    put("max-length", f.t.search.max_length);

    values.left_out = {"config", "resume", "force", "dry-run", "dump", "allow-data-change"};
    for (const std::string& name : f.search_flags) values.only_if_given.insert(name);
    for (const char* name : {"epochs", "warmup"}) values.only_if_given.insert(name);
    if (!f.t.from.empty())
        for (const char* name : of_the_model) values.left_out.insert(name);
    if (!f.t.tokenizer.empty())
        for (const char* name : {"vocab", "vocab-size", "lowercase", "separate-vocab"})
            values.left_out.insert(name);
    return recipe_text(verb, values);
}

std::string changed_settings(const std::string& old_path, const std::string& new_text) {
    std::map<std::string, std::string> before;
    for (auto& [key, value] : read_recipe(old_path, "train")) before[key] = value;
    std::string changes;
    for (const auto& [key, value] : parse_recipe(new_text, "train")) {
        const auto old = before.find(key);
        if (key == "planned-updates" || key == "planned-warmup" || key == "out") continue;
        if (old != before.end() && old->second == value) continue;
        changes += fmt::format("{}{} {} → {}", changes.empty() ? "" : ", ", key,
                               old == before.end() ? "unset" : old->second, value);
    }
    return changes;
}

}  // namespace fovea
