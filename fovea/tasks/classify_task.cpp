// Training a classifier, behind the interface of tasks. (Prediction: classify_predict.cpp.)
#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/files.h"
#include "fovea/data/split.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/ops/loss/loss.h"
#include "fovea/tasks/classify.h"
#include "fovea/tasks/classify_data.h"
#include "fovea/tasks/classify_defaults.h"
#include "fovea/tasks/encoder_sizes.h"
#include "fovea/tasks/encoder_training.h"
#include "fovea/tasks/start_vectors.h"
#include "fovea/tasks/training_data.h"
#include "fovea/tasks/vocabulary_choice.h"

namespace fovea {
namespace {

class ClassifyTrainer : public Trainer {
public:
    void describe(Settings& s) override {
        data_.describe(s);
        std::vector<std::string> models = text_encoder_names();
        models.insert(models.begin(), "auto");
        s.add(
            "model", model_name_,
            "what reads the text; auto: linear (bag where texts and labels are many), transformer "
            "where sizes of one are given, bert for two texts",
            {.group = "model", .common = true, .choices = models});
        choice_.describe(s);
        s.add("pool", pool_,
              "how the rows of a text become one vector (model: its own head where it has one, "
              "else that which suits it)",
              {.group = "model", .common = true, .choices = pool_choices()});
        s.add("smoothing", smoothing_, "label smoothing",
              {.group = "model", .min = 0, .max = 1, .below_max = true});
        s.add("class-weights", class_weights_,
              "balanced: rare labels weigh as much as frequent ones together",
              {.group = "model", .choices = {"none", "balanced"}});
        s.add("label-words", label_words_,
              "the query of each class begins as the words of its label (label-query)",
              {.group = "model"});
        s.add("tune-thresholds", tune_, "multi-label: the thresholds of best F1 on the dev set",
              {.group = "model"});
        vocabulary_.describe(s);
        rates_.describe(s);
    }

    std::vector<std::string> metrics() const override {
        return {"accuracy", "macro_f1", "micro_f1"};
    }

    std::vector<Knob> knobs() const override {
        return {{"model", {"cnn", "rnn", "transformer"}},
                {"lr", {"x3", "x0.3"}},
                {"dropout", {"0.1", "0.5"}},
                {"preset", {"small"}}};
    }

    void check(Settings& s, const RunSettings& run) override {
        settings_ = &s;
        static constexpr const char* of_the_model[] = {
            "model",  "preset", "layers",     "d-model",       "ffn",       "heads",
            "hidden", "vocab",  "vocab-size", "min-frequency", "lowercase", "tokenizer"};
        if (!run.from.empty())
            leave_out(s, of_the_model, "with --from: sizes and vocabulary are those of the model");
    }

    void prepare(RunSettings& run, const Say& say) override {
        run_ = run;
        data_.read(run, say);
        counts_ = TextCounts::of(data_.texts());
        counts_.labels = static_cast<std::int64_t>(data_.counts.size());
        choose_model(say);
        if (keeps_last() && run.options.patience == 0)
            say(text_of(
                "data: ", data_.dev.size(),
                " held-out records are too few to choose a model by, so the last one is kept"));
        check_problem();
        make_model(say);
        say_cut(say);
        std::vector<std::int64_t> lengths;
        for (const EncodedText& e : examples_) {
            lengths.push_back(static_cast<std::int64_t>(e.ids.size()));
            tokens_ += lengths.back();
        }
        settle(run);
        run_ = run;
        batches_.emplace(lengths, run.batches);
    }

    TrainSummary summary() const override {
        const TextEncoder& e = model_.network->encoder;
        return summary_of(text_of(model_type_of(model_.folder.config), ", ", e.layers,
                                  " layers, d=", e.width, ", pooling ", model_.pooling_name()),
                          *model_.store, *batches_, values_per_token(e));
    }

    TrainTask task() override {
        TrainTask t = task_over(*batches_, *model_.store, model_.folder);
        t.guessing_loss =
            model_.several ? std::log(2.0) : std::log(static_cast<double>(label_count()));
        t.unit = "texts";
        t.loss = [this](std::int64_t b) { return loss((*batches_)[b]); };
        if (!data_.dev.empty()) t.evaluate = [this] { return evaluate(); };
        t.save_model = [this](const std::string& path) { model_.save(path, true); };
        t.parameter_rules = rates_.rules(model_.network->encoder, *model_.store);
        return t;
    }

