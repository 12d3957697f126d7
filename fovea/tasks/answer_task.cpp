// The training of models that answer questions, behind the interface of tasks.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/files.h"
#include "fovea/data/split.h"
#include "fovea/models/reader.h"
#include "fovea/ops/loss/segment_cross_entropy.h"
#include "fovea/tasks/answer.h"
#include "fovea/tasks/answer_texts.h"
#include "fovea/tasks/encoder_training.h"
#include "fovea/tasks/start_vectors.h"
#include "fovea/tasks/training_data.h"
#include "fovea/tasks/vocabulary_choice.h"

namespace fovea {
namespace {

constexpr const char* reader_name = "reader";  // --model: the one that learns from scratch

class AnswerTrainer : public Trainer {
public:
    void describe(Settings& s) override {
        std::vector<std::string> models = text_encoder_names();
        models.insert(models.begin(), reader_name);
        s.add("model", model_name_,
              "what reads question and context; reader: for training from "
              "scratch",
              {.group = "model", .common = true, .choices = models});
        choice_.describe(s);
        vocabulary_.describe(s);
        rates_.describe(s);
    }

    std::vector<std::string> metrics() const override { return {"f1", "exact"}; }

    void check(Settings& s, const RunSettings& run) override {
        static constexpr const char* of_the_model[] = {
            "model",      "preset", "layers",     "d-model",       "ffn",       "heads",
            "max-length", "vocab",  "vocab-size", "min-frequency", "lowercase", "tokenizer"};
        settings_ = &s;
        if (!run.from.empty())
            leave_out(s, of_the_model, "with --from: sizes and vocabulary are those of the model");
    }

    void prepare(RunSettings& run, const Say& say) override {
        run_ = run;
        read_data(say);
        make_model(say);
        texts_.emplace(model_);
        for (const QuestionRecord& r : train_) texts_->add(r.question, r.context);
        std::vector<std::int64_t> lengths;
        for (const ReadingWindow& w : texts_->windows()) {
            const auto& answers = train_[w.question].answers;
            const auto [start, end] = texts_->rows_of(w, answers.empty() ? nullptr : &answers[0]);
            rows_.push_back(start);
            rows_.push_back(end);
            lengths.push_back(w.tokens);
        }
        expect_input(!lengths.empty(), run_.train[0], ": no context holds a word");
        // Some dozens of updates an epoch from few questions, too.
        const std::int64_t tokens =
            std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
        if (settings_ && !settings_->given("max-tokens"))
            run.batches.max_tokens = std::clamp<std::int64_t>(tokens / 50, 512, 4096);
        run.settle(defaults());
        run_ = run;
        batches_.emplace(lengths, run.batches);
    }

    TrainSummary summary() const override {
        const SpanModel& n = *model_.network;
        TrainSummary s = summary_of(
            text_of(model_type_of(model_.folder.config), ", ", n.layers, " layers, d=", n.width,
                    model_.may_be_none ? ", may say none" : ""),
            *model_.store, *batches_, 20.0 * n.width * n.layers);  // convolutions keep more
        s.records = static_cast<std::int64_t>(train_.size());      // of one or more windows
        return s;
    }

    TrainTask task() override {
        TrainTask t = task_over(*batches_, *model_.store, model_.folder);
        t.guessing_loss = std::log(static_cast<double>(model_.network->max_length));
        t.unit = "questions";
        t.loss = [this](std::int64_t b) {
            const auto chosen = (*batches_)[b];
            Ids rows;
            for (const std::int64_t i : chosen)
                rows.insert(rows.end(), rows_.begin() + 2 * i, rows_.begin() + 2 * i + 2);
            const SpanScores s = model_.network->scores(texts_->pack(chosen));
            return segment_cross_entropy(s.scores, s.segments, rows);
        };
        if (!dev_.empty()) t.evaluate = [this] { return evaluate(); };
        t.save_model = [this](const std::string& path) { model_.save(path, true); };
        const SpanModel& n = *model_.network;
        t.parameter_rules = rates_.rules(n.layers, n.layer_of, *model_.store);
        return t;
    }

