#include "fovea/models/bag.h"

#include <algorithm>
#include <memory>

#include "fovea/base/json_fields.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/rows/pooling.h"

namespace fovea {
namespace {

// A run and one more token, or word (the finaliser of splitmix64 mixes the bits).
std::uint64_t longer_run(std::uint64_t run, std::uint64_t next) {
    std::uint64_t h = run * 0x9e3779b97f4a7c15ull + next + 1;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
    return h ^ (h >> 31);
}

// Rows of the table for each token of one sequence after the other.
class BagRows {
public:
    explicit BagRows(const BagConfig& c) : c_(c), marks_(c.mark_ids.begin(), c.mark_ids.end()) {
        std::sort(marks_.begin(), marks_.end());
    }

    void add(std::span<const std::int32_t> tokens) {
        std::size_t start = 0;  // of the runs: the separator in front of the word
        std::vector<std::uint64_t> words;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const std::size_t before = ids.size();
            add_runs(tokens.subspan(start, i + 1 - start));
            if (is_mark(tokens[i])) {
                words.push_back(word_of(tokens.subspan(i, 1)));
                add_words(words);
            }
            if (parts(tokens[i]))
                start = i;
            else if (c_.separator_id >= 0 && (i + 1 == tokens.size() || parts(tokens[i + 1]))) {
                words.push_back(word_of(tokens.subspan(start, i + 1 - start)));
                add_words(words);
            }
            lengths.push_back(static_cast<std::int64_t>(ids.size() - before));
        }
    }

    Ids ids;
    std::vector<std::int64_t> lengths;

private:
    bool is_mark(std::int32_t token) const {
        return std::binary_search(marks_.begin(), marks_.end(), token);
    }
    bool parts(std::int32_t token) const {
        return c_.separator_id >= 0 &&
               (token == c_.separator_id || token == c_.end_id || is_mark(token));
    }

    // Its characters, without the separator in front; or a mark.
    std::uint64_t word_of(std::span<const std::int32_t> tokens) const {
        std::uint64_t word = 1;
        for (const std::int32_t token : tokens)
            if (!parts(token) || tokens.size() == 1)
                word = longer_run(word, static_cast<std::uint64_t>(token));
        return word;
    }

    // Those that end with the last of these tokens.
    void add_runs(std::span<const std::int32_t> tokens) {
        std::uint64_t run = 0;
        for (int n = 1; n <= c_.max_ngram && static_cast<std::size_t>(n) <= tokens.size(); ++n) {
            const std::int32_t own = tokens[tokens.size() - static_cast<std::size_t>(n)];
            // A word has the same beginnings and ends beside a mark as beside a separator.
            const std::int32_t token = is_mark(own) ? c_.separator_id : own;
            run = longer_run(run, static_cast<std::uint64_t>(token));
            if (n >= c_.min_ngram) n == 1 ? ids.push_back(token) : add_bucket(run);
        }
    }

    void add_words(std::span<const std::uint64_t> words) {
        std::uint64_t run = 2;
        for (int n = 1; n <= c_.word_ngram && static_cast<std::size_t>(n) <= words.size(); ++n) {
            run = longer_run(run, words[words.size() - static_cast<std::size_t>(n)]);
            add_bucket(run);
        }
    }

    void add_bucket(std::uint64_t run) {
        ids.push_back(c_.vocab_size +
                      static_cast<std::int32_t>(run % static_cast<std::uint64_t>(c_.buckets)));
    }

    const BagConfig& c_;
    std::vector<std::int32_t> marks_;
};

}  // namespace

BagConfig BagConfig::from_json(const Json& json, const std::string& where) {
    BagConfig c;
    c.read(json, where);
    JsonFields f(json, where);
    f.read("max_ngram", c.max_ngram, {1, 64});
    f.read("min_ngram", c.min_ngram, {1, 64});
    f.read("separator_id", c.separator_id, {-1, 1 << 24});
    f.read("end_id", c.end_id, {-1, 1 << 24});
    f.read("mark_ids", c.mark_ids, {0, 1 << 24});
    f.read("word_ngram", c.word_ngram, {0, 64});
    f.read("buckets", c.buckets, {1, 1 << 26});
    return c;
}

Json BagConfig::to_json() const {
    Json j = WordModelConfig::to_json(Bag::model_type);
    j.erase("hidden_size");
    j["min_ngram"] = min_ngram;
    j["max_ngram"] = max_ngram;
    if (separator_id >= 0) {
        j["separator_id"] = separator_id;
        j["end_id"] = end_id;
        if (!mark_ids.empty()) j["mark_ids"] = mark_ids;
        j["word_ngram"] = word_ngram;
    }
    j["buckets"] = buckets;
    return j;
}

// The table begins near zero (Joulin et al.'s own code: uniform within 1 / d): runs that were
// never seen say little.
Bag::Bag(const BagConfig& c, const Params& p)
    : config(c),
      table(p.rows("embeddings.weight", {c.vocab_size + c.buckets, c.embedding_size},
                   uniform(1.0f / static_cast<float>(c.embedding_size)))) {}

Tensor Bag::operator()(const TokenBatch& batch) const {
    BagRows rows(config);
    for (std::int64_t s = 0; s < batch.segments.count(); ++s)
        rows.add(std::span(batch.tokens)
                     .subspan(static_cast<std::size_t>(batch.segments.begin(s)),
                              static_cast<std::size_t>(batch.segments.length(s))));
    Tensor y = segment_mean(gather_rows(table, rows.ids), Segments::of_lengths(rows.lengths));
    y.set_row_names(batch.segments);
    return y;
}

Json Bag::new_config(const EncoderChoice& choice) {
    BagConfig c;
    c.apply(choice);
    c.separator_id = choice.space_token;
    c.end_id = choice.end_token;
    if (choice.space_token >= 0) c.min_ngram = 3, c.max_ngram = 5;
    return c.to_json();
}

TextEncoder Bag::make(const Json& config, const std::string& where, const HeadChoice&,
                      const Params& p) {
    const auto model = std::make_shared<const Bag>(BagConfig::from_json(config, where), p);
    TextEncoder e = word_encoder(model->config, model->config.embedding_size, 0);
    e.rows = [model](const TokenBatch& batch) { return (*model)(batch); };
    return e;
}

}  // namespace fovea
