#include "fovea/cli/train.h"

#include <fmt/core.h>

#include <memory>

#include "fovea/base/files.h"
#include "fovea/cli/help.h"
#include "fovea/cli/options.h"
#include "fovea/cli/recipe.h"
#include "fovea/cli/search_flags.h"
#include "fovea/cli/terminal/interrupt.h"
#include "fovea/cli/terminal/progress.h"
#include "fovea/cli/terminal/train_display.h"
#include "fovea/ops/run_precision.h"
#include "fovea/tasks/seq2seq_train.h"

namespace fovea {
namespace {

struct TrainingFlags {
    std::string task = "translate", dump, train, dev, preset = "small", precision = "f32", config;
    std::string schedule = "inverse-sqrt", vocab = "bpe", positions, activation;
    Seq2SeqTraining t;
    SearchFlags search;
    double lr = 0;
    std::int64_t warmup = -1;
    float dropout = -1;
    bool separate = false, force = false, dry_run = false, pre_norm = false;
    int max_source = 0, max_target = 0;
    int encoder_layers = 0, decoder_layers = 0, d_model = 0, ffn = 0, heads = 0;
};

void add_flags(CLI::App& v, TrainingFlags& f) {
    v.add_option("--task", f.task, "what to learn")
        ->check(CLI::IsMember({"translate", "summarise"}));
    v.add_option("--train", f.train,
                 "pairs to learn from: .tsv, .csv, .jsonl (.gz), or a.txt,b.txt");
    v.add_option("--dev", f.dev, "pairs to measure on while training");
    v.add_option("--out", f.t.run.out, "the run's folder; the model will be OUT/model");
    v.add_option("--preset", f.preset, "size of the model")
        ->check(CLI::IsMember({"tiny", "small", "base", "big"}));
    v.add_option("--steps", f.t.run.steps, "stop after so many updates");
    v.add_option("--epochs", f.t.run.epochs, "stop after so many passes over the data");
    v.add_option("--minutes", f.t.run.minutes, "stop after so many minutes");
    v.add_option("--lr", f.lr, "highest learning rate");
    v.add_option("--precision", f.precision, "of matrix products")
        ->check(CLI::IsMember({"f32", "bf16"}));
    v.add_flag("--resume", f.t.run.resume, "go on from the run's newest checkpoint");
    v.add_option("--config", f.config, "flags from a recipe file (TOML)");
    v.add_flag("--dry-run", f.dry_run, "say what would be done: parameters, memory, batches");

    const auto more = [&](CLI::Option* o) { return o->group(more_group); };
    more(v.add_option("--from", f.t.from, "go on from this model folder instead of from scratch"));
    more(v.add_flag("--reverse", f.t.train.reverse, "swap source and target of the files"));
    more(v.add_option("--lead", f.t.train.lead,
                      "learn the source's first N words, not the target; 0: off")
             ->check(CLI::NonNegativeNumber));
    more(v.add_option("--source-key", f.t.train.source_key, "column or JSON key of the source"));
    more(v.add_option("--target-key", f.t.train.target_key, "column or JSON key of the target"));
    more(v.add_option("--skip-bad", f.t.train.skip_bad, "bad lines to pass over"));
    more(v.add_option("--limit", f.t.draw, "so many training pairs, drawn with --seed; 0: all")
             ->check(CLI::NonNegativeNumber));
    more(v.add_option("--vocab", f.vocab, "kind of vocabulary to train")
             ->check(CLI::IsMember({"bpe", "unigram", "words", "characters"})));
    more(v.add_option("--vocab-size", f.t.vocabulary.size, "tokens of the vocabulary"));
    more(v.add_flag("--lowercase", f.t.vocabulary.lowercase, "a vocabulary of lower-cased text"));
    more(v.add_flag("--separate-vocab", f.separate, "a vocabulary for each side"));
    more(v.add_option("--tokenizer", f.t.tokenizer, "a tokenizer to use instead"));
    more(v.add_option("--target-tokenizer", f.t.target_tokenizer, "another one for the target"));
    more(v.add_option("--max-tokens", f.t.batches.max_tokens, "tokens of a batch (longer side)"));
    more(v.add_option("--max-pairs", f.t.batches.max_examples,
                      "pairs of a batch at most; 0: no bound"));
    more(v.add_option("--accumulate", f.t.run.accumulate, "batches to one update"));
    more(v.add_option("--max-source", f.max_source, "longest source in tokens; 0: by the task"));
    more(v.add_option("--max-target", f.max_target, "longest target in tokens; 0: by the task"));
    more(v.add_option("--schedule", f.schedule, "shape of the learning rate")
             ->check(CLI::IsMember({"constant", "inverse-sqrt", "noam", "linear", "cosine"})));
    more(v.add_option("--warmup", f.warmup, "updates of rising rate"));
    more(v.add_option("--smoothing", f.t.smoothing, "label smoothing"));
    more(v.add_option("--dropout", f.dropout, "instead of the preset's"));
    more(v.add_option("--attention-dropout", f.t.config.attention_dropout, "on attention weights"));
    more(
        v.add_option("--activation-dropout", f.t.config.activation_dropout, "inside feed-forward"));
    more(v.add_option("--clip", f.t.run.clip, "longest gradient; 0: off"));
    more(v.add_option("--adam-beta1", f.t.run.adam.beta1, "of AdamW"));
    more(v.add_option("--adam-beta2", f.t.run.adam.beta2, "of AdamW"));
    more(v.add_option("--adam-eps", f.t.run.adam.eps, "of AdamW"));
    more(v.add_option("--weight-decay", f.t.run.adam.weight_decay,
                      "decoupled; not on norms and biases"));
    more(v.add_option("--ema", f.t.run.ema, "decay of a moving average that is saved; 0: off"));
    more(v.add_option("--eval-every", f.t.run.eval_every,
                      "updates between evaluations; 0: each epoch"));
    more(v.add_option("--save-every", f.t.run.save_every,
                      "updates between checkpoints; 0: each epoch"));
    more(v.add_option("--keep", f.t.run.keep, "checkpoints kept"));
    more(v.add_option("--patience", f.t.run.patience,
                      "evaluations without a better one before stopping"));
    more(v.add_option("--dev-limit", f.t.dev_limit, "dev pairs used while training; 0: all"));
    more(v.add_option("--encoder-layers", f.encoder_layers, "instead of the preset's"));
    more(v.add_option("--decoder-layers", f.decoder_layers, "instead of the preset's"));
    more(v.add_option("--d-model", f.d_model, "instead of the preset's"));
    more(v.add_option("--ffn", f.ffn, "instead of the preset's"));
    more(v.add_option("--heads", f.heads, "instead of the preset's"));
    more(v.add_flag("--pre-norm", f.pre_norm, "norm before each sublayer instead of after"));
    more(v.add_option("--activation", f.activation, "of feed-forward: relu, gelu, swish")
             ->check(CLI::IsMember({"relu", "gelu", "swish"})));
    more(v.add_option("--positions", f.positions, "position code")
             ->check(CLI::IsMember({"sinusoidal", "sinusoidal_halves", "learned", "relative",
                                    "rotary", "unit", "linear", "none"})));
    more(v.add_option("--max-relative", f.t.config.max_relative_position,
                      "relative positions: differences beyond it count as this one")
             ->check(CLI::Range(1, 1 << 16)));
    more(v.add_option("--dump", f.dump,
                      "with --dry-run: write weights and batches for another program"));
    more(v.add_flag("--allow-data-change", f.t.run.allow_data_change,
                    "resume although the data differ"));
    more(v.add_flag("--force", f.force, "overwrite an old run in OUT"));
    f.search.add_to(v);  // how the dev set is translated: rarely changed
    for (const char* rare : {"--beam", "--max-length", "--sample", "--epochs"})
        more(v.get_option(rare));
}

void settle(TrainingFlags& f) {
    if (f.train.empty())
        throw Error("fovea train: no data", ErrorKind::usage,
                    "fovea train --train pairs.tsv --dev dev.tsv --out run");
    if (f.t.run.out.empty() && !f.dry_run)
        throw Error("fovea train: --out is missing: where should the run go?", ErrorKind::usage,
                    "add --out run");
    Seq2SeqTraining& t = f.t;
    t.task = f.task;
    const auto fill = [](PairFiles& files, const std::string& argument) {
        const PairFiles named = pair_files_of(argument);
        files.path = named.path;
        files.target_path = named.target_path;
    };
    fill(t.train, f.train);
    t.dev = t.train;
    fill(t.dev, f.dev);
    TransformerConfig& c = t.config;
    c.apply_preset(f.preset);
    if (f.dropout >= 0) c.dropout = f.dropout;
    if (f.encoder_layers > 0) c.encoder_layers = f.encoder_layers;
    if (f.decoder_layers > 0) c.decoder_layers = f.decoder_layers;
    if (f.d_model > 0) c.d_model = f.d_model;
    if (f.ffn > 0) c.encoder_ffn_dim = c.decoder_ffn_dim = f.ffn;
    if (f.heads > 0) c.encoder_attention_heads = c.decoder_attention_heads = f.heads;
    c.normalize_before = f.pre_norm;
    if (!f.positions.empty()) c.positions = position_code_of(f.positions);
    if (f.activation == "gelu") c.activation_function = Act::gelu;
    if (f.activation == "swish") c.activation_function = Act::swish;
    const bool documents = f.task == "summarise";
    t.limits.source = f.max_source > 0 ? f.max_source : documents ? 400 : 256;
    t.limits.target = f.max_target > 0 ? f.max_target : documents ? 128 : 256;
    t.limits.cut_source = documents;
    c.max_position_embeddings = static_cast<int>(std::max<std::int64_t>(1024, t.limits.source));
    t.vocabulary.kind = vocabulary_kind_of(f.vocab);
    t.joint_vocabulary = !f.separate;
    t.batches.seed = t.run.seed = global_options().seed;
    t.run.schedule.kind = schedule_kind_of(f.schedule);
    t.run.schedule.d_model = c.d_model;
    t.run.schedule.total = t.run.steps;
    // Rates that hold for the presets: smaller models take larger steps.
    const bool small = c.d_model <= 256;
    t.run.schedule.peak = f.lr > 0 ? f.lr : f.schedule == "noam" ? 1.0 : small ? 1e-3 : 7e-4;
    t.run.schedule.warmup = f.warmup >= 0 ? f.warmup : small ? 1000 : 4000;
    if (t.run.steps <= 0 && t.run.epochs <= 0 && t.run.minutes <= 0) t.run.epochs = 10;
    SearchOptions defaults;
    defaults.beam = documents ? 4 : 5;
    defaults.max_length = static_cast<int>(t.limits.target);
    if (documents) defaults.no_repeat_ngram = 3;
    t.search = f.search.over(defaults);
}

void refuse_old_run(const TrainingFlags& f) {
    const std::string& out = f.t.run.out;
    if (f.t.run.resume || f.force || !file_exists(join_path(out, "metrics.jsonl"))) return;
    throw Error(out + ": holds a run already", ErrorKind::usage,
                "--resume goes on with it, --force starts over, or choose another --out");
}

void run(CLI::App& verb, TrainingFlags& f) {
    if (!f.config.empty()) apply_recipe(verb, f.config);
    settle(f);
    const bool quiet = global_options().quiet;
    const auto say = [&](const std::string& line) {
        if (!quiet) fmt::print(stderr, "{}\n", line);
    };
    if (!f.dry_run) refuse_old_run(f);
    set_run_precision(f.precision);
    Seq2SeqTrainer trainer(f.t, say);
    const Seq2SeqPlan plan = trainer.plan();
    const TransformerConfig& c = trainer.model().config;
    say(
        fmt::format("model: {} ({}+{} layers, d={}, ffn={}, {} heads), {} parameters   "
                    "change with --preset",
                    f.preset, c.encoder_layers, c.decoder_layers, c.d_model, c.encoder_ffn_dim,
                    c.encoder_attention_heads, rate_text(static_cast<double>(plan.parameters))));
    if (f.dry_run) {
        if (!f.dump.empty()) trainer.dump(f.dump, std::max<std::int64_t>(1, f.t.run.epochs));
        fmt::print(
            "parameters {}\npairs {}\nleft out {}\ntarget tokens per epoch {}\nupdates per epoch "
            "{}\n"
            "memory at the peak, about {:.1f} GB\n"
            "time, about {} an epoch\n",
            plan.parameters, plan.pairs, plan.dropped, plan.target_tokens,
            (plan.batches_per_epoch + f.t.run.accumulate - 1) / f.t.run.accumulate,
            plan.memory_bytes / 1e9, duration_text(trainer.seconds_per_epoch()));
        return;
    }
    const InterruptScope scope;
    TrainDisplay display(quiet);
    TrainResult r;
    trainer.set_config_text(recipe_text(verb));
    r = trainer.run(display.events());
    display.finish();
    if (r.end == TrainEnd::interrupted) {
        fmt::print(stderr,
                   "stopped at step {}; go on with: fovea train --config {} --out {} --resume\n",
                   r.step, join_path(f.t.run.out, "config.toml"), f.t.run.out);
        throw Interrupted{r.signal};
    }
    say(fmt::format("{} after {} updates, {}",
                    r.end == TrainEnd::stopped_early ? "stopped early" : "done", r.step,
                    duration_text(r.seconds)));
    const std::string model = join_path(f.t.run.out, "model");
    say(fmt::format("saved {}  |  try: fovea {} {} < texts.txt  |  fovea eval {} --test test.tsv",
                    model, f.task, model, model));
}

}  // namespace

void add_train_command(CLI::App& app) {
    CLI::App* v = app.add_subcommand("train", "Train a model from text files.");
    auto flags = std::make_shared<TrainingFlags>();
    add_flags(*v, *flags);
    set_examples(*v, {"fovea train --train train.tsv --dev dev.tsv --out run",
                      "fovea train --task summarise --train mail.jsonl --out run --minutes 30",
                      "fovea train --config run/config.toml --out run --resume"});
    v->callback([v, flags] { run(*v, *flags); });
}

}  // namespace fovea
