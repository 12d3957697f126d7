#include "fovea/cli/train_flags.h"

#include "fovea/cli/help.h"
#include "fovea/cli/number_checks.h"

namespace fovea {
namespace {

using Flags = TrainingFlags;

CLI::Option* more(CLI::Option* option) { return option->group(more_group); }

void add_common(CLI::App& v, Flags& f) {
    v.add_option("--task", f.task, "what to learn")
        ->check(CLI::IsMember({"translate", "summarise"}));
    v.add_option("--train", f.train,
                 "pairs to learn from: .tsv, .csv, .jsonl (.gz), or a.txt,b.txt");
    v.add_option("--dev", f.dev,
                 "pairs to measure on while training; auto: 5 % of --train, at most 1000; none");
    v.add_option("--out", f.t.run.out, "the run's folder; the model will be OUT/model");
    v.add_option("--preset", f.preset, "size of the model")
        ->check(CLI::IsMember({"tiny", "small", "base", "big"}));
    v.add_option("--steps", f.steps, "stop after so many updates");
    v.add_option("--epochs", f.epochs, "stop after so many passes over the data")
        ->default_str("10 unless --steps or --minutes");
    v.add_option("--minutes", f.minutes,
                 "train for about so long: turned into updates before the first one");
    v.add_option("--lr", f.lr, "highest learning rate")
        ->default_str("1e-3 up to d=256, else 7e-4; noam 1");
    more(v.add_option("--precision", f.precision, "of matrix products")
             ->check(CLI::IsMember({"f32", "bf16"})));
    v.add_flag("--resume", f.t.run.resume,
               "go on from the run's newest checkpoint, with the run's own settings");
    v.add_option("--config", f.config, "flags from a recipe file (TOML)");
    v.add_flag("--dry-run", f.dry_run, "say what would be done: parameters, memory, time");
}

void add_data(CLI::App& v, Flags& f) {
    more(v.add_option("--from", f.t.from, "go on from this model folder instead of from scratch"));
    more(v.add_flag("--reverse", f.t.train.reverse, "swap source and target of the files"));
    more(v.add_option("--lead", f.t.train.lead,
                      "learn the source's first N words, not the target; 0: off"));
    more(v.add_option("--source-key", f.t.train.source_key, "column or JSON key of the source"));
    more(v.add_option("--target-key", f.t.train.target_key, "column or JSON key of the target"));
    more(v.add_option("--skip-bad", f.t.train.skip_bad, "bad lines to pass over"));
    more(v.add_option("--limit", f.t.draw, "so many training pairs, drawn with --seed; 0: all"));
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
    more(v.add_option("--max-source", f.max_source, "longest source in tokens")
             ->default_str("256; summarise 400"));
    more(v.add_option("--max-target", f.max_target, "longest target in tokens")
             ->default_str("256; summarise 128"));
}

void add_run(CLI::App& v, Flags& f) {
    more(v.add_option("--schedule", f.schedule,
                      "shape of the learning rate; linear and cosine fall to 0 at the run's end")
             ->check(CLI::IsMember({"constant", "inverse-sqrt", "noam", "linear", "cosine"})));
    more(v.add_option("--warmup", f.warmup, "updates of rising rate")
             ->default_str("a tenth of the run, at most 1000 up to d=256, else 4000"));
    more(v.add_option("--smoothing", f.t.smoothing, "label smoothing"));
    more(v.add_option("--clip", f.t.run.clip, "longest gradient; 0: off"));
    more(v.add_option("--adam-beta1", f.t.run.adam.beta1, "of AdamW"));
    more(v.add_option("--adam-beta2", f.t.run.adam.beta2, "of AdamW"));
    more(v.add_option("--adam-eps", f.t.run.adam.eps, "of AdamW"));
    more(v.add_option("--weight-decay", f.t.run.adam.weight_decay,
                      "decoupled; not on norms and biases; 0: off"));
    more(v.add_option("--ema", f.t.run.ema, "decay of a moving average that is saved; 0: off"));
    more(v.add_option("--eval-every", f.t.run.eval_every,
                      "updates between evaluations; 0: each epoch"));
    more(v.add_option("--metric", f.metric, "of the dev set: which model is kept")
             ->check(CLI::IsMember({"auto", "bleu", "chrf", "rouge", "exact", "loss"})));
    more(v.add_option("--save-every", f.t.run.save_every,
                      "updates between checkpoints; 0: each epoch"));
    more(v.add_option("--keep", f.t.run.keep, "checkpoints kept, besides the best"));
    more(v.add_option("--patience", f.t.run.patience,
                      "evaluations without a better one before stopping; 0: off"));
    more(v.add_option("--dev-limit", f.t.dev_limit, "dev pairs used while training; 0: all"));
    more(v.add_flag("--allow-data-change", f.t.run.allow_data_change,
                    "resume although the data differ"));
    more(v.add_flag("--force", f.t.run.force, "remove an old run in OUT first"));
    // Written to config.toml, so that minutes mean the same updates again.
    v.add_option("--planned-updates", f.planned_updates, "")->group(hidden_group);
    v.add_option("--planned-warmup", f.planned_warmup, "")->group(hidden_group);
}

void add_model(CLI::App& v, Flags& f) {
    const char* by_preset = "the preset's";
    more(v.add_option("--dropout", f.dropout, "of embeddings and sublayers")
             ->default_str(by_preset));
    more(v.add_option("--attention-dropout", f.t.config.attention_dropout, "on attention weights"));
    more(
        v.add_option("--activation-dropout", f.t.config.activation_dropout, "inside feed-forward"));
    more(v.add_option("--encoder-layers", f.encoder_layers, "of the encoder")
             ->default_str(by_preset));
    more(v.add_option("--decoder-layers", f.decoder_layers, "of the decoder")
             ->default_str(by_preset));
    more(v.add_option("--d-model", f.d_model, "width of the model")->default_str(by_preset));
    more(v.add_option("--ffn", f.ffn, "width inside feed-forward")->default_str(by_preset));
    more(v.add_option("--heads", f.heads, "attention heads")->default_str(by_preset));
    more(v.add_flag("--pre-norm", f.t.config.normalize_before,
                    "norm before each sublayer instead of after"));
    more(v.add_option("--activation", f.activation, "of feed-forward")
             ->check(CLI::IsMember({"relu", "gelu", "swish"})));
    more(v.add_option("--positions", f.positions, "position code")
             ->check(CLI::IsMember({"sinusoidal", "sinusoidal_halves", "learned", "relative",
                                    "rotary", "unit", "linear", "none"})));
    more(v.add_option("--max-relative", f.t.config.max_relative_position,
                      "relative positions: differences beyond it count as this one"));
    more(v.add_option("--dump", f.dump,
                      "with --dry-run: write weights and batches for another program"));
}

// How the dev set is translated: rarely changed.
void add_search(CLI::App& v, Flags& f) {
    std::set<const CLI::Option*> before;
    for (const CLI::Option* o : v.get_options()) before.insert(o);
    f.search.add_to(v);
    for (const CLI::Option* o : v.get_options())
        if (!before.count(o)) f.search_flags.insert(o->get_lnames()[0]);
    for (const char* rare : {"--beam", "--max-length", "--sample"}) more(v.get_option(rare));
    v.get_option("--beam")->default_str("5; summarise 4; 1 while training");
    v.get_option("--max-length")->default_str("as --max-target");
}

}  // namespace

void add_training_flags(CLI::App& verb, TrainingFlags& flags) {
    add_common(verb, flags);
    add_data(verb, flags);
    add_run(verb, flags);
    add_model(verb, flags);
    add_search(verb, flags);
}

}  // namespace fovea
