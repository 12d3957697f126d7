// The training of slot fillers behind the interface of tasks.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "fovea/base/files.h"
#include "fovea/data/split.h"
#include "fovea/metrics/entities.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/tasks/encoder_sizes.h"
#include "fovea/tasks/encoder_training.h"
#include "fovea/tasks/slots.h"
#include "fovea/tasks/start_vectors.h"
#include "fovea/tasks/training_data.h"

namespace fovea {
namespace {

using NameCounts = std::map<std::string, std::int64_t>;

NameCounts slot_counts(std::span<const SlotText> texts) {
    NameCounts counts;
    for (const SlotText& t : texts)
        for (const TagEntity& e : entities_of(t.tags)) ++counts[e.type];
    return counts;
}

NameCounts intent_counts(std::span<const SlotText> texts) {
    NameCounts counts;
    for (const SlotText& t : texts) ++counts[t.intent];
    return counts;
}

class SlotsTrainer : public Trainer {
public:
    void describe(Settings& s) override {
        s.add("unknown-label", unknown_,
              "a text of the dev set with an intent or a slot training has not",
              {.group = "data", .choices = {"error", "skip"}});
        s.add("crf", crf_, "judge the slots of a text together (this is the default)",
              {.group = "model", .common = true});
        s.add("no-crf", no_crf_, "judge each word by itself", {.group = "model", .common = true});
        std::vector<std::string> pools = pool_names();
        std::erase(pools, name_of(Pool::queries));
        s.add("pool", pool_, "how the rows of a text become the one that tells its intent",
              {.group = "model", .common = true, .choices = pools});
        s.add("intent-weight", intent_weight_,
              "how much the intent's loss counts beside the slots'", {.group = "model", .min = 0});
        s.add("word-features", word_features_,
              "width of what words look like, beside the encoder; 0: without",
              {.group = "model", .min = 0, .max = 1 << 16});
        s.add("smoothing", smoothing_, "label smoothing of the intent",
              {.group = "model", .min = 0, .max = 1, .below_max = true});
        const std::string others[] = {"auto"};
        making_.describe(
            s, others, "what reads the text; auto: a recurrence over words, beside how they look");
        rates_.describe(s);
    }

    std::vector<std::string> metrics() const override {
        return {"f1", "intent_accuracy", "sentence_accuracy"};
    }

    void check(Settings& s, const RunSettings& run) override {
        settings_ = &s;
        if (crf_ && no_crf_)
            throw Error("--crf and --no-crf do not go together", ErrorKind::usage,
                        "leave out one of them");
        if (!run.from.empty()) making_.leave_out_with_from(s);
    }

    void prepare(RunSettings& run, const Say& say) override {
        run_ = run;
        read_data(say);
        if (settings_ && run.from.empty()) {
            making_.choose_word_reader(*settings_, train_.size(), word_features_, say);
            check_encoder_sizes(*settings_, making_.model_name);
        }
        make_model(say);
        std::vector<std::int64_t> lengths;
        for (const SlotText& t : train_) {
            examples_.push_back(model_.encode(t.words));
            lengths.push_back(examples_.back().tokens);
            tokens_ += lengths.back();
        }
        if (!goes_on_) mark_known_features(model_.network->tags, examples_);
        // About two hundred updates an epoch: files of requests are small.
        if (settings_ && !settings_->given("max-tokens"))
            run.batches.max_tokens = std::clamp<std::int64_t>(tokens_ / 200, 256, 4096);
        run.settle(encoder_defaults(model_.network->tags.encoder->width, pretrained_));
        run_ = run;
        batches_.emplace(lengths, run.batches);
    }

    TrainSummary summary() const override {
        const TagNetwork& n = model_.network->tags;
        return summary_of(text_of(model_type_of(model_.folder.config), ", ", n.encoder->layers,
                                  " layers, d=", n.encoder->width, n.crf ? ", CRF" : ", no CRF",
                                  n.features ? ", word features" : ""),
                          *model_.store, *batches_, values_per_token(*n.encoder));
    }