    std::optional<TrainedEncoder> trained_encoder() const override {
        TrainedEncoder e{model_.folder, &model_.network->encoder, {}};
        for (const LabelledText& t : data_.train) e.texts.push_back(t.texts[0]);
        e.folder.in_training = model_.store;
        return e;
    }

private:
    bool given(const char* name) const { return settings_ && settings_->given(name); }
    // The best of many models on a handful of texts is the luckiest, and often an early one: of
    // 1,000 SNIPS requests the model of the first epoch (93.6 of the test set; without a dev set
    // and so the last one: 96.4). The loss of `linear` has one lowest point, which its falling rate
    // ends near: of 5,000 package descriptions the model chosen by 250 records told 63.9 of the dev
    // file, the last one, which had learned from those records too, 65.7; of 4,700
    // tweets 94.6, 95.9.
    bool keeps_last() const {
        const std::size_t enough = model_name_ == "linear" ? 10000 : 200;
        return run_.dev == "auto" && !data_.dev.empty() && data_.dev.size() < enough;
    }
    std::size_t label_count() const { return model_.folder.labels.size(); }

    // Words and parts of words, each with a say of its own, learn best from few texts
    // (docs/results.md). Here, and not in check(): the settings of a run that is resumed are known
    // now.
    void choose_model(const Say& say) {
        if (model_name_ == "auto") {
            const bool deep = given("layers") || given("ffn") || given("heads");
            const bool pairs = data_.train[0].texts.size() > 1;  // which the others cannot part
            const char* shallow = linear_fits(counts_) && !given("d-model") ? "linear" : "bag";
            model_name_ = pairs ? "bert" : deep || !run_.from.empty() ? "transformer" : shallow;
            if (run_.from.empty()) say("model: " + model_name_ + "   change with --model");
        }
        if (run_.from.empty() && settings_) check_encoder_sizes(*settings_, model_name_);
    }

    // Flags that do nothing for the data at hand.
    void check_problem() const {
        static constexpr const char* of_one_label[] = {"smoothing"};
        if (data_.several && settings_)
            leave_out(*settings_, of_one_label, "with several labels a text");
        if (!data_.several && tune_)
            refuse_without_effect("tune-thresholds", "with one label a text",
                                  "it belongs to --multi-label");
        if (tune_ && data_.dev.empty())
            refuse_without_effect("tune-thresholds", "without a dev set", "give --dev FILE");
    }

    void settle(RunSettings& run) const {
        const auto texts = static_cast<std::int64_t>(data_.train.size());
        const int width = model_.network->encoder.width;
        const bool chosen = given("max-tokens");
        const ClassifyDefaults own = classify_defaults(model_name_, counts_);
        if (!chosen && !given("max-records"))
            run.batches.max_examples = pretrained_ ? fitting_batch(texts) : own.batch;
        if (!chosen)
            run.batches.max_tokens =
                fitting_tokens(model_name_, run.batches.max_examples, tokens_ / texts);
        // Devlin et al. 2018, §A.3: 2 to 4 epochs; few texts want more.
        RunDefaults d{.rate = tuning_rate(width),
                      .warmup = 500,
                      .epochs = std::clamp<std::int64_t>(60000 / texts, 3, 20),
                      .d_model = width};
        if (!pretrained_) {
            const bool wide = width > 256 && model_name_ != "cnn" && model_name_ != "linear";
            d.rate = own.rate * (wide ? 0.3 : 1.0);
            d.epochs = own.epochs;
            if (!given("adam-beta1")) run.options.adam.beta1 = own.beta1;
            if (!given("adam-eps")) run.options.adam.eps = own.eps;
        }
        run.settle(d);
    }

    Tensor loss(std::span<const std::int64_t> chosen) const {
        const Tensor logits = model_.network->logits(pack_texts(examples_, chosen, samples_));
        if (model_.several) return loss_of_several(logits, chosen);
        Ids labels;
        CrossEntropyOptions options{.smoothing = smoothing_};
        for (const std::int64_t i : chosen) {
            labels.push_back(label_ids_[static_cast<std::size_t>(i)][0]);
            if (!weights_.empty())
                options.weights.push_back(weights_[static_cast<std::size_t>(labels.back())]);
        }
        if (weights_.empty()) return cross_entropy(logits, labels, options);
        // Over the texts, not over their weights: else a batch without a rare label counts as much
        // as one that has it.
        options.reduction = Reduction::sum;
        return (1.0f / static_cast<float>(chosen.size())) * cross_entropy(logits, labels, options);
    }

