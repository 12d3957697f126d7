// Training a classifier, behind the interface of tasks. (Prediction: classify_predict.cpp.)
#include <algorithm>
#include <cmath>
#include <map>

#include "fovea/base/files.h"
#include "fovea/data/labelled_texts.h"
#include "fovea/data/split.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/tasks/classify.h"
#include "fovea/tasks/start_vectors.h"
#include "fovea/tasks/training_data.h"
#include "fovea/tasks/vocabulary_choice.h"

namespace fovea {
namespace {

std::string labels_text(const std::map<std::string, std::int64_t>& counts) {
    std::string all;
    int shown = 0;
    for (const auto& [label, count] : counts) {
        if (++shown > 12) return all + ", …";
        all += text_of(all.empty() ? "" : ", ", label, " (", count, ")");
    }
    return all;
}

class ClassifyTrainer : public Trainer {
public:
    void describe(Settings& s) override {
        s.add("text", text_keys_, "column of the text, by name or number (again for a second text)",
              {.group = "data", .otherwise = "guessed"});
        s.add("label", label_key_, "column of the label",
              {.group = "data", .common = true, .otherwise = "guessed"});
        s.add("model", model_name_, "what reads the text",
              {.group = "model", .common = true, .choices = text_encoder_names()});
        choice_.describe(s);
        s.add("pool", pool_,
              "how the rows of a text become one vector (model: its own head where it has one, "
              "else mean)",
              {.group = "model", .common = true, .choices = pool_choices()});
        s.add("smoothing", smoothing_, "label smoothing",
              {.group = "model", .min = 0, .max = 1, .below_max = true});
        vocabulary_.describe(s);
    }

    std::vector<std::string> metrics() const override { return {"accuracy", "macro_f1"}; }

    void check(Settings& s, const RunSettings& run) override {
        static constexpr const char* of_the_model[] = {
            "model",   "preset", "layers",     "d-model",   "ffn",      "heads",
            "dropout", "vocab",  "vocab-size", "lowercase", "tokenizer"};
        if (!run.from.empty())
            leave_out(s, of_the_model, "with --from: sizes and vocabulary are those of the model");
    }

    void prepare(RunSettings& run, const Say& say) override {
        run_ = run;
        read_data(say);
        make_model(say);
        const int width = model_.network->encoder.width;
        run.settle(
            pretrained_
                // Devlin et al. 2018, §A.3: 2e-5 to 5e-5 and 2 to 4 epochs; small models bear more
                ? RunDefaults{.rate = width <= 256 ? 3e-4 : 5e-5,
                              .warmup = 500,
                              .epochs = 4,
                              .d_model = width}
                : RunDefaults{.rate = width <= 256 ? 1e-3 : 3e-4,
                              .warmup = 500,
                              .epochs = 20,
                              .d_model = width});
        run_ = run;
        std::vector<std::int64_t> lengths;
        for (const LabelledText& t : train_) {
            samples_.push_back(examples_.size());
            examples_.push_back(model_.encode(input_of(t)));
            lengths.push_back(static_cast<std::int64_t>(examples_.back().ids.size()));
            tokens_ += lengths.back();
        }
        batches_.emplace(lengths, run.batches);
    }

    TrainSummary summary() const override {
        TrainSummary s;
        s.model = text_of(
            model_.folder.config.value("model_type", ""), ", ", model_.network->encoder.layers,
            " layers, d=", model_.network->encoder.width, ", pooling ", model_.pooling_name());
        s.parameters = model_.store->count();
        s.records = static_cast<std::int64_t>(train_.size());
        s.batches_per_epoch = batches_->per_epoch();
        s.tokens_per_epoch = tokens_;
        // Parameters with gradient and two moments; per token and layer about 14 rows.
        s.memory_bytes = 24.0 * static_cast<double>(s.parameters) +
                         4.0 * 14 * model_.network->encoder.width * model_.network->encoder.layers *
                             static_cast<double>(run_.batches.max_tokens);
        return s;
    }

