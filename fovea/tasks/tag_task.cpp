// The training of taggers behind the interface of tasks.
#include <algorithm>
#include <cmath>
#include <map>

#include "fovea/base/files.h"
#include "fovea/data/conll.h"
#include "fovea/data/split.h"
#include "fovea/data/word_features.h"
#include "fovea/metrics/entities.h"
#include "fovea/tasks/encoder_sizes.h"
#include "fovea/tasks/encoder_training.h"
#include "fovea/tasks/start_vectors.h"
#include "fovea/tasks/tag.h"
#include "fovea/tasks/training_data.h"

namespace fovea {
namespace {

constexpr const char* without_encoder = "features";  // --model: a CRF over what words look like

using TagCounts = std::map<std::string, std::int64_t>;

// Entities by their type; of plain tags, words by their tag.
TagCounts counts_of(std::span<const TaggedWords> sentences, bool entities) {
    TagCounts counts;
    for (const TaggedWords& s : sentences) {
        if (entities)
            for (const TagEntity& e : entities_of(s.tags)) ++counts[e.type];
        else
            for (const std::string& tag : s.tags) ++counts[tag];
    }
    return counts;
}

class TagTrainer : public Trainer {
public:
    void describe(Settings& s) override {
        s.add("words", words_key_, "column of the words, by number or name",
              {.group = "data", .otherwise = "the first"});
        s.add("tags", tags_key_, "column of the tags, by number or name",
              {.group = "data", .common = true, .otherwise = "the last"});
        s.add("scheme", scheme_, "how tags mark entities; plain: they do not",
              {.group = "data", .choices = tag_scheme_names()});
        s.add("unknown-label", unknown_, "a sentence of the dev set with a tag training has not",
              {.group = "data", .choices = {"error", "skip"}});
        s.add("crf", crf_, "judge the tags of a sentence together (this is the default)",
              {.group = "model", .common = true});
        s.add("no-crf", no_crf_, "judge each word by itself", {.group = "model", .common = true});
        s.add("word-features", word_features_,
              "width of what words look like, beside the encoder; 0: without",
              {.group = "model", .min = 0, .max = 1 << 16});
        const std::string others[] = {"auto", without_encoder};
        making_.describe(s, others,
                         "what reads the text; features: no network, only how words look; auto: "
                         "a recurrence over words, beside how they look");
        rates_.describe(s);
    }

    std::vector<std::string> metrics() const override { return {"f1", "accuracy"}; }

    void check(Settings& s, const RunSettings& run) override {
        static constexpr const char* of_encoders[] = {
            "preset",        "layers",     "ffn",         "hidden",       "heads",
            "vocab",         "vocab-size", "max-length",  "lowercase",    "tokenizer",
            "word-features", "freeze",     "layer-decay", "min-frequency"};
        settings_ = &s;
        if (crf_ && no_crf_)
            throw Error("--crf and --no-crf do not go together", ErrorKind::usage,
                        "leave out one of them");
        if (!run.from.empty())
            making_.leave_out_with_from(s);
        else if (making_.model_name == without_encoder)
            leave_out(s, of_encoders, "with --model features: there is no network");
    }

    void prepare(RunSettings& run, const Say& say) override {
        run_ = run;
        read_data(say);
        if (settings_ && run.from.empty()) {
            making_.choose_word_reader(*settings_, train_.size(), word_features_, say);
            if (making_.model_name != without_encoder)
                check_encoder_sizes(*settings_, making_.model_name);
        }
        make_model(say);
        std::vector<std::int64_t> lengths;
        for (const TaggedWords& t : train_) {
            examples_.push_back(model_.encode(t.words));
            lengths.push_back(examples_.back().tokens);
            tokens_ += lengths.back();
        }
        if (run.from.empty() || pretrained_) mark_known_features(*model_.network, examples_);
        // About a hundred updates an epoch: files of tagged words are small.
        if (settings_ && !settings_->given("max-tokens"))
            run.batches.max_tokens = std::clamp<std::int64_t>(tokens_ / 100, 256, 4096);
        run.settle(defaults());
        run_ = run;
        batches_.emplace(lengths, run.batches);
    }

    TrainSummary summary() const override {
        const TagNetwork& n = *model_.network;
        std::string model = n.encoder ? text_of(model_type_of(model_.folder.config), ", ",
                                                n.encoder->layers, " layers, d=", n.encoder->width)
                                      : text_of("word features, d=", n.features->config.width);
        if (n.encoder && n.features) model += text_of(", word features, d=", word_features_);
        return summary_of(model + (n.crf ? ", CRF" : ", no CRF"), *model_.store, *batches_,
                          n.encoder ? values_per_token(*n.encoder)
                                    : double{word_feature_count} * n.features->config.width);
    }

