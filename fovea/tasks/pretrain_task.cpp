// Pretraining behind the interface of tasks.
#include <fmt/core.h>

#include <cmath>
#include <optional>

#include "fovea/base/clock.h"
#include "fovea/base/files.h"
#include "fovea/base/json_fields.h"
#include "fovea/tasks/encoder_training.h"
#include "fovea/tasks/pretrain.h"
#include "fovea/tasks/pretrain_data.h"
#include "fovea/tasks/pretrain_vocabulary.h"
#include "fovea/tasks/pretrained_model.h"
#include "fovea/tasks/start_vectors.h"
#include "fovea/tasks/training_data.h"

namespace fovea {
namespace {

constexpr int usual_context = 128;

class PretrainTrainer : public Trainer {
public:
    void describe(Settings& s) override { settings_.describe(s); }

    std::vector<std::string> metrics() const override {
        return {"perplexity", "accuracy", "next_accuracy"};
    }

    void check(Settings& s, const RunSettings& run) override {
        settings_.check(s, run.from);
        if (run.metric == "next_accuracy" && run.from.empty() &&
            settings_.objective_for(habit_of(settings_.model)) != Objective::masked_and_next)
            refuse_without_effect("metric", "without next sentences", "leave out --metric");
    }

    void prepare(RunSettings& run, const Say& say) override {
        run_ = run;
        // What can be refused is refused before the text is read.
        if (!run.from.empty()) open_model(say);
        const ModelHabit& habit = habit_of(settings_.model);
        objective_ = settings_.objective_for(habit);
        const PretrainData data(run, settings_, say);
        if (learns_next_by_habit() && !data.has_other_documents()) {
            objective_ = Objective::masked;
            say(text_of("objective: mlm, since ", data.documents(),
                        data.documents() == 1 ? " document is" : " documents are",
                        " too few to tell next sentences by   change with --documents"));
        }
        if (run.from.empty()) make_model(habit, data, say);
        read_tokens(data, say);
        const int width = model_.encoder->width;
        run.settle({.rate = new_rate(width), .warmup = 1000, .epochs = 10, .d_model = width});
        run_ = run;
        model_.precision = precision_of(run.precision);
        Json& about = model_.folder.about;
        about["data"] = data.fingerprint();
        about["data"]["vocabulary"] = model_.folder.tokenizer->vocab_size();
        about["data"]["tokens"] = tokens_.train.size();
        about["objective"] = name_of(objective_);
        if (settings_.reads_pairs()) about["documents"] = "pairs";
        if (settings_.memory) about["memory"] = *settings_.memory;
        about["train_file"] = base_name(run.train[0]);
    }

    TrainSummary summary() const override {
        TrainSummary s;
        const TextEncoder& e = *model_.encoder;
        s.model = text_of(settings_.model, ", ", name_of(objective_), ", ", e.layers,
                          " layers, d=", e.width, ", context ", context_);
        s.parameters = model_.store->count();
        s.records = train_->count();
        s.batches_per_epoch = BatchPlan(train_->lengths(), run_.batches, 0).batches();
        s.tokens_per_epoch = train_->tokens();
        // Parameters with gradient and two moments; per token and layer about 14 rows; the logits.
        const auto batch = static_cast<double>(std::min(run_.batches.max_tokens, train_->tokens()));
        const double told = objective_ == Objective::causal ? 1 : settings_.masking.share;
        s.memory_bytes = 24.0 * static_cast<double>(s.parameters) +
                         4.0 * batch * (14.0 * e.width * e.layers + 3 * told * e.vocabulary);
        return s;
    }

    TrainTask task() override {
        TrainTask t;
        t.store = model_.store.get();
        t.fingerprint = model_.folder.about["data"];
        t.guessing_loss = std::log(static_cast<double>(model_.encoder->vocabulary)) +
                          (objective_ == Objective::masked_and_next ? std::log(2.0) : 0.0);
        t.begin_epoch = [this](std::int64_t epoch) { return begin_epoch(epoch); };
        t.batch_weight = [this](std::int64_t b) {
            return static_cast<std::int64_t>(batch(b).chosen.labels.size());
        };
        t.loss = [this](std::int64_t b) { return model_.loss(batch(b)); };
        if (dev_) {
            t.evaluate = [this] { return evaluate(); };
            t.evaluation_seconds = [this] { return evaluation_seconds(); };
        }
        t.save_model = [this](const std::string& path) { model_.save(path, true); };
        return t;
    }