    TrainTask task() override {
        TrainTask t = task_over(*batches_, *model_.store, model_.folder);
        t.guessing_loss = std::log(static_cast<double>(model_.folder.labels.size())) +
                          intent_weight_ * std::log(static_cast<double>(model_.intents.size()));
        t.unit = "words";
        t.batch_weight = [this](std::int64_t b) { return words_in(examples_, (*batches_)[b]); };
        t.loss = [this](std::int64_t b) { return loss((*batches_)[b]); };
        if (!dev_.empty())
            t.evaluate = [this] {
                return noted_evaluation(model_.folder, slot_score(model_, dev_), run_.metric);
            };
        t.save_model = [this](const std::string& path) { model_.save(path, true); };
        t.parameter_rules = rates_.rules(*model_.network->tags.encoder, *model_.store);
        return t;
    }

    std::optional<TrainedEncoder> trained_encoder() const override {
        TrainedEncoder e{model_.folder, &*model_.network->tags.encoder, texts_of_data()};
        e.folder.in_training = model_.store;
        return e;
    }

private:
    Tensor loss(std::span<const std::int64_t> chosen) const {
        Ids tags, intents;
        for (const std::int64_t i : chosen) {
            const auto at = static_cast<std::size_t>(i);
            tags.insert(tags.end(), tag_ids_[at].begin(), tag_ids_[at].end());
            intents.push_back(intent_ids_[at]);
        }
        const WordBatch batch = pack_words(examples_, chosen);
        const SlotNetwork::Heads heads = (*model_.network)(batch);
        return model_.network->tags.loss(heads.emissions, batch.words, tags) +
               intent_weight_ * cross_entropy(heads.intents, intents, {.smoothing = smoothing_});
    }

    void read_data(const Say& say) {
        SlotFiles files;
        files.paths = run_.train;
        files.skip_bad = run_.skip_bad;
        Problems problems;
        train_ = read_slot_texts(files, &problems);
        if (problems.skipped > 0)
            say(text_of("data: ", problems.skipped, " bad texts were passed over"));
        keep_drawn(train_, run_.limit, run_.options.seed);
        if (run_.has_dev_file()) {
            files.paths = {run_.dev};
            files.limit = run_.dev_limit;
            dev_ = read_slot_texts(files);
        } else if (run_.measures()) {
            std::vector<std::uint64_t> hashes;
            for (const SlotText& t : train_) hashes.push_back(record_hash(t.words));
            dev_ = take_out(train_, dev_split(hashes));
            // A name that would then be in no training text stays there.
            for (SlotText& t : take_unknown_texts()) train_.push_back(std::move(t));
            if (!dev_.empty())
                say(text_of("data: ", dev_.size(),
                            " texts are held out to measure on (--dev FILE gives others)"));
        }
        const NameCounts slots = slot_counts(train_), intents = intent_counts(train_);
        expect_input(!slots.empty(), run_.train[0], ": no word has a tag other than O");
        for (const auto& [name, count] : intents) intents_.push_back(name);
        for (const auto& [name, count] : slots) slots_.push_back(name);
        check_dev(slots, intents, say);
        say(text_of("data: ", train_.size(), " texts, ", intents.size(), " intents: ",
                    counts_text(intents), "; ", slots.size(), " slots: ", counts_text(slots)));
    }

    std::vector<SlotText> take_unknown_texts() {
        return take_unknown(dev_, std::span<const SlotText>(train_), [](const SlotText& t) {
            std::vector<std::string> names{"intent " + t.intent};
            for (const auto& [name, count] : slot_counts({&t, 1})) names.push_back("slot " + name);
            return names;
        });
    }

    void check_dev(const NameCounts& slots, const NameCounts& intents, const Say& say) {
        if (unknown_ == "skip") {
            const std::size_t skipped = take_unknown_texts().size();
            say_skipped({"text", "an intent or a slot"}, skipped, dev_.size(), run_, say);
        }
        const auto refuse = [](const SlotText& t, const char* what, const std::string& name,
                               const NameCounts& seen) {
            fail_with(ErrorKind::bad_input,
                      "--unknown-label skip passes over such texts; seen: " + counts_text(seen),
                      t.path, ":", t.line, ": the ", what, " \"", name,
                      "\" was never seen in training");
        };
        for (const SlotText& t : dev_) {
            if (!intents.count(t.intent)) refuse(t, "intent", t.intent, intents);
            for (const auto& [name, count] : slot_counts({&t, 1}))
                if (!slots.count(name)) refuse(t, "slot", name, slots);
        }
    }