    TrainTask task() override {
        TrainTask t = task_over(*batches_, *model_.store, model_.folder);
        t.guessing_loss = std::log(static_cast<double>(model_.folder.labels.size()));
        t.unit = "words";
        t.batch_weight = [this](std::int64_t b) { return words_in(examples_, (*batches_)[b]); };
        t.loss = [this](std::int64_t b) {
            const auto chosen = (*batches_)[b];
            Ids tags;
            for (const std::int64_t i : chosen) {
                const Ids& own = tag_ids_[static_cast<std::size_t>(i)];
                tags.insert(tags.end(), own.begin(), own.end());
            }
            return model_.network->loss(pack_words(examples_, chosen), tags);
        };
        if (!dev_.empty())
            t.evaluate = [this] {
                return noted_evaluation(
                    model_.folder, tag_score(model_, dev_, EntityReading::lenient), run_.metric);
            };
        t.save_model = [this](const std::string& path) { model_.save(path, true); };
        if (model_.network->encoder)
            t.parameter_rules = rates_.rules(*model_.network->encoder, *model_.store);
        return t;
    }

    std::optional<TrainedEncoder> trained_encoder() const override {
        if (!model_.network->encoder) return {};
        TrainedEncoder e{model_.folder, &*model_.network->encoder, texts_of_data()};
        e.folder.in_training = model_.store;
        return e;
    }

private:
    RunDefaults defaults() const {
        if (!model_.network->encoder) return {.rate = 2e-2, .warmup = 100, .epochs = 8};
        return encoder_defaults(model_.network->encoder->width, pretrained_);
    }

    TagChoice tag_choice() const {
        return {.crf = !no_crf_, .entities = entities_, .features = word_features_};
    }

    TaggedFiles files_at(std::vector<std::string> paths) const {
        TaggedFiles files;
        files.paths = std::move(paths);
        files.word_key = words_key_;
        files.tag_key = tags_key_;
        files.scheme = tag_scheme_of(scheme_);
        files.skip_bad = run_.skip_bad;
        return files;
    }

    void read_data(const Say& say) {
        TaggedData data = read_tagged(files_at(run_.train));
        for (const std::string& note : data.problems.notes) say("data: " + note);
        if (data.problems.skipped > 0)
            say(text_of("data: ", data.problems.skipped, " bad sentences were passed over"));
        train_ = std::move(data.sentences);
        entities_ = data.scheme != TagScheme::plain;
        if (!entities_ && run_.metric == "f1")
            throw Error("--metric f1: the tags mark no entities", ErrorKind::usage,
                        "--metric accuracy, or --tags with the column of the entities");
        keep_drawn(train_, run_.limit, run_.options.seed);
        if (run_.has_dev_file()) {
            TaggedFiles files = files_at({run_.dev});
            files.limit = run_.dev_limit;
            TaggedData dev = read_tagged(files);
            if (entities_ != (dev.scheme != TagScheme::plain))
                fail_with(ErrorKind::bad_input, "both need the same kind; --tags names the column",
                          run_.dev, ": its tags ", entities_ ? "mark no" : "mark",
                          " entities, but those of the training data ",
                          entities_ ? "do" : "do not");
            dev_ = std::move(dev.sentences);
        } else if (run_.measures()) {
            hold_out(say);
        }
        const TagCounts counts = counts_of(train_, entities_);
        expect_input(counts.size() >= (entities_ ? 1u : 2u), run_.train[0],
                     entities_ ? ": no word has a tag other than O"
                               : ": all words have the same tag, but at least two are wanted");
        for (const auto& [name, count] : counts) names_.push_back(name);
        check_dev(counts, say);
        std::int64_t words = 0;
        for (const TaggedWords& t : train_) words += static_cast<std::int64_t>(t.words.size());
        say(text_of("data: ", train_.size(), " sentences, ", words, " words, ",
                    entities_ ? "entities: " : "tags: ", counts_text(counts)));
    }

    void hold_out(const Say& say) {
        std::vector<std::uint64_t> hashes;
        for (const TaggedWords& t : train_) hashes.push_back(record_hash(t.words));
        dev_ = take_out(train_, dev_split(hashes));
        // A type that would then be in no training sentence stays there.
        for (TaggedWords& t : take_unknown_sentences()) train_.push_back(std::move(t));
        if (!dev_.empty())
            say(text_of("data: ", dev_.size(),
                        " sentences are held out to measure on (--dev FILE gives others)"));
    }

    std::vector<TaggedWords> take_unknown_sentences() {
        return take_unknown(dev_, std::span<const TaggedWords>(train_),
                            [this](const TaggedWords& t) {
                                std::vector<std::string> names;
                                for (const auto& [name, count] : counts_of({&t, 1}, entities_))
                                    names.push_back(name);
                                return names;
                            });
    }