    // The text itself is read as a stream and not kept.
    std::optional<TrainedEncoder> trained_encoder() const override {
        TrainedEncoder e{model_.folder, model_.encoder.get(), {}};
        e.folder.in_training = model_.store;
        return e;
    }

private:
    // Nobody asked for next sentences; the model's paper has them.
    bool learns_next_by_habit() const {
        return objective_ == Objective::masked_and_next && settings_.objective == "auto" &&
               run_.metric != "next_accuracy";
    }

    void open_model(const Say& say) {
        if (run_.body)
            fail_with(ErrorKind::usage,
                      "put it first: it makes vocabulary and encoder; language-model stands beside "
                      "any task",
                      "pretrain: cannot go on with the encoder of another task");
        model_ = PretrainedModel::open(folder_to_go_on_from(run_, settings_.sizes.dropout));
        const std::string where = model_.folder.config_path();
        settings_.model = text_encoder_of(model_.folder.config, where).name;
        const ModelHabit& habit = habit_of(settings_.model);
        if (settings_.objective == "auto" && !model_.encoder->next && !settings_.reads_pairs() &&
            habit.objective == Objective::masked_and_next)
            settings_.objective = name_of(Objective::masked);
        if (settings_.objective_for(habit) == Objective::masked_and_next && !model_.encoder->next)
            fail_with(ErrorKind::usage, "--objective mlm", run_.from,
                      ": the model has no head for next sentences");
        refuse_missing_parts();
        context_ = settings_.context.value_or(std::min(usual_context, model_.encoder->max_length));
        if (context_ > model_.encoder->max_length)
            fail_with(ErrorKind::usage,
                      text_of("a --context of at most ", model_.encoder->max_length),
                      "train: --context is ", context_, ", but the model takes ",
                      model_.encoder->max_length, " tokens");
        say("model: goes on from " + run_.from);
    }

    // What settings ask of a model that was made elsewhere.
    void refuse_missing_parts() const {
        if (settings_.memory.value_or(0) > 0 && !model_.encoder->remember)
            refuse_without_effect("memory", "with --model " + settings_.model,
                                  "xlnet has a memory");
        int languages = 2;
        JsonFields(model_.folder.config, model_.folder.config_path())
            .read("type_vocab_size", languages);
        if (settings_.reads_pairs() && languages < 2)
            fail_with(ErrorKind::bad_input, "a model with \"type_vocab_size\" 2 has them",
                      run_.from, ": the model has no embeddings for two languages");
    }

    void make_model(const ModelHabit& habit, const PretrainData& data, const Say& say) {
        ModelFolder folder;
        folder.tokenizer = folder.target_tokenizer = make_tokenizer(habit, data, say);
        const Tokenizer& t = *folder.tokenizer;
        EncoderChoice& sizes = settings_.sizes;
        context_ = settings_.context.value_or(
            settings_.max_length_given ? std::min(usual_context, sizes.max_length) : usual_context);
        if (!settings_.max_length_given) sizes.max_length = context_;
        sizes.vocabulary = static_cast<int>(t.vocab_size());
        sizes.end_token = t.eos_id().value_or(t.sep_id().value_or(0));
        sizes.pad_token = t.pad_id().value_or(sizes.end_token);
        folder.config = text_encoder_named(settings_.model).new_config(sizes);
        const bool next = objective_ == Objective::masked_and_next;
        const Head head = next ? Head::words_and_next : Head::words;
        name_architecture(folder.config, head);
        folder.task = hides_tokens(objective_) ? "fill" : "generate";
        folder.about["max_source_length"] = sizes.max_length;
        model_ = PretrainedModel::create(std::move(folder), head, run_.options.seed);
        start_from_vectors(run_.vectors, *model_.store, *model_.folder.tokenizer, say);
    }

    std::shared_ptr<const Tokenizer> make_tokenizer(const ModelHabit& habit,
                                                    const PretrainData& data,
                                                    const Say& say) const {
        if (!settings_.tokenizer.empty())
            return std::make_shared<const Tokenizer>(Tokenizer::load(settings_.tokenizer));
        const auto made = train_pretrain_vocabulary(
            pretrain_vocabulary(habit, settings_),
            [&](const std::function<void(std::string_view)>& take) { data.each_text(take); });
        say(text_of("vocabulary: ", made->vocab_size(), " tokens (",
                    settings_.vocabulary == "auto" ? habit.vocabulary : settings_.vocabulary, ")"));
        return made;
    }

