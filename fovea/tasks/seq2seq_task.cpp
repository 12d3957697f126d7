#include "fovea/tasks/seq2seq_task.h"

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/tasks/search_settings.h"
#include "fovea/tasks/seq2seq_model_settings.h"
#include "fovea/tasks/seq2seq_train.h"

namespace fovea {
namespace {

// Fixed by the model that --from goes on from.
constexpr const char* seq2seq_sizes[] = {"model",
                                         "attention",
                                         "cross-attention",
                                         "decoder-attention",
                                         "wait-k",
                                         "score",
                                         "no-input-feeding",
                                         "copy",
                                         "coverage",
                                         "reverse-share",
                                         "preset",
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

// Reading documents that an encoder of windows can afford, where --max-source says nothing.
constexpr std::int64_t long_document = 4096;

class Seq2SeqTaskTrainer : public Trainer {
public:
    explicit Seq2SeqTaskTrainer(const std::string& task) : t_(seq2seq_defaults(task, "small")) {}

    void describe(Settings& s) override {
        describe_data(s);
        model_.describe(s, t_);
        search_.describe(s, true);
        s.find("beam")->options.otherwise = text_of(t_.search.beam, "; 1 while training");
        s.find("max-length")->options.otherwise = "as --max-target";
    }

    std::vector<std::string> metrics() const override { return {"bleu", "chrf", "rouge", "exact"}; }

    void check(Settings& s, const RunSettings& run) override {
        static constexpr const char* of_a_new_vocabulary[] = {"vocab", "vocab-size", "lowercase",
                                                              "separate-vocab"};
        if (!run.from.empty())
            leave_out(s, seq2seq_sizes, "with --from: sizes and vocabulary are those of the model");
        else if (!t_.tokenizer.empty())
            leave_out(s, of_a_new_vocabulary, "with --tokenizer");
        if (run.from.empty()) {
            model_.check(s, t_);
            if (t_.task == "summarise" && !all_global(t_.config.encoder_attention) &&
                !s.given("max-source"))
                t_.limits.source = long_document;
        }
        if (!t_.target_tokenizer.empty() && t_.tokenizer.empty())
            refuse_without_effect("target-tokenizer", "without --tokenizer", "give both");
        search_.over(t_.search);
    }

    void prepare(RunSettings& run, const Say& say) override {
        model_.take(t_);
        run.settle(seq2seq_run_defaults(width_of(run)));
        take_settings(run);
        trainer_.emplace(t_, say);
    }

    TrainSummary summary() const override {
        const Seq2SeqPlan p = trainer_->plan();
        TrainSummary s;
        s.model = (t_.from.empty() ? model_.preset + ", " : "") + trainer_->model().network.sizes;
        s.parameters = p.parameters;
        s.records = p.pairs;
        s.dropped = p.dropped;
        s.batches_per_epoch = p.batches_per_epoch;
        s.tokens_per_epoch = p.target_tokens;
        s.memory_bytes = p.memory_bytes;
        return s;
    }

    TrainTask task() override { return trainer_->task(); }
    std::optional<TrainedEncoder> trained_encoder() const override {
        return trainer_->trained_encoder();
    }
    void dump(const std::string& folder, std::int64_t epochs) const override {
        trainer_->dump(folder, epochs);
    }

private:
    void describe_data(Settings& s) {
        s.add("reverse", t_.train.reverse, "swap source and target of the files",
              {.group = "data"});
        s.add("lead", t_.train.lead, "learn the source's first N words, not the target; 0: off",
              {.group = "data", .min = 0});
        s.add("source-key", t_.train.source_key, "column or JSON key of the source",
              {.group = "data", .otherwise = "guessed"});
        s.add("target-key", t_.train.target_key, "column or JSON key of the target",
              {.group = "data", .otherwise = "guessed"});
        s.add("max-source", t_.limits.source, "longest source in tokens",
              {.group = "data", .min = 2});
        s.add("max-target", t_.limits.target, "longest target in tokens",
              {.group = "data", .min = 2});
        const auto of_vocabulary = [](double min = 0) {
            return SettingOptions{.group = "vocabulary", .min = min};
        };
        s.add("vocab", vocab_, "kind of vocabulary to train",
              {.group = "vocabulary", .choices = {"bpe", "unigram", "words", "characters"}});
        s.add("vocab-size", t_.vocabulary.size, "tokens of the vocabulary", of_vocabulary(1));
        s.add("lowercase", t_.vocabulary.lowercase, "a vocabulary of lower-cased text",
              of_vocabulary());
        s.add("separate-vocab", separate_, "a vocabulary for each side", of_vocabulary());
        const SettingOptions path{.group = "vocabulary", .is_path = true};
        s.add("tokenizer", t_.tokenizer, "a tokenizer to use instead", path);
        s.add("target-tokenizer", t_.target_tokenizer, "another one for the target", path);
    }

    // Of the model to be made, or of the one to go on from.
    int width_of(const RunSettings& run) const {
        if (run.from.empty()) return *model_.d_model;
        const std::string path = join_path(find_model_folder(run.from), "config.json");
        ParameterStore shapes(ParameterStore::Mode::check);
        Rng unused;
        const Json config = read_json(path);
        return seq2seq_network_of(config, path).make(config, path, Params(shapes, unused)).width;
    }

    void take_settings(const RunSettings& run) {
        t_.from = run.from;
        t_.vectors = run.vectors;
        t_.precision = precision_of(run.precision);
        const auto fill = [](PairFiles& files, const std::vector<std::string>& paths) {
            const PairFiles named = pair_files_of(paths[0]);
            files.path = named.path;
            files.target_path = named.target_path;
            files.more_paths.assign(paths.begin() + 1, paths.end());
        };
        t_.train.skip_bad = run.skip_bad;
        fill(t_.train, run.train);
        t_.dev = t_.train;
        t_.dev.more_paths.clear();
        t_.split_dev = run.dev == "auto";
        fill(t_.dev, {run.has_dev_file() ? run.dev : ""});
        t_.draw = run.limit;
        t_.dev_limit = static_cast<int>(run.dev_limit);
        t_.metric = text_metric_of(run.metric);
        t_.vocabulary.kind = vocabulary_kind_of(vocab_);
        t_.joint_vocabulary = !separate_;
        t_.batches = run.batches;
        t_.batches.seed = run.options.seed;
        t_.run = run.options;
        SearchOptions search = t_.search;
        search.max_length = static_cast<int>(t_.limits.target);
        t_.search = search_.over(search);
        search_.beam = t_.search.beam;
        search_.max_length = t_.search.max_length;
    }

    Seq2SeqTraining t_;
    SearchSettings search_;
    Seq2SeqModelSettings model_;
    std::string vocab_ = "bpe";
    bool separate_ = false;
    std::optional<Seq2SeqTrainer> trainer_;
};

}  // namespace

std::unique_ptr<Trainer> make_translate_trainer() {
    return std::make_unique<Seq2SeqTaskTrainer>("translate");
}
std::unique_ptr<Trainer> make_summarise_trainer() {
    return std::make_unique<Seq2SeqTaskTrainer>("summarise");
}

}  // namespace fovea