    void check_dev(const TagCounts& seen, const Say& say) {
        if (unknown_ == "skip") {
            const std::size_t skipped = take_unknown_sentences().size();
            say_skipped({"sentence", "a tag"}, skipped, dev_.size(), run_, say);
        }
        for (const TaggedWords& t : dev_)
            for (const auto& [name, count] : counts_of({&t, 1}, entities_))
                if (!seen.count(name))
                    fail_with(ErrorKind::bad_input,
                              "--unknown-label skip passes over such sentences; seen: " +
                                  counts_text(seen),
                              t.path, ":", t.line, ": the ", entities_ ? "type" : "tag", " \"",
                              name, "\" of this sentence was never seen in training");
    }

    std::vector<std::string> labels_of_data() const {
        if (!entities_) return names_;
        return bio_labels(names_);
    }

    // Goes on with a tagger, or puts new labels on the encoder of a model of another task.
    void take_from(ModelFolder folder, const Say& say) {
        if (folder.task.empty()) folder.task = task_of_config(folder);
        if (folder.task == "tag" && !folder.in_training) {
            model_ = TagModel::open(std::move(folder));
            const bool has = model_.network->crf.has_value();
            if (word_features_ > 0)
                refuse_without_effect("word-features",
                                      "where the model of --from is a tagger already",
                                      "leave it out");
            if ((crf_ && !has) || (no_crf_ && has))
                refuse_without_effect(crf_ ? "crf" : "no-crf",
                                      "where the model of --from is a tagger already",
                                      "leave it out");
            say("model: goes on from " + run_.from);
            return;
        }
        folder.labels = labels_of_data();
        ModelFolder::NewHead heads;
        model_ = TagModel::create_from(std::move(folder), tag_choice(), run_.options.seed, heads);
        pretrained_ = true;
        say(new_head_text(run_.from, heads));
    }

    std::vector<std::string> texts_of_data() const {
        std::vector<std::string> texts;
        for (const TaggedWords& t : train_) texts.push_back(sentence_text(t.words));
        return texts;
    }

    ModelFolder new_folder(const Say& say) {
        ModelFolder folder;
        if (making_.model_name == without_encoder) {
            // Every folder has a tokenizer; this model reads words and does not ask it.
            VocabularyChoice letters;
            letters.kind = "characters";
            folder.tokenizer = letters.make(texts_of_data(), [](const std::string&) {});
            folder.target_tokenizer = folder.tokenizer;
            FeatureEmbeddingConfig c;
            c.features = word_feature_count;
            c.width = making_.choice.width.value_or(c.width);
            c.dropout = making_.choice.dropout.value_or(c.dropout);
            folder.config = c.to_json();
        } else {
            folder = making_.new_folder(texts_of_data(), say);
        }
        folder.labels = labels_of_data();
        return folder;
    }

    void make_model(const Say& say) {
        if (run_.from.empty()) {
            model_ = TagModel::create(new_folder(say), tag_choice(), run_.options.seed);
            start_from_vectors(run_.vectors, *model_.store, *model_.folder.tokenizer, say);
        } else {
            take_from(folder_to_go_on_from(run_, making_.choice.dropout), say);
        }
        model_.precision = precision_of(run_.precision);  // evaluations compute as training does
        std::vector<std::string> contents;
        for (const TaggedWords& t : train_) {
            Ids& ids = tag_ids_.emplace_back();
            for (const std::string& tag : t.tags) {
                ids.push_back(model_.label_id(tag));
                if (ids.back() < 0)
                    throw Error(text_of(t.path, ":", t.line, ": the model of --from has no tag \"",
                                        tag, "\", which this sentence has"),
                                ErrorKind::bad_input, "leave out --from to make a new model");
            }
            contents.insert(contents.end(), t.words.begin(), t.words.end());
            contents.insert(contents.end(), t.tags.begin(), t.tags.end());
        }
        note_data(model_.folder, contents, train_.size(), run_);
    }

    std::string words_key_, tags_key_, scheme_ = "auto", unknown_ = "error";
    bool crf_ = false, no_crf_ = false;
    int word_features_ = 0;
    Settings* settings_ = nullptr;  // a resumed run's own recipe comes after check()
    EncoderMaking making_{.model_name = "auto"};
    LayerRates rates_;
    RunSettings run_;
    std::vector<TaggedWords> train_, dev_;
    bool entities_ = true, pretrained_ = false;
    std::vector<std::string> names_;  // types of entities, or plain tags
    std::vector<Ids> tag_ids_;
    TagModel model_;
    std::vector<EncodedWords> examples_;
    std::int64_t tokens_ = 0;
    std::optional<EpochBatches> batches_;
};

}  // namespace

std::unique_ptr<Trainer> make_tag_trainer() { return std::make_unique<TagTrainer>(); }

}  // namespace fovea
