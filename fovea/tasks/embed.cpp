#include "fovea/tasks/embed.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/json_fields.h"
#include "fovea/data/batch_plan.h"
#include "fovea/data/word_corpus.h"
#include "fovea/ops/linear.h"
#include "fovea/ops/rows/pooling.h"
#include "fovea/tasks/vectors.h"

namespace fovea {
namespace {

constexpr std::uint32_t initial_embedder = 0x656d6264;

Pool pool_in(const Json& config, const std::string& where) {
    int choice = 1;
    JsonFields(config, where).read_choice("embedding_pooling", {"first", "mean", "max"}, choice);
    return choice == 0 ? Pool::first : choice == 1 ? Pool::mean : Pool::max;
}

std::shared_ptr<const TextEncoder> encoder_over(const Json& config, const std::string& where,
                                                const Params& p) {
    return std::make_shared<const TextEncoder>(
        text_encoder_of(config, where).make(config, where, {}, p));
}

Tensor word_sentence_vectors(const EmbedModel& model, std::span<const std::string> texts,
                             const EmbedOptions& options) {
    const std::int64_t dim = model.words->dim();
    Tensor out = Tensor::zeros({static_cast<std::int64_t>(texts.size()), dim});
    const bool lower = model.folder.config.value("lowercase", false);
    std::vector<float> one(static_cast<std::size_t>(dim));
    for (std::size_t i = 0; i < texts.size(); ++i) {
        float* to = out.write() + static_cast<std::int64_t>(i) * dim;
        std::int64_t found = 0;
        for_each_word(lower ? lowercased(texts[i]) : texts[i], [&](std::string_view word) {
            if (!model.words->vector_of(word, one.data())) return;
            normalise(one);
            for (std::size_t j = 0; j < one.size(); ++j) to[j] += one[j];
            ++found;
        });
        for (std::int64_t j = 0; j < dim && found > 0; ++j) to[j] /= static_cast<float>(found);
        if (found == 0 && options.notes)
            (*options.notes)[i] = "without a known word: their vector is zero";
    }
    return out;
}

struct TextWindows {  // of all texts
    std::vector<Ids> ids;
    std::vector<std::int64_t> lengths;
    std::vector<std::size_t> text;
};

// What a text's windows give together.
void join_window(Pool pool, const float* v, float share, bool first, float* to, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) {
        if (first)
            to[j] = pool == Pool::mean ? share * v[j] : v[j];
        else if (pool == Pool::mean)
            to[j] += share * v[j];
        else if (pool == Pool::max)
            to[j] = std::max(to[j], v[j]);
    }
}

Tensor encoder_sentence_vectors(const EmbedModel& model, std::span<const std::string> texts,
                                const EmbedOptions& options, const PredictControl& control) {
    const PrecisionScope scope(model.precision);
    TextWindows all;
    std::vector<std::int64_t> tokens(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
        std::vector<Ids> windows = model.encode(texts[i]);
        if (windows.size() > 1 && options.notes)
            (*options.notes)[i] = text_of("longer than the ", model.encoder->max_length,
                                          " tokens that the model takes: read in windows");
        for (Ids& ids : windows) {
            all.lengths.push_back(static_cast<std::int64_t>(ids.size()));
            tokens[i] += all.lengths.back();
            all.ids.push_back(std::move(ids));
            all.text.push_back(i);
        }
    }
    const std::int64_t width = model.width();
    Tensor by_window({static_cast<std::int64_t>(all.ids.size()), width});
    const BatchPlan plan(all.lengths, {.max_tokens = options.batch_tokens, .shuffle = false}, 0);
    std::int64_t done = 0;
    for (std::int64_t b = 0; b < plan.batches(); ++b) {
        if (control.stop && control.stop->load()) break;
        const Tensor v = model.pooled(pack(all.ids, plan[b], {}));
        for (std::int64_t k = 0; k < v.rows(); ++k)
            std::copy_n(v.data() + k * width, width,
                        by_window.write() + plan[b][static_cast<std::size_t>(k)] * width);
        done += v.rows();
        if (control.progress)
            control.progress(std::min<std::int64_t>(done, static_cast<std::int64_t>(texts.size())),
                             static_cast<std::int64_t>(texts.size()));
    }
    Tensor out({static_cast<std::int64_t>(texts.size()), width});
    for (std::size_t w = 0; w < all.ids.size(); ++w) {
        const std::size_t text = all.text[w];
        const bool first = w == 0 || all.text[w - 1] != text;
        const float share = static_cast<float>(all.lengths[w]) / static_cast<float>(tokens[text]);
        join_window(model.pool, by_window.data() + static_cast<std::int64_t>(w) * width, share,
                    first, out.write() + static_cast<std::int64_t>(text) * width, width);
    }
    return out;
}

}  // namespace

EmbedModel EmbedModel::create(ModelFolder folder, Pool pool, std::uint64_t seed) {
    EmbedModel m;
    m.folder = std::move(folder);
    m.folder.task = "embed";
    m.folder.config["embedding_pooling"] = name_of(pool);
    m.pool = pool;
    m.store = std::make_shared<ParameterStore>();
    Rng rng(seed, initial_embedder);
    m.encoder = encoder_over(m.folder.config, "config", Params(*m.store, rng));
    return m;
}