    TrainTask task() override {
        TrainTask t;
        t.store = model_.store.get();
        t.fingerprint = model_.folder.about["data"];
        t.guessing_loss = std::log(static_cast<double>(model_.folder.labels.size()));
        t.begin_epoch = [this](std::int64_t epoch) { return batches_->begin(epoch); };
        t.unit = "texts";
        t.batch_weight = [this](std::int64_t b) {
            return static_cast<std::int64_t>((*batches_)[b].size());
        };
        t.loss = [this](std::int64_t b) {
            const auto chosen = (*batches_)[b];
            Ids labels;
            for (const std::int64_t i : chosen)
                labels.push_back(label_ids_[static_cast<std::size_t>(i)]);
            return cross_entropy(model_.network->logits(pack_texts(examples_, chosen, samples_)),
                                 labels, {.smoothing = smoothing_});
        };
        if (!dev_.empty()) t.evaluate = [this] { return evaluate(); };
        t.save_model = [this](const std::string& path) { model_.save(path, true); };
        return t;
    }

private:
    void read_data(const Say& say) {
        LabelledFiles files;
        files.paths = run_.train;
        files.text_keys = text_keys_;
        files.label_key = label_key_;
        files.skip_bad = run_.skip_bad;
        Problems problems;
        train_ = read_labelled(files, &problems);
        for (const std::string& note : problems.notes) say("data: " + note);
        keep_drawn(train_, run_.limit, run_.options.seed);
        if (run_.has_dev_file()) {
            files.paths = {run_.dev};
            files.limit = run_.dev_limit;
            dev_ = read_labelled(files);
        } else if (run_.measures()) {
            std::vector<std::uint64_t> hashes;
            for (const LabelledText& t : train_) hashes.push_back(record_hash(t.texts));
            dev_ = take_out(train_, dev_split(hashes));
            if (!dev_.empty())
                say(text_of("data: ", dev_.size(),
                            " records are held out to measure on (--dev FILE "
                            "gives others)"));
        }
        for (const LabelledText& t : train_) ++counts_[label_of(t)];
        for (const LabelledText& t : dev_)
            if (!counts_.count(label_of(t)))
                throw Error(text_of(t.path, ":", t.line, ": the label \"", label_of(t),
                                    "\" was never seen in training"),
                            ErrorKind::bad_input, "seen labels: " + labels_text(counts_));
        expect_input(counts_.size() >= 2, run_.train[0], ": all records have the label \"",
                     counts_.begin()->first, "\", but at least two labels are wanted");
        say(text_of("data: ", train_.size(), " training records, ", counts_.size(),
                    " labels: ", labels_text(counts_)));
        for (const auto& [label, count] : counts_)
            if (count == 1) say("warning: the label \"" + label + "\" is seen only once");
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

    std::vector<std::string> labels_of_data() const {
        std::vector<std::string> labels;
        for (const auto& [label, count] : counts_) labels.push_back(label);
        return labels;
    }

    // Goes on with a classifier, or puts a new head on the encoder of a model of another task.
    void take_from(ModelFolder folder, const Say& say) {
        if (folder.task.empty()) folder.task = task_of_config(folder);
        if (folder.task == "classify") {
            model_ = ClassifyModel::open(std::move(folder));
            if (pool_ != "model" && pool_ != model_.pooling_name())
                refuse_without_effect("pool", "where the model of --from has a head",
                                      "leave --pool out");
            say("model: goes on from " + run_.from);
            return;
        }
        folder.labels = labels_of_data();
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

    void make_model(const Say& say) {
        if (!run_.from.empty()) {
            take_from(ModelFolder::open(run_.from), say);
        } else {
            ModelFolder folder;
            folder.labels = labels_of_data();
            std::vector<std::string> texts;
            for (const LabelledText& t : train_)
                texts.insert(texts.end(), t.texts.begin(), t.texts.end());
            vocabulary_.frame = text_encoder_named(model_name_).tokens;
            folder.tokenizer = folder.target_tokenizer = vocabulary_.make(texts, say);
            choice_.vocabulary = static_cast<int>(folder.tokenizer->vocab_size());
            choice_.end_token = folder.tokenizer->eos_id().value_or(0);
            choice_.pad_token = folder.tokenizer->pad_id().value_or(choice_.end_token);
            folder.config = text_encoder_named(model_name_).new_config(choice_);
            model_ = ClassifyModel::create(std::move(folder), pool_choice(), run_.options.seed);
            start_from_vectors(run_.vectors, *model_.store, *model_.folder.tokenizer, say);
        }
        model_.precision = precision_of(run_.precision);  // evaluations compute as training does
        const std::vector<std::string>& labels = model_.folder.labels;
        std::vector<std::string> contents;
        for (const LabelledText& t : train_) {
            const auto found = std::find(labels.begin(), labels.end(), label_of(t));
            if (found == labels.end())
                throw Error(text_of(t.path, ":", t.line, ": the model of --from has no label \"",
                                    label_of(t), "\""),
                            ErrorKind::bad_input);
            label_ids_.push_back(static_cast<std::int32_t>(found - labels.begin()));
            contents.insert(contents.end(), t.texts.begin(), t.texts.end());
            contents.push_back(label_of(t));
        }
        model_.folder.about["data"] = {{"train", hash_text(record_hash(contents))},
                                       {"records", train_.size()},
                                       {"seed", run_.options.seed},
                                       {"vocabulary", model_.folder.tokenizer->vocab_size()}};
        model_.folder.about["train_file"] = base_name(run_.train[0]);
    }

    Evaluation evaluate() {
        const MetricScore s = score_labelled(model_, dev_);
        Evaluation e{s.name, s.value, s.higher_is_better, s.figures.at("loss"), s.figures};
        if (run_.metric == "macro_f1" || run_.metric == "loss") {
            e.name = run_.metric;
            e.value = s.figures.at(run_.metric);
            e.higher_is_better = run_.metric != "loss";
        }
        model_.folder.about["dev"] = {
            {"metric", e.name}, {"value", e.value}, {"signature", s.signature}};
        return e;
    }

    std::vector<std::string> text_keys_;
    std::string label_key_, model_name_ = "transformer", pool_ = "model";
    float smoothing_ = 0.1f;
    EncoderChoice choice_;
    VocabularyChoice vocabulary_;
    RunSettings run_;
    std::vector<LabelledText> train_, dev_;
    std::map<std::string, std::int64_t> counts_;
    Ids label_ids_;
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