    Tensor loss_of_several(const Tensor& logits, std::span<const std::int64_t> chosen) const {
        Tensor targets = Tensor::zeros(logits.shape());
        Tensor weights = Tensor::full(logits.shape(), 1);
        for (std::size_t k = 0; k < chosen.size(); ++k)
            for (const std::int32_t id : label_ids_[static_cast<std::size_t>(chosen[k])]) {
                const std::int64_t at = static_cast<std::int64_t>(k) * logits.cols() + id;
                targets.write()[at] = 1;
                if (!weights_.empty()) weights.write()[at] = weights_[static_cast<std::size_t>(id)];
            }
        return weights_.empty() ? binary_cross_entropy_with_logits(logits, targets)
                                : weighted_binary_cross_entropy(logits, targets, weights);
    }

    static std::vector<std::string> pool_choices() {
        std::vector<std::string> names = pool_names();
        names.insert(names.begin(), "model");
        return names;
    }
    std::optional<Pool> pool_choice() const {
        if (pool_ == "model") return {};
        return pool_of(pool_);
    }

    // Goes on with a classifier, or puts a new head on the encoder of a model of another task.
    void take_from(ModelFolder folder, const Say& say) {
        if (folder.task.empty()) folder.task = task_of_config(folder);
        if (folder.task == "classify" && !folder.in_training) {
            model_ = ClassifyModel::open(std::move(folder));
            if (pool_ != "model" && pool_ != model_.pooling_name())
                refuse_without_effect("pool", "where the model of --from has a head",
                                      "leave --pool out");
            say("model: goes on from " + run_.from);
            return;
        }
        folder.labels = data_.labels();
        name_problem(folder.config);
        ModelFolder::NewHead heads;
        model_ =
            ClassifyModel::create_from(std::move(folder), pool_choice(), run_.options.seed, heads);
        pretrained_ = true;
        say("model: the encoder of " + run_.from + "; new: " + listed(heads.made) +
            (heads.left.empty() ? "" : "; left: " + listed(heads.left)));
    }

    static std::string listed(const std::vector<std::string>& names) {
        std::string all;
        for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
        return all;
    }

    // What parts words where every character is a token: not ' and -, which stand inside of them.
    // (A tokenizer that begins every text as a word does gives a separator and the mark.)
    static std::vector<int> mark_tokens(const Tokenizer& tokenizer, TokenId space) {
        std::vector<int> marks;
        for (const char mark : std::string_view("!\"#$%&()*+,./:;<=>?@[\\]^`{|}~")) {
            const std::vector<TokenId> ids = tokenizer.encode_ids(std::string(1, mark), false);
            const bool one = ids.size() == 1 || (ids.size() == 2 && ids[0] == space);
            if (one && ids.back() != tokenizer.unk_id()) marks.push_back(ids.back());
        }
        return marks;
    }

    void name_problem(Json& config) const {
        config.erase("problem_type");
        config.erase("thresholds");
        if (data_.several) config["problem_type"] = "multi_label_classification";
    }

    // A new model, with the defaults that fit its data wherever nothing was asked for.
    void make_from_scratch(const Say& say) {
        ModelFolder folder;
        folder.labels = data_.labels();
        const TextEncoderEntry& entry = text_encoder_named(model_name_);
        const std::vector<std::string> texts = data_.texts();
        const ClassifyDefaults d = classify_defaults(model_name_, counts_);
        if (!given("vocab")) vocabulary_.kind = d.vocabulary;
        if (!given("vocab-size")) vocabulary_.size = d.vocabulary_size;
        if (!given("lowercase")) vocabulary_.lowercase = d.lowercase;
        if (!given("max-length")) choice_.max_length = d.max_length;
        if (!choice_.dropout) choice_.dropout = d.dropout;
        vocabulary_.frame = entry.tokens;
        folder.tokenizer = folder.target_tokenizer = vocabulary_.make(texts, say);
        choice_.vocabulary = static_cast<int>(folder.tokenizer->vocab_size());
        choice_.end_token = folder.tokenizer->eos_id().value_or(0);
        choice_.pad_token = folder.tokenizer->pad_id().value_or(choice_.end_token);
        if (vocabulary_.kind == "characters") {
            const std::vector<TokenId> space = folder.tokenizer->encode_ids(" ", false);
            if (space.size() == 1) choice_.space_token = space[0];
        }
        folder.config = entry.new_config(choice_);
        if (folder.config.contains("buckets")) folder.config["buckets"] = d.buckets;
        if (folder.config.contains("separator_id"))  // words are made of characters
            folder.config["mark_ids"] = mark_tokens(*folder.tokenizer, choice_.space_token);
        name_problem(folder.config);
        model_ = ClassifyModel::create(std::move(folder), pool_choice(), run_.options.seed);
        if (!given("smoothing")) smoothing_ = d.smoothing;
        start_from_vectors(run_.vectors, *model_.store, *model_.folder.tokenizer, say);
        if (label_words_) start_with_label_words(model_);
    }

