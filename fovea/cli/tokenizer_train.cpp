// fovea tokenizer train
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "fovea/base/clock.h"
#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/base/utf8.h"
#include "fovea/cli/help.h"
#include "fovea/cli/options.h"
#include "fovea/cli/terminal/interrupt.h"
#include "fovea/cli/terminal/progress.h"
#include "fovea/cli/tokenizer.h"
#include "fovea/text/special_tokens.h"
#include "fovea/text/tokenizer.h"
#include "fovea/text/train/train_tokenizer.h"

namespace fovea {
namespace {

struct VocabularyFlags {
    std::vector<std::string> files;
    std::string model, like, out = "tokenizer.json", format;
    std::int64_t vocab_size = 0, min_frequency = -1, limit_alphabet = -1, max_token_length = 0;
    std::string initial_alphabet, memory = "2G";
    std::vector<std::string> special;
    bool force = false;
};

// "800", "64M", "2G": bytes.
std::int64_t bytes_of(const std::string& text) {
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
    const std::string unit = text.substr(digits);
    const int shift = unit.empty()                   ? 0
                      : unit == "K" || unit == "KiB" ? 10
                      : unit == "M" || unit == "MiB" ? 20
                      : unit == "G" || unit == "GiB" ? 30
                                                     : -1;
    if (digits == 0 || digits > 9 || shift < 0) {
        fail_with(ErrorKind::usage, "write it as in 512M or 2G", "--memory: \"", text,
                  "\" is not a size");
    }
    return std::stoll(text.substr(0, digits)) << shift;
}

std::string recipe_of(const VocabularyFlags& f) {
    if (!f.like.empty()) return f.like;
    if (f.model == "wordpiece") return "bert-uncased";
    if (f.model == "unigram") return "t5";
    if (f.model == "word") return "word";
    return "gpt2";
}

const char* name_of(TrainedModel m) {
    switch (m) {
        case TrainedModel::bpe:
            return "bpe";
        case TrainedModel::wordpiece:
            return "wordpiece";
        case TrainedModel::unigram:
            return "unigram";
        case TrainedModel::word:
            return "word";
    }
    return "";
}

TokenizerTraining training_of(const VocabularyFlags& f) {
    TokenizerTraining t = training_like(recipe_of(f));
    if (!f.model.empty() && f.model != name_of(t.model)) {
        fail_with(ErrorKind::usage, "leave one of the two out", "--like ", f.like, " is a ",
                  name_of(t.model), " model, but --model says ", f.model);
    }
    if (f.vocab_size > 0) t.vocab_size = f.vocab_size;
    if (f.min_frequency >= 0) t.min_frequency = f.min_frequency;
    if (f.limit_alphabet >= 0) t.limit_alphabet = f.limit_alphabet;
    if (f.max_token_length > 0) t.max_token_length = f.max_token_length;
    t.memory_limit = bytes_of(f.memory);
    for (std::size_t at = 0; at < f.initial_alphabet.size();)
        t.initial_alphabet.push_back(encode_utf8(next_code_point(f.initial_alphabet, at)));
    for (const std::string& s : f.special)
        t.special_tokens.push_back(special_token(s, static_cast<TokenId>(t.special_tokens.size())));
    return t;
}

// One progress line a stage.
class StageProgress {
public:
    void operator()(const TrainProgress& p) {
        throw_if_interrupted();
        if (!line_ || p.stage != stage_) {
            line_.reset();
            stage_ = p.stage;
            line_ = std::make_unique<Progress>(
                stage_, p.total, std::string(p.unit),
                ProgressOptions{.quiet = global_options().quiet, .now = {}});
        }
        line_->update(p.done);
    }
    void finish() { line_.reset(); }

private:
    std::string stage_;
    std::unique_ptr<Progress> line_;
};

void check_paths(const VocabularyFlags& f) {
    const std::string folder = std::filesystem::path(f.out).parent_path().string();
    if (!folder.empty() && !is_folder(folder))
        fail_with(ErrorKind::not_found, "make it first, or name another place with --out", folder,
                  ": no such folder");
    if (is_folder(f.out)) fail_with(ErrorKind::usage, "name a file in it", f.out, " is a folder");
    if (f.out != "-" && file_exists(f.out) && !f.force)
        fail_with(ErrorKind::usage, "--force overwrites it, --out names another", f.out,
                  " exists already");
    for (const std::string& file : f.files) {
        if (file != "-" && !file_exists(file))
            fail_with(ErrorKind::not_found, "\"-\" is standard input", file, ": no such file");
    }
    if (std::count(f.files.begin(), f.files.end(), "-") > 1)
        fail_with(ErrorKind::usage, "name it once", "standard input can be read only once");
}

void train(const VocabularyFlags& f) {
    check_paths(f);
    TokenizerTraining training = training_of(f);
    const InterruptScope interruptible;  // nothing is written before the end: stopping is safe
    StageProgress progress;
    training.progress = [&](const TrainProgress& p) { progress(p); };
    const Stopwatch watch;
    TrainingReport report;
    TokenizerSpec spec = train_tokenizer(f.files, training, &report);
    progress.finish();

    const bool as_model = f.out.ends_with(".model") || f.out.ends_with(".spm");
    const std::string sentencepiece =
        as_model ? write_sentencepiece(to_sentencepiece(spec)) : std::string();
    const Tokenizer tokenizer(std::move(spec));
    const std::int64_t tokens = tokenizer.vocab_size();
    const std::string text = as_model ? sentencepiece : tokenizer.to_json();
    if (f.out == "-") {
        std::cout << text;
        return;
    }
    write_file_atomically(f.out, text);
    if (f.format == "json") {
        Json j = {{"schema", "fovea.tokenizer.train"},
                  {"version", 1},
                  {"file", f.out},
                  {"model", name_of(training.model)},
                  {"like", recipe_of(f)},
                  {"vocab_size", tokens},
                  {"words", report.words},
                  {"different_words", report.different_words},
                  {"undercount", report.undercount},
                  {"seconds", watch.seconds()}};
        fmt::print("{}\n", to_text(j));
        return;
    }
    if (global_options().quiet) return;
    fmt::print(stderr, "{} words, {} different; {} tokens ({} asked for) in {}\n", report.words,
               report.different_words, tokens, training.vocab_size, duration_text(watch.seconds()));
    if (report.undercount > 0) {
        fmt::print(stderr,
                   "note: the words did not all fit in --memory {}: words seen {} times or fewer "
                   "may be missing\n",
                   f.memory, report.undercount);
    }
    fmt::print(stderr, "saved {}  |  try: echo \"some text\" | fovea tokenizer encode {}\n", f.out,
               f.out);
}

}  // namespace

void add_tokenizer_train_command(CLI::App& tokenizer) {
    auto f = std::make_shared<VocabularyFlags>();
    CLI::App& verb = *tokenizer.add_subcommand(
        "train", "Learn a vocabulary from text files and write a tokenizer.json.");
    verb.add_option("FILES", f->files, "text files, .gz too; - is standard input")
        ->required()
        ->type_name("FILE");
    verb.add_option("--model", f->model, "kind of vocabulary; bpe where --like does not say")
        ->check(CLI::IsMember({"bpe", "wordpiece", "unigram", "word"}))
        ->type_name("KIND");
    verb.add_option("--like", f->like,
                    "whose normaliser, splitting, special tokens and template it gets; else gpt2 "
                    "for bpe, bert-uncased for wordpiece, t5 for unigram")
        ->check(CLI::IsMember(training_recipes()))
        ->type_name("RECIPE");
    verb.add_option("--vocab-size", f->vocab_size,
                    "tokens, special ones included; 0 = the recipe's")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{10'000'000}))
        ->type_name("N");
    verb.add_option("--out", f->out, "where to write; NAME.model writes SentencePiece's format")
        ->type_name("FILE");
    verb.add_flag("--force", f->force, "overwrite --out");
    verb.add_option("--min-frequency", f->min_frequency,
                    "least count of a pair that is merged, or of a word; -1 = the recipe's")
        ->type_name("N");
    verb.add_option("--special", f->special, "further special tokens")->type_name("TOKEN");
    verb.add_option("--limit-alphabet", f->limit_alphabet,
                    "keep only the N most frequent characters; -1 = the recipe's")
        ->type_name("N");
    verb.add_option("--initial-alphabet", f->initial_alphabet,
                    "characters to keep even where the text has none of them")
        ->group(more_group)
        ->type_name("CHARACTERS");
    verb.add_option("--max-token-length", f->max_token_length,
                    "longest token in characters; 0 = no limit, 16 for unigram")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{100'000}))
        ->group(more_group)
        ->type_name("N");
    verb.add_option("--memory", f->memory,
                    "the program stays below this (plus 1 KB for each token of the vocabulary), "
                    "whatever the text: where the words do not fit, the rarest are dropped; at "
                    "least 64M, usually 2G")
        ->group(more_group)
        ->type_name("SIZE");
    add_format_options(verb, f->format, {"text", "json"});
    set_examples(verb, {"fovea tokenizer train corpus.txt --vocab-size 8000 --out tokenizer.json",
                        "fovea tokenizer train news/*.txt.gz --model wordpiece --vocab-size 30000",
                        "zcat dump.gz | fovea tokenizer train - --like llama --out spm.model"});
    verb.callback([f] { train(*f); });
}

}  // namespace fovea
