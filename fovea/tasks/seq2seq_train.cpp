#include "fovea/tasks/seq2seq_train.h"

#include <xxhash.h>

#include "fovea/autograd/tape.h"
#include "fovea/base/clock.h"
#include "fovea/base/files.h"
#include "fovea/metrics/bleu.h"
#include "fovea/metrics/chrf.h"
#include "fovea/metrics/rouge.h"
#include "fovea/tasks/translate.h"

namespace fovea {
namespace {

// The data by its content: pairs in order.
std::string hash_of(const std::vector<TextPair>& pairs) {
    XXH3_state_t* state = XXH3_createState();
    XXH3_64bits_reset(state);
    for (const TextPair& p : pairs) {
        XXH3_64bits_update(state, p.source.data(), p.source.size() + 1);  // the NUL parts texts
        XXH3_64bits_update(state, p.target.data(), p.target.size() + 1);
    }
    const XXH64_hash_t h = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    char hex[17];
    std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(h));
    return hex;
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

void take_special_ids(TransformerConfig& c, const Tokenizer& source, const Tokenizer& target) {
    c.vocab_size = static_cast<int>(source.vocab_size());
    c.decoder_vocab_size = &source == &target ? 0 : static_cast<int>(target.vocab_size());
    const auto end = target.eos_id() ? target.eos_id() : target.sep_id();
    if (!end)
        throw Error("train: the tokenizer has no end-of-sentence token", ErrorKind::bad_input,
                    "give it one (</s>), or let Fovea train the vocabulary");
    c.eos_token_id = *end;
    c.pad_token_id = target.pad_id().value_or(*end);
    c.decoder_start_token_id = c.pad_token_id;
}

}  // namespace

Seq2SeqTrainer::Seq2SeqTrainer(const Seq2SeqTraining& options, const Say& say) : options_(options) {
    PairProblems problems;
    const std::vector<TextPair> pairs =
        options.draw > 0 ? draw_pairs(options.train, options.draw, options.run.seed, &problems)
                         : read_pairs(options.train, &problems);
    say(text_of("data: ", pairs.size(), " training pairs", options.draw > 0 ? ", drawn" : "",
                problems.skipped ? text_of(", ", problems.skipped, " bad lines passed over") : ""));
    for (const std::string& note : problems.notes) say("data: " + note);
    if (!options.dev.path.empty()) {
        PairFiles dev = options.dev;
        if (options.dev_limit > 0) dev.limit = options.dev_limit;
        dev_ = read_pairs(dev);
    }
    if (!options.from.empty()) {
        model_ = Seq2SeqModel::load(options.from);
        say("model: goes on from " + options.from);
    } else {
        TransformerConfig c = options.config;
        std::shared_ptr<const Tokenizer> source, target;
        if (!options.tokenizer.empty()) {
            source = std::make_shared<const Tokenizer>(Tokenizer::load(options.tokenizer));
            target =
                options.target_tokenizer.empty()
                    ? source
                    : std::make_shared<const Tokenizer>(Tokenizer::load(options.target_tokenizer));
        } else if (options.joint_vocabulary) {
            source = target = vocabulary_for(pairs, true, true, options.vocabulary);
        } else {
            source = vocabulary_for(pairs, true, false, options.vocabulary);
            target = vocabulary_for(pairs, false, true, options.vocabulary);
        }
        take_special_ids(c, *source, *target);
        if (source != target) c.share_encoder_decoder_embeddings = false;
        c.check("train");
        model_ = Seq2SeqModel::create(c, options.run.seed);
        model_.source_tokenizer = source;
        model_.target_tokenizer = target;
        say(text_of("vocabulary: ", source->vocab_size(), " tokens",
                    source == target ? " for both sides"
                                     : text_of(" and ", target->vocab_size(), " (target)")));
    }
    model_.task = options.task;
    model_.search = options.search;
    model_.max_source_length = static_cast<int>(options.limits.source);
    examples_ = encode_examples(model_, pairs, options.limits);
    expect_input(!examples_.source.empty(), options.train.path,
                 ": no pair is left: all are empty or longer than ", options.limits.source,
                 " tokens");
    if (examples_.dropped > 0)
        say(text_of("data: ", examples_.dropped, " pairs left out (empty or too long)"));
    fingerprint_ = {{"train", hash_of(pairs)},
                    {"pairs", pairs.size()},
                    {"seed", options.run.seed},  // the order of the batches
                    {"vocabulary", model_.source_tokenizer->vocab_size()}};
    // The checkpoints' column order, which the saved folder (Marian's halves) may not have.
    model_.about["trained_positions"] = name_of(model_.config.positions);
    model_.about["data"] = fingerprint_;
    model_.about["train_file"] = base_name(options.train.path);
}

Seq2SeqPlan Seq2SeqTrainer::plan() const {
    Seq2SeqPlan p;
    const TransformerConfig& c = model_.config;
    p.parameters = model_.store->count();
    p.pairs = static_cast<std::int64_t>(examples_.source.size());
    p.dropped = examples_.dropped;
    p.source_tokens = examples_.source_tokens;
    p.target_tokens = examples_.target_tokens;
    p.batches_per_epoch = BatchPlan(examples_.lengths, options_.batches, 0).batches();
    // Parameters with gradient and two moments, packed copies; and per token and layer the kept
    // activations: about 10 rows of d and 2 of ffn in the encoder, 16 and 2 in the decoder.
    const double per_token =
        4.0 * (c.encoder_layers * (10.0 * c.d_model + 2.0 * c.encoder_ffn_dim) +
               c.decoder_layers * (16.0 * c.d_model + 2.0 * c.decoder_ffn_dim));
    p.memory_bytes = 4.0 * 6.0 * static_cast<double>(p.parameters) +
                     per_token * static_cast<double>(options_.batches.max_tokens);
    return p;
}

double Seq2SeqTrainer::seconds_per_epoch() const {
    constexpr std::int64_t enough = 512;  // target tokens: beyond, time grows with tokens
    const BatchPlan plan(examples_.lengths, options_.batches, 0);
    std::vector<std::int64_t> slice;
    std::int64_t tokens = 0;
    for (const std::int64_t i : plan[plan.batches() / 2]) {
        if (tokens >= enough) break;
        slice.push_back(i);
        tokens += static_cast<std::int64_t>(examples_.target[static_cast<std::size_t>(i)].size());
    }
    const Seq2SeqBatch b = pack_batch(examples_, slice, model_.config.decoder_start_token_id);
    double best = 0;
    for (int turn = 0; turn < 2; ++turn) {  // the first one warms up
        const Stopwatch clock;
        Tape tape;
        tape.gradients(model_.network->loss(b.source, b.source_segments, b.input, b.labels,
                                            b.target_segments, {.smoothing = options_.smoothing}));
        best = clock.seconds();
    }
    return best * static_cast<double>(examples_.target_tokens) / static_cast<double>(tokens);
}

void Seq2SeqTrainer::dump(const std::string& folder, std::int64_t epochs) const {
    dump_batches(folder, model_, examples_, options_.batches, epochs);
}

TrainTask Seq2SeqTrainer::task() {
    TrainTask t;
    t.store = model_.store.get();
    t.fingerprint = fingerprint_;
    t.config_text = config_text_;
    t.begin_epoch = [this](std::int64_t epoch) {
        plan_.emplace(examples_.lengths, options_.batches, epoch);
        return plan_->batches();
    };
    t.batch_tokens = [this](std::int64_t index) {
        std::int64_t n = 0;
        for (const std::int64_t i : (*plan_)[index])
            n += static_cast<std::int64_t>(examples_.target[static_cast<std::size_t>(i)].size());
        return n;
    };
    t.loss = [this](std::int64_t index) {
        const Seq2SeqBatch b =
            pack_batch(examples_, (*plan_)[index], model_.config.decoder_start_token_id);
        return model_.network->loss(b.source, b.source_segments, b.input, b.labels,
                                    b.target_segments, {.smoothing = options_.smoothing});
    };
    if (!dev_.empty()) t.evaluate = [this] { return evaluate(); };
    t.save_model = [this](const std::string& folder) { model_.save(folder, true); };
    return t;
}

Evaluation Seq2SeqTrainer::evaluate() {
    const Seq2SeqModel* const models[] = {&model_};
    SearchOptions greedy = options_.search;  // the metric while training: greedy is enough
    greedy.beam = greedy.n_best = 1;
    const Seq2SeqScore score = evaluate_pairs(models, dev_, greedy);
    Evaluation e{score.name, score.value, true, score.figures};
    model_.about["dev"] = {
        {"metric", score.name}, {"value", score.value}, {"signature", score.signature}};
    return e;
}

TrainResult Seq2SeqTrainer::run(const TrainEvents& events) {
    return train(task(), options_.run, events);
}

Seq2SeqScore evaluate_pairs(std::span<const Seq2SeqModel* const> models,
                            std::span<const TextPair> pairs, const SearchOptions& search,
                            const std::function<void(std::int64_t, std::int64_t)>& progress) {
    std::vector<std::string> sources;
    std::vector<References> references;
    for (const TextPair& p : pairs) {
        sources.push_back(p.source);
        references.push_back({p.target});
    }
    const Stopwatch watch;
    TranslateOptions options{.search = search};
    options.progress = progress;
    const std::vector<TranslatedText> found = translate(models, sources, options);
    Seq2SeqScore s;
    s.seconds = watch.seconds();
    for (const TranslatedText& t : found) {
        s.outputs.push_back(t.n_best.empty() ? "" : t.n_best[0].text);
        if (!t.n_best.empty())
            s.tokens += static_cast<std::int64_t>(t.n_best[0].hypothesis.token_scores.size());
    }
    std::int64_t exact = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) exact += s.outputs[i] == pairs[i].target;
    s.figures["exact_match"] =
        100.0 * static_cast<double>(exact) / static_cast<double>(pairs.size());
    if (models[0]->task == "summarise") {
        const CorpusRouge r = corpus_rouge(s.outputs, references);
        s.name = "ROUGE-L";
        s.value = 100 * r.mean.rougeL.f1;
        s.signature = r.signature;
        s.figures["rouge1"] = 100 * r.mean.rouge1.f1;
        s.figures["rouge2"] = 100 * r.mean.rouge2.f1;
        s.figures["rougeL"] = 100 * r.mean.rougeL.f1;
        s.figures["rougeLsum"] = 100 * r.mean.rougeLsum.f1;
    } else {
        const BleuScore b = corpus_bleu(s.outputs, references);
        s.name = "BLEU";
        s.value = b.score;
        s.signature = b.signature;
        s.figures["bleu"] = b.score;
        s.figures["bleu_text"] = b.text();
        const ChrfScore c = corpus_chrf(s.outputs, references);
        s.figures["chrf2"] = c.score;
        s.figures["chrf2_signature"] = c.signature;
        s.figures["multi_bleu_lc"] = multi_bleu(s.outputs, references, true).score;
    }
    return s;
}

}  // namespace fovea