EmbedModel EmbedModel::open(ModelFolder folder, std::optional<Pool> pool,
                            const WeightChoice& weights) {
    EmbedModel m;
    m.precision = weights.precision;
    if (model_type_of(folder.config) == word_vectors_type) {
        if (pool && *pool != Pool::mean)
            fail_with(ErrorKind::usage, "leave --pool out", folder.path,
                      ": holds word vectors, whose mean is the sentence's vector");
        WordVectorModel words = WordVectorModel::open(std::move(folder));
        m.folder = std::move(words.folder);
        m.store = std::move(words.store);
        m.words = std::move(words.vectors);
        return m;
    }
    m.folder = std::move(folder);
    m.folder.generation = Json::object();
    const std::string where = m.folder.config_path();
    m.pool = pool ? *pool : pool_in(m.folder.config, where);
    const TextEncoderEntry& entry = text_encoder_of(m.folder.config, where);
    const auto make = [&](const Params& p) { return encoder_over(m.folder.config, where, p); };
    const std::string own[] = {"pooling.**", "classifier.**", "crf.**"};
    ModelFolder::NewHead left;
    m.store = m.folder.load_body(entry, own, make, left);
    Rng unused;
    m.encoder = make(Params(*m.store, unused));
    expect_input(m.folder.tokenizer->vocab_size() <= m.encoder->vocabulary, where,
                 ": the model has ", m.encoder->vocabulary, " tokens but its tokenizer has ",
                 m.folder.tokenizer->vocab_size());
    return m;
}

void EmbedModel::save(const std::string& path, bool overwrite) const {
    save_embedder(folder, *store, path, overwrite);
}

void save_embedder(const ModelFolder& model, const ParameterStore& trained, const std::string& out,
                   bool overwrite) {
    model.save(out, trained, text_encoder_of(model.config, model.config_path()).rules(), overwrite);
}

std::vector<Ids> EmbedModel::encode(const std::string& text) const {
    const std::int64_t most = encoder->max_length;
    const Encoding e = folder.tokenizer->encode(
        text, {.truncation = Truncation{.max_length = most, .stride = most / 4}});
    std::vector<Ids> windows{Ids(e.ids.begin(), e.ids.end())};
    for (const Encoding& more : e.overflowing)
        windows.emplace_back(more.ids.begin(), more.ids.end());
    return windows;
}

Tensor EmbedModel::pooled(const TokenBatch& batch) const {
    const Tensor rows = encoder->rows(batch);
    if (pool == Pool::first) return segment_first(rows, batch.segments);
    return pool == Pool::max ? segment_max(rows, batch.segments)
                             : segment_mean(rows, batch.segments);
}

Tensor sentence_vectors(const EmbedModel& model, std::span<const std::string> texts,
                        const EmbedOptions& options, const PredictControl& control) {
    if (options.notes) options.notes->assign(texts.size(), "");
    if (texts.empty()) return Tensor::zeros({0, model.width()});
    Tensor v = model.words ? word_sentence_vectors(model, texts, options)
                           : encoder_sentence_vectors(model, texts, options, control);
    for (std::int64_t i = 0; options.normalised && i < v.rows(); ++i)
        normalise({v.write() + i * v.cols(), static_cast<std::size_t>(v.cols())});
    return v;
}

std::vector<std::vector<TextNeighbour>> nearest_texts(const Tensor& queries,
                                                      const Tensor& candidates, std::size_t count) {
    const auto unit = [](const Tensor& x) {
        Tensor u = Tensor::of(x.shape(), x.span());
        for (std::int64_t i = 0; i < u.rows(); ++i)
            normalise({u.write() + i * u.cols(), static_cast<std::size_t>(u.cols())});
        return u;
    };
    std::vector<std::vector<TextNeighbour>> out(static_cast<std::size_t>(queries.rows()));
    if (queries.rows() == 0 || candidates.rows() == 0) return out;
    const Tensor scores = linear(unit(queries), unit(candidates));
    for (std::size_t q = 0; q < out.size(); ++q) {
        for (std::int64_t c = 0; c < scores.cols(); ++c)
            out[q].push_back({c, scores.at(static_cast<std::int64_t>(q), c)});
        const std::size_t kept = std::min(count, out[q].size());
        std::partial_sort(out[q].begin(), out[q].begin() + static_cast<std::ptrdiff_t>(kept),
                          out[q].end(), [](const TextNeighbour& a, const TextNeighbour& b) {
                              return a.similarity != b.similarity ? a.similarity > b.similarity
                                                                  : a.text < b.text;
                          });
        out[q].resize(kept);
    }
    return out;
}

MetricScore score_pairs(const Tensor& left, const Tensor& right) {
    double first = 0, reciprocal = 0;
    const auto found = nearest_texts(left, right, static_cast<std::size_t>(right.rows()));
    for (std::size_t i = 0; i < found.size(); ++i)
        for (std::size_t k = 0; k < found[i].size(); ++k) {
            if (found[i][k].text != static_cast<std::int64_t>(i)) continue;
            first += k == 0 ? 1 : 0;
            reciprocal += 1.0 / static_cast<double>(k + 1);
        }
    const auto n = static_cast<double>(std::max<std::size_t>(1, found.size()));
    return {"accuracy", 100 * first / n, true, text_of("nearest-of-", found.size(), "|cosine"),
            Json{{"accuracy", 100 * first / n}, {"mrr", 100 * reciprocal / n}}};
}

}  // namespace fovea