    std::optional<TrainedEncoder> trained_encoder() const override {
        if (!model_.network->encoder) return {};
        TrainedEncoder e{model_.folder, model_.network->encoder.get(), texts_of_data()};
        e.folder.in_training = model_.store;
        return e;
    }

private:
    RunDefaults defaults() const {
        const int width = model_.network->width;
        const auto questions = static_cast<std::int64_t>(train_.size());
        // Devlin et al. 2018, §4.2: 5e-5 for 3 epochs; small models bear more, few questions want
        // more.
        if (pretrained_)
            return {.rate = tuning_rate(width),
                    .warmup = 500,
                    .epochs = std::clamp<std::int64_t>(20000 / questions, 3, 10),
                    .d_model = width};
        return {.rate = new_rate(width),
                .warmup = 1000,
                .epochs = std::clamp<std::int64_t>(60000 / questions, 3, 30),
                .d_model = width};
    }

    void read_data(const Say& say) {
        QuestionFiles files;
        files.paths = run_.train;
        files.skip_bad = run_.skip_bad;
        QuestionData data = read_questions(files);
        if (data.problems.skipped > 0)
            say(text_of("data: ", data.problems.skipped, " bad questions were passed over"));
        train_ = std::move(data.questions);
        keep_drawn(train_, run_.limit, run_.options.seed);
        if (run_.has_dev_file()) {
            files.paths = {run_.dev};
            dev_ = read_questions(files).questions;
            keep_drawn(dev_, run_.dev_limit, run_.options.seed);
        } else if (run_.measures()) {
            std::vector<std::uint64_t> hashes;  // of the contexts: none stands on both sides
            for (const QuestionRecord& r : train_) hashes.push_back(record_hash({*r.context}));
            dev_ = take_out(train_, dev_split(hashes));
            if (!dev_.empty())
                say(text_of("data: ", dev_.size(),
                            " questions are held out to measure on (--dev FILE gives others)"));
        }
        expect_input(!train_.empty(), run_.train[0], ": no question is left to learn from");
        for (const QuestionRecord& r : train_) unanswered_ += r.answers.empty();
        if (unanswered_ == static_cast<std::int64_t>(train_.size()))
            fail_with(ErrorKind::bad_input, "give a file with answers", run_.train[0],
                      ": no question has an answer");
        for (const QuestionRecord& r : dev_)
            if (r.answers.empty() && unanswered_ == 0)
                fail_with(ErrorKind::bad_input,
                          "give a --dev file of the same kind (SQuAD 1.1 or 2.0)", r.path, ": ",
                          r.place, ": has no answer, but in training every question has one");
        say(text_of("data: ", train_.size(), " questions",
                    unanswered_ > 0 ? text_of(", ", unanswered_, " of them without an answer")
                                    : std::string()));
    }

    // Goes on with a model that answers, or puts a new head on the encoder of another task's.
    void take_from(ModelFolder folder, const Say& say) {
        if (folder.task.empty()) folder.task = task_of_config(folder);
        if (folder.task == "answer") {
            model_ = AnswerModel::open(std::move(folder));
            model_.may_be_none = model_.may_be_none || unanswered_ > 0;
            pretrained_ = true;
            say("model: goes on from " + run_.from);
            return;
        }
        ModelFolder::NewHead heads;
        model_ =
            AnswerModel::create_from(std::move(folder), unanswered_ > 0, run_.options.seed, heads);
        pretrained_ = true;
        const auto listed = [](const std::vector<std::string>& all) {
            std::string text;
            for (const std::string& name : all) text += (text.empty() ? "" : ", ") + name;
            return text;
        };
        say("model: the encoder of " + run_.from + "; new: " + listed(heads.made) +
            (heads.left.empty() ? "" : "; left: " + listed(heads.left)));
    }

    Json reader_config(const Tokenizer& tokenizer) const {
        ReaderConfig c;
        c.apply_preset(choice_.preset);
        if (choice_.layers) c.num_hidden_layers = *choice_.layers;
        if (choice_.width) c.hidden_size = c.word_width = *choice_.width;
        if (choice_.ffn) c.intermediate_size = *choice_.ffn;
        if (choice_.heads) c.num_attention_heads = *choice_.heads;
        if (choice_.dropout) c.dropout = *choice_.dropout;
        c.max_position_embeddings = choice_.max_length;
        c.vocab_size = static_cast<int>(tokenizer.vocab_size());
        c.features = reading_features;
        c.check("--model reader", ErrorKind::usage);
        return c.to_json();
    }