    std::vector<std::string> texts_of_data() const {
        std::vector<std::string> texts;
        for (const SlotText& t : train_) texts.push_back(sentence_text(t.words));
        return texts;
    }

    std::vector<std::string> labels_of_data() const { return bio_labels(slots_); }

    SlotChoice slot_choice() const {
        return {.tags = {.crf = !no_crf_, .features = word_features_},
                .pooling = pool_of(pool_),
                .intents = intents_};
    }

    // Goes on with a slot filler, or puts new heads on the encoder of a model of another task.
    void take_from(ModelFolder folder, const Say& say) {
        if (folder.task.empty()) folder.task = task_of_config(folder);
        if (folder.task == "slots" && !folder.in_training) {
            static constexpr const char* of_the_heads[] = {"crf", "no-crf", "pool",
                                                           "word-features"};
            for (const char* name : of_the_heads)
                if (settings_ && settings_->given(name))
                    refuse_without_effect(name, "where the model of --from fills slots already",
                                          "leave it out");
            model_ = SlotModel::open(std::move(folder));
            goes_on_ = true;
            say("model: goes on from " + run_.from);
            return;
        }
        folder.labels = labels_of_data();
        ModelFolder::NewHead heads;
        model_ = SlotModel::create_from(std::move(folder), slot_choice(), run_.options.seed, heads);
        pretrained_ = true;
        say(new_head_text(run_.from, heads));
    }

    void make_model(const Say& say) {
        if (run_.from.empty()) {
            ModelFolder folder = making_.new_folder(texts_of_data(), say);
            folder.labels = labels_of_data();
            model_ = SlotModel::create(std::move(folder), slot_choice(), run_.options.seed);
            start_from_vectors(run_.vectors, *model_.store, *model_.folder.tokenizer, say);
        } else {
            take_from(folder_to_go_on_from(run_, making_.choice.dropout), say);
        }
        model_.precision = precision_of(run_.precision);  // evaluations compute as training does
        std::vector<std::string> contents;
        for (const SlotText& t : train_) {
            intent_ids_.push_back(known(model_.intent_id(t.intent), t, "intent", t.intent));
            Ids& ids = tag_ids_.emplace_back();
            for (const std::string& tag : t.tags)
                ids.push_back(known(model_.label_id(tag), t, "tag", tag));
            contents.push_back(t.intent);
            contents.insert(contents.end(), t.words.begin(), t.words.end());
            contents.insert(contents.end(), t.tags.begin(), t.tags.end());
        }
        note_data(model_.folder, contents, train_.size(), run_);
    }

    static std::int32_t known(std::int32_t id, const SlotText& t, const char* what,
                              const std::string& name) {
        if (id < 0)
            fail_with(ErrorKind::bad_input, "leave out --from to make a new model", t.path, ":",
                      t.line, ": the model of --from has no ", what, " \"", name,
                      "\", which this text has");
        return id;
    }

    bool crf_ = false, no_crf_ = false;
    std::string pool_ = "attention", unknown_ = "error";
    float intent_weight_ = 1, smoothing_ = 0;
    int word_features_ = 0;
    Settings* settings_ = nullptr;  // a resumed run's own recipe comes after check()
    EncoderMaking making_{.model_name = "auto"};
    LayerRates rates_;
    RunSettings run_;
    std::vector<SlotText> train_, dev_;
    std::vector<std::string> intents_, slots_;
    std::vector<Ids> tag_ids_;
    Ids intent_ids_;
    bool pretrained_ = false, goes_on_ = false;
    SlotModel model_;
    std::vector<EncodedWords> examples_;
    std::int64_t tokens_ = 0;
    std::optional<EpochBatches> batches_;
};

}  // namespace

std::unique_ptr<Trainer> make_slots_trainer() { return std::make_unique<SlotsTrainer>(); }

}  // namespace fovea