    void read_tokens(const PretrainData& data, const Say& say) {
        const Tokenizer& tokenizer = *model_.folder.tokenizer;
        SequenceOptions o{.objective = objective_,
                          .length = context_,
                          .masking = settings_.masking,
                          .seed = run_.options.seed,
                          .any_order = static_cast<bool>(model_.encoder->targets),
                          .pairs = settings_.reads_pairs(),
                          .memory = settings_.memory.value_or(0)};
        tokens_ = data.encode(tokenizer, documents_for(o, tokenizer));
        say(fmt::format("data: {} tokens, {:.1f} MB {}", tokens_.train.size(),
                        4e-6 * static_cast<double>(tokens_.train.size()),
                        tokens_.train.on_disk() ? "in a scratch file" : "in memory"));
        refuse_too_little(tokens_.train, "the text");
        o.masking.seed = o.seed;
        train_.emplace(tokens_.train, tokenizer, o);
        train_->begin(0);
        expect_input(train_->count() > 0 || !o.pairs,
                     "pretrain: no pair of the data has a text on both sides");
        if (run_.measures() && (run_.has_dev_file() || tokens_.dev.size() > 1)) {
            refuse_too_little(tokens_.dev, "the dev set");
            // The same question in every evaluation and every run.
            o.measuring = true;
            o.seed = o.masking.seed = 0;
            o.masking.anew = false;
            if (translates(objective_)) o.objective = Objective::translated;
            dev_.emplace(tokens_.dev, tokenizer, o);
            dev_->begin(0);
            if (dev_->count() == 0) dev_.reset();
        }
    }

    void refuse_too_little(const TokenDocuments& tokens, const char* what) const {
        expect_input(tokens.size() >= 2, "pretrain: ", what, " has ", tokens.size(), " tokens");
        if (objective_ == Objective::masked_and_next &&
            (tokens.documents() < 2 || tokens.sentences() <= tokens.documents()))
            fail_with(ErrorKind::bad_input,
                      "--documents blank-lines, file or line says what a document is; --objective "
                      "mlm learns without next sentences",
                      "pretrain: next sentences need two documents of two sentences, but ", what,
                      " has ", tokens.documents(), " of ", tokens.sentences(), " in all");
    }

    std::int64_t begin_epoch(std::int64_t epoch) {
        train_->begin(epoch);
        plan_.emplace(train_->lengths(), run_.batches, epoch);
        made_at_ = -1;
        return plan_->batches();
    }

    const PretrainBatch& batch(std::int64_t b) {
        if (made_at_ != b) made_ = train_->batch((*plan_)[b]);
        made_at_ = b;
        return made_;
    }

    Evaluation evaluate() {
        const PretrainFigures f = measure(model_, *dev_, {run_.dev_limit, run_.batches.max_tokens});
        Evaluation e{"loss", f.loss, false, f.loss, f.json()};
        if (run_.metric == "perplexity") e.name = "perplexity", e.value = f.perplexity();
        if (run_.metric == "accuracy")
            e.name = "accuracy", e.value = f.accuracy, e.higher_is_better = true;
        if (run_.metric == "next_accuracy")
            e.name = "next_accuracy", e.value = f.next_accuracy, e.higher_is_better = true;
        return e;
    }

    // About, from one batch.
    double evaluation_seconds() {
        const std::int64_t all = dev_->count(),
                           count = run_.dev_limit > 0 ? std::min(run_.dev_limit, all) : all,
                           some = std::min<std::int64_t>(
                               count,
                               std::max<std::int64_t>(1, run_.batches.max_tokens / context_));
        const Stopwatch clock;
        measure(model_, *dev_, {some, run_.batches.max_tokens});
        return clock.seconds() * static_cast<double>(count) / static_cast<double>(some);
    }

    PretrainSettings settings_;
    RunSettings run_;
    Objective objective_ = Objective::masked;
    int context_ = usual_context;
    PretrainedModel model_;
    PretrainData::Tokens tokens_;
    std::optional<PretrainSequences> train_, dev_;
    std::optional<BatchPlan> plan_;
    PretrainBatch made_;
    std::int64_t made_at_ = -1;
};

}  // namespace

std::unique_ptr<Trainer> make_pretrain_trainer() { return std::make_unique<PretrainTrainer>(); }

}  // namespace fovea
