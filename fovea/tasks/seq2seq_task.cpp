#include "fovea/tasks/seq2seq_task.h"

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/tasks/search_settings.h"
#include "fovea/tasks/seq2seq_train.h"

namespace fovea {
namespace {

// Fixed by the model that --from goes on from.
constexpr const char* seq2seq_sizes[] = {"model",
                                         "attention",
                                         "score",
                                         "no-input-feeding",
                                         "copy",
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

// What one kind of network has and the other has not.
constexpr const char* of_transformers[] = {"ffn",         "attention-dropout", "activation-dropout",
                                           "pre-norm",    "activation",        "positions",
                                           "max-relative"};
constexpr const char* of_recurrence[] = {"attention", "score", "no-input-feeding"};

class Seq2SeqTaskTrainer : public Trainer {
public:
    explicit Seq2SeqTaskTrainer(const std::string& task) : t_(seq2seq_defaults(task, "small")) {}

    void describe(Settings& s) override {
        describe_data(s);
        describe_model(s);
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
        if (run.from.empty() && is_transformer())
            leave_out(s, of_recurrence, "with --model transformer: it is for gru and lstm");
        else if (run.from.empty())
            leave_out(s, of_transformers, "with --model " + model_);
        if (!t_.target_tokenizer.empty() && t_.tokenizer.empty())
            refuse_without_effect("target-tokenizer", "without --tokenizer", "give both");
        search_.over(t_.search);
    }

    void prepare(RunSettings& run, const Say& say) override {
        take_model();
        run.settle(seq2seq_run_defaults(width_of(run)));
        take_settings(run);
        trainer_.emplace(t_, say);
    }

    TrainSummary summary() const override {
        const Seq2SeqPlan p = trainer_->plan();
        TrainSummary s;
        s.model = (t_.from.empty() ? preset_ + ", " : "") + trainer_->model().network.sizes;
        s.parameters = p.parameters;
        s.records = p.pairs;
        s.dropped = p.dropped;
        s.batches_per_epoch = p.batches_per_epoch;
        s.tokens_per_epoch = p.target_tokens;
        s.memory_bytes = p.memory_bytes;
        return s;
    }

    TrainTask task() override { return trainer_->task(); }
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

    void describe_model(Settings& s) {
        s.add("model", model_, "kind of model",
              {.group = "model", .common = true, .choices = seq2seq_network_names()});
        s.add("attention", attention_,
              "gru, lstm: none, global, hard, window:W, local-p:W, expanded:W,M, hybrid:W",
              {.group = "model"});
        s.add("score", score_, "gru, lstm: of attention",
              {.group = "model", .choices = {"dot", "scaled", "general", "additive", "two-term"}});
        s.add("no-input-feeding", no_feeding_, "gru, lstm: outputs do not join the next input",
              {.group = "model"});
        s.add("copy", copy_, "copy words of the source: beside written ones, or only (a pointer)",
              {.group = "model", .choices = {"none", "mixed", "only"}});
        s.add("preset", preset_, "size of the model",
              {.group = "model", .common = true, .choices = {"tiny", "small", "base", "big"}});
        const auto size = [](double most) {
            return SettingOptions{
                .group = "model", .min = 1, .max = most, .otherwise = "the preset's"};
        };
        s.add("encoder-layers", encoder_layers_, "of the encoder", size(512));
        s.add("decoder-layers", decoder_layers_, "of the decoder", size(512));
        s.add("d-model", d_model_, "width of the model", size(1 << 16));
        s.add("ffn", ffn_, "width inside feed-forward", size(1 << 20));
        s.add("heads", heads_, "attention heads", size(1 << 16));
        SettingOptions share{.group = "model", .min = 0, .max = 1, .below_max = true};
        s.add("attention-dropout", t_.config.attention_dropout, "on attention weights", share);
        s.add("activation-dropout", t_.config.activation_dropout, "inside feed-forward", share);
        s.add("smoothing", t_.smoothing, "label smoothing", share);
        share.otherwise = "the preset's";
        s.add("dropout", dropout_, "of embeddings and sublayers", share);
        s.add("pre-norm", t_.config.normalize_before, "norm before each sublayer instead of after",
              {.group = "model"});
        s.add("activation", activation_, "of feed-forward",
              {.group = "model", .choices = {"relu", "gelu", "swish"}});
        s.add("positions", positions_, "position code",
              {.group = "model",
               .choices = {"sinusoidal", "sinusoidal_halves", "learned", "relative", "rotary",
                           "unit", "linear", "none"}});
        s.add("max-relative", t_.config.max_relative_position,
              "relative positions: differences beyond it count as this one",
              {.group = "model", .min = 1, .max = 1 << 16});
    }

    // Of the model to be made, or of the one to go on from.
    int width_of(const RunSettings& run) const {
        if (run.from.empty()) return *d_model_;
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

    bool is_transformer() const { return model_ == "transformer"; }

    // The preset with what was given over it; what it decides is then shown in config.toml.
    void take_model() {
        if (!is_transformer()) return take_recurrent_model();
        TransformerConfig c = t_.config;
        c.apply_preset(preset_);
        const auto choose = [](auto& given, auto& preset) {
            if (!given) given = preset;
            preset = *given;
        };
        choose(dropout_, c.dropout);
        choose(encoder_layers_, c.encoder_layers);
        choose(decoder_layers_, c.decoder_layers);
        choose(d_model_, c.d_model);
        choose(ffn_, c.encoder_ffn_dim);
        choose(heads_, c.encoder_attention_heads);
        c.decoder_ffn_dim = c.encoder_ffn_dim;
        c.decoder_attention_heads = c.encoder_attention_heads;
        c.positions = position_code_of(positions_);
        c.activation_function = activation_ == "gelu"    ? Act::gelu
                                : activation_ == "swish" ? Act::swish
                                                         : Act::relu;
        c.max_position_embeddings =
            static_cast<int>(std::max<std::int64_t>(1024, t_.limits.source));
        t_.config = c;
        if (copy_ == "none") return;
        t_.another = c.to_json();
        t_.another["copy"] = copy_;
    }

    void take_recurrent_model() {
        Seq2SeqChoice c{
            .preset = preset_,
            .attention = attention_,
            .score = score_,
            .copy = copy_,
            .input_feeding = !no_feeding_,
            .encoder_layers = encoder_layers_,
            .decoder_layers = decoder_layers_,
            .width = d_model_,
            .heads = heads_,
            .dropout = dropout_,
            .max_source = static_cast<int>(std::max<std::int64_t>(1024, t_.limits.source))};
        t_.another = seq2seq_network_named(model_).new_config(c);
        encoder_layers_ = c.encoder_layers;
        decoder_layers_ = c.decoder_layers;
        d_model_ = c.width;
        heads_ = c.heads;
        dropout_ = c.dropout;
    }

    Seq2SeqTraining t_;
    SearchSettings search_;
    std::string model_ = "transformer", attention_ = "global", score_ = "general", copy_ = "none";
    bool no_feeding_ = false;
    std::string preset_ = "small", vocab_ = "bpe", positions_ = "sinusoidal", activation_ = "relu";
    std::optional<float> dropout_;
    std::optional<int> encoder_layers_, decoder_layers_, d_model_, ffn_, heads_;
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