    void make_model(const Say& say) {
        if (!run_.from.empty())
            take_from(folder_to_go_on_from(run_, choice_.dropout), say);
        else
            make_from_scratch(say);
        if (data_.several && !model_.several)
            throw Error(run_.from + ": its texts have one label each, but those here have several",
                        ErrorKind::bad_input, "leave out --multi-label and --label-separator");
        model_.precision = precision_of(run_.precision);  // evaluations compute as training does
        data_.train = with_known_labels(std::move(data_.train), model_.folder.labels,
                                        data_.unknown == "skip", say);
        expect_input(!data_.train.empty(), run_.train[0], ": no record has a label of ", run_.from);
        encode_examples();
        if (run_.from.empty() && model_.network->encoder.count) count_texts();
        if (class_weights_ == "balanced") weigh_labels();
    }

    // One label a text: n / (labels · count), all labels weigh the same together. Several: the
    // texts that have a label weigh as much as those that do not, (n − count) / count.
    void weigh_labels() {
        const auto n = static_cast<double>(data_.train.size());
        for (const std::string& label : model_.folder.labels) {
            const auto count = static_cast<double>(std::max<std::int64_t>(1, data_.counts[label]));
            weights_.push_back(static_cast<float>(
                model_.several ? std::max(1.0, n - count) / count
                               : n / (static_cast<double>(label_count()) * count)));
        }
    }

    void encode_examples() {
        const std::vector<std::string>& labels = model_.folder.labels;
        std::vector<std::string> contents;
        for (const LabelledText& t : data_.train) {
            Ids ids;
            for (const std::string& label : t.labels)
                ids.push_back(static_cast<std::int32_t>(
                    std::find(labels.begin(), labels.end(), label) - labels.begin()));
            label_ids_.push_back(std::move(ids));
            contents.insert(contents.end(), t.texts.begin(), t.texts.end());
            contents.insert(contents.end(), t.labels.begin(), t.labels.end());
            samples_.push_back(examples_.size());
            examples_.push_back(model_.encode(input_of(t)));
        }
        note_data(model_.folder, contents, data_.train.size(), run_);
    }

    void count_texts() const {
        std::vector<std::int64_t> all(examples_.size());
        std::iota(all.begin(), all.end(), 0);
        model_.network->encoder.count(pack_texts(examples_, all));
    }

    void say_cut(const Say& say) const {
        const auto cut = std::count_if(examples_.begin(), examples_.end(),
                                       [](const EncodedText& e) { return e.cut; });
        if (cut > 0)
            say(text_of("note: ", cut, cut == 1 ? " text is" : " texts are", " longer than ",
                        model_.network->encoder.max_length,
                        " tokens: training reads the beginnings, answers read all in windows "
                        "(--max-length)"));
    }

    Evaluation evaluate() {
        if (tune_) tune_thresholds(model_, data_.dev);
        MetricScore s = score_labelled(model_, data_.dev);
        s.figures.erase("confusion");  // too long for a log of every epoch
        Evaluation e = noted_evaluation(model_.folder, s, run_.metric);
        e.rough = keeps_last();
        return e;
    }

    ClassifyData data_;
    std::string model_name_ = "auto", pool_ = "model", class_weights_ = "none";
    bool label_words_ = false, tune_ = false;
    float smoothing_ = 0.1f;
    EncoderChoice choice_;
    VocabularyChoice vocabulary_;
    LayerRates rates_;
    Settings* settings_ = nullptr;
    RunSettings run_;
    TextCounts counts_;
    std::vector<Ids> label_ids_;  // of each training text
    std::vector<float> weights_;  // of labels; empty: all 1
    ClassifyModel model_;
    bool pretrained_ = false;  // only the head is new
    std::vector<EncodedText> examples_;
    std::vector<std::uint64_t> samples_;  // an example's number: names its masks
    std::int64_t tokens_ = 0;
    std::optional<EpochBatches> batches_;
};

}  // namespace

std::unique_ptr<Trainer> make_classify_trainer() { return std::make_unique<ClassifyTrainer>(); }

}  // namespace fovea