    std::vector<std::string> texts_of_data() const {
        std::vector<std::string> texts;
        const std::string* last = nullptr;
        for (const QuestionRecord& r : train_) {
            texts.push_back(r.question);
            if (r.context.get() != last) texts.push_back(*r.context);
            last = r.context.get();
        }
        return texts;
    }

    void make_new(const Say& say) {
        ModelFolder folder;
        const bool reader = model_name_ == reader_name;
        if (reader) {  // words, unless somebody says otherwise; letters tell the rare ones
            if (!settings_->given("vocab") && !settings_->given("tokenizer"))
                vocabulary_.kind = "words", vocabulary_.lowercase = true;
            if (!settings_->given("vocab-size")) vocabulary_.size = 20000;
        } else {
            vocabulary_.frame = text_encoder_named(model_name_).tokens;
        }
        folder.tokenizer = folder.target_tokenizer = vocabulary_.make(texts_of_data(), say);
        const Tokenizer& t = *folder.tokenizer;
        if (choice_.max_length < 16)
            throw Error(text_of("--max-length is ", choice_.max_length,
                                ", which leaves no room for a question and its context"),
                        ErrorKind::usage, "512 is usual");
        if (reader) {
            folder.config = reader_config(t);
        } else {
            choice_.vocabulary = static_cast<int>(t.vocab_size());
            choice_.end_token = t.eos_id().value_or(0);
            choice_.pad_token = t.pad_id().value_or(choice_.end_token);
            folder.config = text_encoder_named(model_name_).new_config(choice_);
        }
        model_ = AnswerModel::create(std::move(folder), unanswered_ > 0, run_.options.seed);
        start_from_vectors(run_.vectors, *model_.store, *model_.folder.tokenizer, say);
    }

    void make_model(const Say& say) {
        if (!run_.from.empty())
            take_from(folder_to_go_on_from(run_, choice_.dropout), say);
        else
            make_new(say);
        model_.precision = precision_of(run_.precision);  // evaluations compute as training does
        std::vector<std::string> contents;
        for (const QuestionRecord& r : train_) {
            contents.push_back(r.question);
            contents.push_back(hash_text(record_hash({*r.context})));
            for (const AnswerText& a : r.answers) contents.push_back(text_of(a.start, " ", a.text));
        }
        note_data(model_.folder, contents, train_.size(), run_);
    }

    // The bound beyond which "none" is said is that which fits the dev set best.
    Evaluation evaluate() {
        const MetricScore s = score_answers(model_, dev_);
        Evaluation e{s.name, s.value, s.higher_is_better, s.figures.at("loss"), s.figures};
        const bool bounded = s.figures.contains("best_f1");
        const bool exact = run_.metric == "exact";
        if (bounded) model_.none_bound = s.figures.at(exact ? "best_exact_bound" : "best_f1_bound");
        if (run_.metric == "loss") {
            e.name = "loss";
            e.value = e.loss;
            e.higher_is_better = false;
        } else {
            e.name = exact ? "exact" : "f1";
            e.value = s.figures.at((bounded ? "best_" : "") + e.name);
        }
        note_score(model_.folder, e, s.signature);
        return e;
    }

    std::string model_name_ = reader_name;
    const Settings* settings_ = nullptr;  // a resumed run's own recipe comes after check()
    EncoderChoice choice_{.preset = "tiny"};
    VocabularyChoice vocabulary_;
    LayerRates rates_;
    RunSettings run_;
    std::vector<QuestionRecord> train_, dev_;
    std::int64_t unanswered_ = 0;
    AnswerModel model_;
    bool pretrained_ = false;  // only the head is new
    std::optional<AnswerTexts> texts_;
    Ids rows_;  // two for each window: where the answer begins and ends
    std::optional<EpochBatches> batches_;
};

}  // namespace

std::unique_ptr<Trainer> make_answer_trainer() { return std::make_unique<AnswerTrainer>(); }

}  // namespace fovea
