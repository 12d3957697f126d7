#include "fovea/tasks/pretrained_model.h"

#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/data/batch_plan.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/rows/top_k.h"

namespace fovea {
namespace {

// The rows that words are told from; `rows` are those of all tokens.
Tensor told_rows(const TextEncoder& e, const Tensor& rows, const PretrainBatch& batch) {
    if (!batch.order.empty()) {
        RowMemory memory;
        if (!batch.before.tokens.empty()) memory = e.remember(batch.before, batch.left_to_right);
        return e.targets({.batch = batch.tokens,
                          .order = batch.order,
                          .predicted = batch.predicted,
                          .memory = memory.empty() ? nullptr : &memory});
    }
    return batch.chosen.rows.empty() ? rows : gather_rows(rows, batch.chosen.rows);
}

// Of all tokens; a batch with an order of its own has no use for them.
Tensor all_rows(const TextEncoder& e, const PretrainBatch& batch) {
    return batch.order.empty() ? e.rows(batch.tokens) : Tensor();
}

// What one sequence adds to the figures. Sums are made sequence by sequence, in order: a figure
// does not depend on which of them shared a batch.
struct SequenceFigures {
    double loss = 0, next_loss = 0;
    std::int64_t right = 0, told = 0;
    bool next_right = false;
};

double log_prob(const TokenScores& s, std::int32_t label) {
    return static_cast<double>(s.log_prob(label));
}

struct ToldWord {
    double log_prob = 0;
    bool right = false;  // it was the most probable
};

// Scores over a whole vocabulary are the largest thing here: they are made for some rows at a time.
std::vector<ToldWord> told_words(const TextEncoder& e, const Tensor& rows, const Ids& labels) {
    constexpr std::int64_t at_once = 512;
    std::vector<ToldWord> out;
    for (std::int64_t from = 0; from < rows.rows(); from += at_once) {
        Ids some(static_cast<std::size_t>(std::min(at_once, rows.rows() - from)));
        std::iota(some.begin(), some.end(), static_cast<std::int32_t>(from));
        const Tensor logits = e.words(gather_rows(rows, some));
        for (const TokenScores& s : top_scores(logits, 1)) {
            const std::int32_t label = labels[out.size()];
            out.push_back({log_prob(s, label), s.best[0] == label});
        }
    }
    return out;
}

void measure_batch(const PretrainedModel& model, const PretrainBatch& b,
                   std::span<SequenceFigures> to) {
    const TextEncoder& e = *model.encoder;
    const Tensor rows = all_rows(e, b);
    const std::vector<ToldWord> words = told_words(e, told_rows(e, rows, b), b.chosen.labels);
    std::size_t at = 0;
    for (std::size_t i = 0; i < to.size(); ++i) {
        for (std::int64_t k = 0; k < b.told[i]; ++k, ++at) {
            to[i].loss -= words[at].log_prob;
            to[i].right += words[at].right;
        }
        to[i].told = b.told[i];
    }
    if (b.next.empty()) return;
    const Tensor next_logits = e.next(rows, b.tokens.segments);
    const std::vector<TokenScores> next = top_scores(next_logits, 1);
    for (std::size_t i = 0; i < to.size(); ++i) {
        to[i].next_loss = -log_prob(next[i], b.next[i]);
        to[i].next_right = next[i].best[0] == b.next[i];
    }
}

}  // namespace

PretrainedModel PretrainedModel::create(ModelFolder folder, Head head, std::uint64_t seed) {
    PretrainedModel m;
    m.folder = std::move(folder);
    m.store = std::make_shared<ParameterStore>();
    Rng rng(seed, 0x696e6974);  // the stream of initial values
    m.encoder = std::make_shared<const TextEncoder>(
        text_encoder_of(m.folder.config, "config")
            .make(m.folder.config, "config", {head}, Params(*m.store, rng)));
    return m;
}

PretrainedModel PretrainedModel::open(ModelFolder folder, const WeightChoice& weights) {
    PretrainedModel m;
    m.folder = std::move(folder);
    m.precision = weights.precision;
    const std::string where = m.folder.config_path();
    const TextEncoderEntry& entry = text_encoder_of(m.folder.config, where);
    // A bare model's folder says nothing; it has no head to load, and is refused for it.
    const Head head = head_named_in(m.folder.config).value_or(Head::words);
    const auto make = [&](const Params& p) {
        return std::make_shared<const TextEncoder>(entry.make(m.folder.config, where, {head}, p));
    };
    m.store = m.folder.load(entry.rules(), weights.format, make);
    Rng unused;
    m.encoder = make(Params(*m.store, unused));
    m.has_types = pair_frame(*m.folder.tokenizer).has_types();
    if (m.folder.about.value("documents", Json()) == "pairs")
        m.languages = std::make_shared<const LanguageFrame>(*m.folder.tokenizer);
    expect_input(m.encoder->vocabulary >= m.folder.tokenizer->vocab_size(), m.folder.path,
                 ": the tokenizer has ", m.folder.tokenizer->vocab_size(),
                 " tokens, but the model knows ", m.encoder->vocabulary);
    return m;
}

void PretrainedModel::save(const std::string& path, bool overwrite) const {
    save_pretrained(folder, *store, path, overwrite);
}

void save_pretrained(const ModelFolder& model, const ParameterStore& trained,
                     const std::string& out, bool overwrite) {
    model.save(out, trained, text_encoder_of(model.config, model.config_path()).rules(), overwrite);
}

Tensor PretrainedModel::loss(const PretrainBatch& batch) const {
    const Tensor rows = all_rows(*encoder, batch);
    const Tensor words = encoder->word_loss(told_rows(*encoder, rows, batch), batch.chosen.labels);
    if (batch.next.empty()) return words;
    return words + cross_entropy(encoder->next(rows, batch.tokens.segments), batch.next);
}

PretrainFigures measure(const PretrainedModel& model, const PretrainSequences& sequences,
                        const MeasureOptions& options) {
    const PrecisionScope scope(model.precision);
    const std::int64_t all = sequences.count(),
                       count = options.limit > 0 ? std::min(options.limit, all) : all;
    std::vector<std::int64_t> chosen, lengths;
    for (std::int64_t i = 0; i < count; ++i) {
        chosen.push_back(i * all / count);
        lengths.push_back(sequences.lengths()[static_cast<std::size_t>(chosen.back())]);
    }
    const BatchPlan plan(
        lengths, {.max_tokens = options.batch_tokens, .shuffle = false, .bucket = false}, 0);
    std::vector<SequenceFigures> each(static_cast<std::size_t>(count));
    std::int64_t done = 0;
    for (std::int64_t b = 0; b < plan.batches(); ++b) {
        if (options.goes_on && !options.goes_on(done, count)) break;
        std::vector<std::int64_t> indices;
        for (const std::int64_t i : plan[b]) indices.push_back(chosen[static_cast<std::size_t>(i)]);
        const auto size = static_cast<std::int64_t>(indices.size());
        measure_batch(model, sequences.batch(indices),
                      std::span(each).subspan(static_cast<std::size_t>(done),
                                              static_cast<std::size_t>(size)));
        done += size;
    }
    PretrainFigures f;
    f.sequences = done;
    f.has_next = static_cast<bool>(model.encoder->next) &&
                 sequences.objective() == Objective::masked_and_next;
    std::int64_t right = 0, next_right = 0;
    for (const SequenceFigures& s : each) {
        f.loss += s.loss, f.next_loss += s.next_loss, f.told += s.told;
        right += s.right, next_right += s.next_right;
    }
    const auto told = static_cast<double>(std::max<std::int64_t>(f.told, 1)),
               texts = static_cast<double>(std::max<std::int64_t>(done, 1));
    f.loss /= told;
    f.accuracy = 100 * static_cast<double>(right) / told;
    f.next_loss /= texts;
    f.next_accuracy = 100 * static_cast<double>(next_right) / texts;
    return f;
}

double PretrainFigures::perplexity() const { return std::exp(loss); }

Json PretrainFigures::json() const {
    Json j{{"loss", loss}, {"perplexity", perplexity()}, {"accuracy", accuracy}};
    if (has_next) j["next_accuracy"] = next_accuracy, j["next_loss"] = next_loss;
    return j;
}

}  // namespace fovea
