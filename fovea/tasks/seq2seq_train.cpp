#include "fovea/tasks/seq2seq_train.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/files.h"
#include "fovea/data/split.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/tasks/start_vectors.h"
#include "fovea/tasks/training_data.h"

namespace fovea {
namespace {

// The data by its content: pairs in order.
std::string hash_of(const std::vector<TextPair>& pairs) {
    std::vector<std::string> fields;
    for (const TextPair& p : pairs) {
        fields.push_back(p.source);
        fields.push_back(p.target);
    }
    return hash_text(record_hash(fields));
}

// Moves some of the pairs away to measure on.
std::vector<TextPair> split_off_dev(std::vector<TextPair>& pairs) {
    std::vector<std::uint64_t> hashes;
    for (const TextPair& p : pairs) hashes.push_back(record_hash({p.source, p.target}));
    return take_out(pairs, dev_split(hashes));
}

std::shared_ptr<const Tokenizer> vocabulary_for(const std::vector<TextPair>& pairs, bool source,
                                                bool target, const VocabularyOptions& options) {
    std::vector<std::string> texts;
    for (const TextPair& p : pairs) {
        if (source) texts.push_back(p.source);
        if (target) texts.push_back(p.target);
    }
    return std::make_shared<const Tokenizer>(train_vocabulary(texts, options));
}

// The keys that configs of all networks share.
void take_special_ids(Json& c, const Tokenizer& source, const Tokenizer& target) {
    c["vocab_size"] = source.vocab_size();
    c["decoder_vocab_size"] = &source == &target ? 0 : target.vocab_size();
    if (&source != &target) c["share_encoder_decoder_embeddings"] = false;
    const auto end = target.eos_id() ? target.eos_id() : target.sep_id();
    if (!end)
        throw Error("train: the tokenizer has no end-of-sentence token", ErrorKind::bad_input,
                    "give it one (</s>), or let Fovea train the vocabulary");
    c["eos_token_id"] = *end;
    if (c.contains("copy")) c["unk_token_id"] = target.unk_id().value_or(*end);
    c["pad_token_id"] = c["decoder_start_token_id"] = target.pad_id().value_or(*end);
}

// A token behind those of the tokenizer, which no text has: it begins targets read from their end.
void add_direction_token(Json& c, const Tokenizer& source, const Tokenizer& target) {
    c["reverse_token_id"] = target.vocab_size();
    c[&source == &target ? "vocab_size" : "decoder_vocab_size"] = target.vocab_size() + 1;
}

// The encoder of a network as the tasks beside it see it.
TextEncoder encoder_of(const Seq2SeqModel& model) {
    TextEncoder e;
    e.width = model.network.width;
    e.vocabulary = model.network.source_vocabulary;
    e.max_length = model.max_source_length;
    e.layers = 1;  // rates by layer are no settings of these tasks
    e.dropout = model.config.value("dropout", 0.0f);
    e.rows = model.network.encode;
    e.layer_of = [](std::string_view name) {
        const bool table = name.ends_with("shared.weight") ||
                           name.find("encoder.embed_tokens") != std::string_view::npos;
        return table ? 0 : 1;
    };
    return e;
}

}  // namespace

Seq2SeqTrainer::Seq2SeqTrainer(const Seq2SeqTraining& options, const Say& say) : options_(options) {
    options.check();
    read_data(say);
    make_model(say);
    fit_rates(options_.run, model_.network.width);
    examples_ = encode_examples(model_, pairs_, options.limits);
    expect_input(!examples_.source.empty(), options.train.path,
                 ": no pair is left: all are empty or longer than ", options.limits.source,
                 " tokens");
    if (examples_.dropped > 0)
        say(text_of("data: ", examples_.dropped, " pairs left out (empty or too long)"));
    choose_metric(say);
    fingerprint_ = {{"train", hash_of(pairs_)},
                    {"pairs", pairs_.size()},
                    {"seed", options.run.seed},  // the order of the batches
                    {"vocabulary", model_.source_tokenizer->vocab_size()}};
    pairs_ = {};
    model_.about.update(model_.network.about);
    model_.about["data"] = fingerprint_;
    model_.about["train_file"] = base_name(options.train.path);
    source_encoder_ = encoder_of(model_);
}

TrainedEncoder Seq2SeqTrainer::trained_encoder() const {
    TrainedEncoder e;
    e.folder.config = model_.config;
    e.folder.tokenizer = model_.source_tokenizer;
    e.folder.in_training = model_.store;
    e.encoder = &source_encoder_;
    for (const Ids& ids : examples_.source) e.texts.push_back(model_.source_tokenizer->decode(ids));
    return e;
}

void Seq2SeqTrainer::read_data(const Say& say) {
    PairProblems problems;
    pairs_ = options_.draw > 0
                 ? draw_pairs(options_.train, options_.draw, options_.run.seed, &problems)
                 : read_pairs(options_.train, &problems);
    const bool split = options_.dev.path.empty() && options_.split_dev;
    if (split) dev_ = split_off_dev(pairs_);
    say(text_of("data: ", pairs_.size(), " training pairs", options_.draw > 0 ? ", drawn" : "",
                problems.skipped ? text_of(", ", problems.skipped, " bad lines passed over") : ""));
    for (const std::string& note : problems.notes) say("data: " + note);
    if (split && !dev_.empty())
        say(text_of(
            "dev: ", dev_.size(),
            " of the pairs kept back to measure on   change with --dev FILE or --dev none"));
    if (split && dev_.empty())
        say(text_of("dev: none (too few pairs to keep some back): the last model is kept",
                    options_.run.patience > 0 ? ", and --patience has no effect" : ""));
    if (options_.dev.path.empty()) return;
    PairFiles files = options_.dev;
    if (options_.dev_limit > 0) files.limit = options_.dev_limit;
    dev_ = read_pairs(files);
    expect_input(!dev_.empty(), options_.dev.path, ": holds no pair to measure on");
}

void Seq2SeqTrainer::make_model(const Say& say) {
    if (!options_.from.empty()) {
        model_ = Seq2SeqModel::load(options_.from);
        say("model: goes on from " + options_.from);
    } else {
        Json c = options_.new_config();
        std::shared_ptr<const Tokenizer> source, target;
        if (!options_.tokenizer.empty()) {
            source = std::make_shared<const Tokenizer>(Tokenizer::load(options_.tokenizer));
            target =
                options_.target_tokenizer.empty()
                    ? source
                    : std::make_shared<const Tokenizer>(Tokenizer::load(options_.target_tokenizer));
        } else if (options_.joint_vocabulary) {
            source = target = vocabulary_for(pairs_, true, true, options_.vocabulary);
        } else {
            source = vocabulary_for(pairs_, true, false, options_.vocabulary);
            target = vocabulary_for(pairs_, false, true, options_.vocabulary);
        }
        take_special_ids(c, *source, *target);
        if (options_.reverse_share > 0) add_direction_token(c, *source, *target);
        model_ = Seq2SeqModel::create(c, source, target, options_.run.seed);
        start_from_vectors(options_.vectors, *model_.store, *source, say,
                           source == target ? "" : "decoder");
        say(text_of("vocabulary: ", source->vocab_size(), " tokens",
                    source == target ? " for both sides"
                                     : text_of(" and ", target->vocab_size(), " (target)")));
    }
    model_.task = options_.task;
    model_.precision = options_.precision;
    model_.search = options_.search;
    model_.max_source_length = static_cast<int>(options_.limits.source);
    model_.swapped_sides = options_.train.reverse;
}

Seq2SeqPlan Seq2SeqTrainer::plan() const {
    Seq2SeqPlan p;
    p.parameters = model_.store->count();
    p.pairs = static_cast<std::int64_t>(examples_.source.size());
    p.dropped = examples_.dropped;
    p.source_tokens = examples_.source_tokens;
    p.target_tokens = examples_.target_tokens;
    p.batches_per_epoch = BatchPlan(examples_.lengths, options_.batches, 0).batches();
    // Parameters with gradient and two moments, packed copies; and the kept activations.
    p.memory_bytes =
        4.0 * 6.0 * static_cast<double>(p.parameters) +
        model_.network.bytes_per_token * static_cast<double>(options_.batches.max_tokens);
    return p;
}

void Seq2SeqTrainer::dump(const std::string& folder, std::int64_t epochs) const {
    dump_batches(folder, {model_.config, *model_.store}, examples_, options_.batches, epochs);
}

TrainTask Seq2SeqTrainer::task() {
    TrainTask t;
    t.store = model_.store.get();
    t.fingerprint = fingerprint_;
    t.begin_epoch = [this](std::int64_t epoch) {
        draws_ = {options_.run.seed, epoch};
        plan_.emplace(examples_.lengths, options_.batches, epoch);
        return plan_->batches();
    };
    t.batch_weight = [this](std::int64_t index) {
        std::int64_t n = 0;
        for (const std::int64_t i : (*plan_)[index])
            n += static_cast<std::int64_t>(examples_.target[static_cast<std::size_t>(i)].size());
        return n;
    };
    t.loss = [this](std::int64_t index) {
        Seq2SeqBatch b = pack_batch(examples_, (*plan_)[index], model_.network.start_token);
        if (options_.reverse_share > 0)
            b = with_reversed(b, model_.network.reverse_token, options_.reverse_share, draws_);
        if (options_.fixed_lag > 0)
            b = with_own_tokens(model_.network, b, {options_.fixed_lag, options_.lag_share},
                                draws_);
        const Tensor loss = model_.network.loss(b, options_.smoothing);
        if (options_.language_loss == 0) return loss;
        return loss + options_.language_loss *
                          model_.network.loss(without_sources(b, model_.network.end_token),
                                              options_.smoothing);
    };
    t.guessing_loss = std::log(static_cast<double>(model_.network.target_vocabulary));
    if (!dev_.empty()) {
        t.evaluate = [this] { return evaluate(); };
        t.evaluation_seconds = [this] { return evaluation_seconds(); };
    }
    t.save_model = [this](const std::string& folder) { model_.save(folder, true); };
    return t;
}

TrainResult Seq2SeqTrainer::run(const TrainEvents& events) {
    const PrecisionScope scope(model_.precision);
    return train(task(), options_.run, events);
}

}  // namespace fovea
