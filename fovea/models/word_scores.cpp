#include "fovea/models/word_scores.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "fovea/ops/arithmetic.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/rows/pooling.h"

namespace fovea {
namespace {

std::span<const std::int32_t> text_of_batch(const TokenBatch& batch, std::int64_t s) {
    return std::span(batch.tokens)
        .subspan(static_cast<std::size_t>(batch.segments.begin(s)),
                 static_cast<std::size_t>(batch.segments.length(s)));
}

// The places [begin, end) of `ids` in an order that puts equal ones side by side.
std::vector<std::size_t> grouped(const Ids& ids, std::size_t begin, std::size_t end) {
    std::vector<std::size_t> order(end - begin);
    std::iota(order.begin(), order.end(), begin);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return ids[a] != ids[b] ? ids[a] < ids[b] : a < b;
    });
    return order;
}

// A weight for each run of a text, in the order of its runs; a run that occurs again shares its
// weight among its places.
class RunWeights {
public:
    RunWeights(const WordRuns& runs, const Tensor& idf) : runs_(runs), idf_(idf.data()) {}

    void add_text(std::size_t begin, std::size_t end) {
        values.resize(end, 0.0f);
        double squares[2] = {0, 0};
        const std::vector<std::size_t> order = grouped(runs_.ids, begin, end);
        for (std::size_t first = 0; first < order.size();) {
            std::size_t past = first;
            while (past < order.size() && runs_.ids[order[past]] == runs_.ids[order[first]]) ++past;
            const auto times = static_cast<double>(past - first);
            const double weight = (1 + std::log(times)) * idf_[runs_.ids[order[first]]];
            squares[kind(order[first])] += weight * weight;
            for (; first < past; ++first) values[order[first]] = static_cast<float>(weight / times);
        }
        for (std::size_t i = begin; i < end; ++i)
            if (squares[kind(i)] > 0)
                values[i] *= static_cast<float>(1 / std::sqrt(squares[kind(i)]));
    }

    std::vector<float> values;

private:
    std::size_t kind(std::size_t run) const { return runs_.of_words[run] ? 1 : 0; }
    const WordRuns& runs_;
    const float* idf_;
};

}  // namespace

WordScoresConfig WordScoresConfig::from_json(const Json& json, const std::string& where) {
    WordScoresConfig c;
    c.read(json, where);
    c.read_runs(json, where);
    return c;
}

Json WordScoresConfig::to_json() const {
    Json j = WordModelConfig::to_json(WordScores::model_type);
    j.erase("hidden_size");
    write_runs(j);
    return j;
}

WordScores::WordScores(const WordScoresConfig& c, const HeadChoice& head, const Params& p)
    : config(c) {
    const bool scores = head.head == Head::classes;
    const int rows = c.vocab_size + c.buckets, width = scores ? head.classes : c.embedding_size;
    const Init near_zero = uniform(1.0f / static_cast<float>(width));  // as in Bag: to be moved on
    table = p.rows("embeddings.weight", {rows, width}, scores ? zeros() : near_zero);
    p.store().keep_exact(p.full("embeddings.idf"));
    idf = p.constant("embeddings.idf", {rows}, ones());
    if (scores) bias = p.get("classifier.bias", {width}, zeros());
}

Tensor WordScores::operator()(const TokenBatch& batch) const {
    WordRuns runs(config, config.vocab_size);
    RunWeights weights(runs, idf);
    for (std::int64_t s = 0; s < batch.segments.count(); ++s) {
        const std::size_t begin = runs.ids.size();
        add_runs(text_of_batch(batch, s), runs);
        weights.add_text(begin, runs.ids.size());
    }
    Tensor y = segment_sum(gather_rows(table, runs.ids), weights.values,
                           Segments::of_lengths(runs.lengths));
    y.set_row_names(batch.segments);
    return y;
}

Tensor WordScores::sum(const Tensor& rows, const Segments& texts) const {
    const std::vector<float> ones(static_cast<std::size_t>(rows.rows()), 1.0f);
    return segment_sum(rows, ones, texts) + bias;
}

void WordScores::add_runs(std::span<const std::int32_t> text, WordRuns& runs) const {
    Ids parted(text.begin(), text.end());
    if (config.separator_id >= 0)
        std::replace(parted.begin(), parted.end(), config.end_id, config.separator_id);
    runs.add(parted);
}

void WordScores::count(const TokenBatch& texts) const {
    std::vector<std::int64_t> having(static_cast<std::size_t>(idf.size()), 0);
    for (std::int64_t s = 0; s < texts.segments.count(); ++s) {
        WordRuns runs(config, config.vocab_size);
        add_runs(text_of_batch(texts, s), runs);
        std::sort(runs.ids.begin(), runs.ids.end());
        runs.ids.erase(std::unique(runs.ids.begin(), runs.ids.end()), runs.ids.end());
        for (const std::int32_t id : runs.ids) ++having[static_cast<std::size_t>(id)];
    }
    const auto n = static_cast<double>(texts.segments.count());
    float* counted = Tensor(idf).write();  // a handle: the model's own numbers
    for (std::size_t f = 0; f < having.size(); ++f) {
        const auto n_f = static_cast<double>(having[f]);
        counted[f] = having[f] == 0 ? 0.0f : static_cast<float>(1 + std::log((1 + n) / (1 + n_f)));
    }
}

Json WordScores::new_config(const EncoderChoice& choice) {
    WordScoresConfig c;
    c.apply(choice);
    c.apply_runs(choice);
    // Single letters tell scripts and languages apart; elsewhere they do no harm (docs/results.md).
    if (choice.space_token >= 0) c.min_ngram = 1, c.max_ngram = 4;
    return c.to_json();
}

TextEncoder WordScores::make(const Json& config, const std::string& where, const HeadChoice& head,
                             const Params& p) {
    const WordScoresConfig c = WordScoresConfig::from_json(config, where);
    const auto model = std::make_shared<const WordScores>(c, head, p);
    TextEncoder e = word_encoder(c, static_cast<int>(model->table.cols()), 0);
    e.rows = [model](const TokenBatch& batch) { return (*model)(batch); };
    e.count = [model](const TokenBatch& texts) { model->count(texts); };
    if (head.head == Head::classes)
        e.classes = [model](const Tensor& rows, const Segments& texts) {
            return model->sum(rows, texts);
        };
    return e;
}

}  // namespace fovea
