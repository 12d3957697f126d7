// A tagger's network, its folder, and how words become what it reads.
#include <algorithm>

#include "fovea/base/json_fields.h"
#include "fovea/data/word_features.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/tasks/tag.h"

namespace fovea {
namespace {

constexpr std::uint32_t initial_tagger = 0x696e6974;  // the stream of initial values

bool is_feature_model(const Json& config) {
    return config.value("model_type", std::string()) == FeatureEmbedding::model_type;
}

std::span<const NameRule> tagger_rules(const Json& config, const std::string& where) {
    if (is_feature_model(config)) return {};
    return text_encoder_of(config, where).rules();
}

bool flag_in(const Json& config, const std::string& where, const char* name) {
    bool on = false;
    JsonFields(config, where).read(name, on);
    return on;
}

// I-X only behind B-X or I-X; anything may end.
TagOrder bio_order(const std::vector<std::string>& labels) {
    TagOrder order;
    const std::size_t n = labels.size();
    order.end.assign(n, 1);
    order.start.assign(n, 1);
    order.pairs.assign(n * n, 1);
    for (std::size_t after = 0; after < n; ++after) {
        const auto t = chunk_tag(labels[after]);
        if (!t || t->part != 'I') continue;
        order.start[after] = 0;
        for (std::size_t before = 0; before < n; ++before) {
            const auto b = chunk_tag(labels[before]);
            order.pairs[before * n + after] = b && b->part != 'O' && b->type == t->type;
        }
    }
    return order;
}

// config.json of a new tagger.
void name_choice(Json& config, const TagChoice& choice) {
    for (const char* old : {"pooling", "problem_type", "crf", "bio"}) config.erase(old);
    config["crf"] = choice.crf;
    config["bio"] = choice.entities;
    if (!is_feature_model(config)) name_architecture(config, Head::tags);
}

// What Hugging Face calls the labels of a model whose config.json does not name them.
std::vector<std::string> unnamed_labels(const Json& config, const std::string& where) {
    int count = 2;
    JsonFields(config, where).read("num_labels", count, {1, 1 << 20});
    std::vector<std::string> labels;
    for (int i = 0; i < count; ++i) labels.push_back("LABEL_" + std::to_string(i));
    return labels;
}

void check_tagger(const ModelFolder& folder, const TagNetwork& network) {
    if (!network.encoder) return;
    const std::string where = folder.config_path();
    expect_input(folder.tokenizer->vocab_size() <= network.encoder->vocabulary, where,
                 ": the model has ", network.encoder->vocabulary, " tokens but its tokenizer has ",
                 folder.tokenizer->vocab_size());
    expect_input(network.encoder->max_length > folder.tokenizer->special_tokens_added(), where,
                 ": the model takes ", network.encoder->max_length,
                 " tokens, which leaves no room for words beside the special ones");
}

// Where windows of `room` pieces begin that together hold `pieces`: each shares half with the next.
std::vector<std::int64_t> window_starts(std::int64_t pieces, std::int64_t room) {
    std::vector<std::int64_t> starts{0};
    const std::int64_t step = std::max<std::int64_t>(1, room / 2);
    while (starts.back() + room < pieces)
        starts.push_back(std::min(starts.back() + step, pieces - room));
    return starts;
}

// The window in which a piece stands furthest from an edge (the text's own edges do not count).
std::size_t best_window(const std::vector<std::int64_t>& starts, std::int64_t room,
                        std::int64_t piece) {
    std::size_t best = 0;
    std::int64_t most = -1;
    for (std::size_t w = 0; w < starts.size(); ++w) {
        const std::int64_t left = piece - starts[w], right = starts[w] + room - 1 - piece;
        if (left < 0 || right < 0) continue;
        const std::int64_t distance =
            std::min(w == 0 ? room : left, w + 1 == starts.size() ? room : right);
        if (distance > most) most = distance, best = w;
    }
    return best;
}

// The first piece of each word; of a word without any (characters that a normaliser drops) the
// piece before it.
std::vector<std::int64_t> first_pieces(const Encoding& e, std::span<const TextSpan> words) {
    std::vector<std::int64_t> first;
    std::size_t at = 0;
    for (const TextSpan& w : words) {
        while (at < e.size() && (e.special_mask[at] || e.offsets[at].end <= w.begin)) ++at;
        const bool has_one = at < e.size() && e.offsets[at].begin < w.end;
        first.push_back(static_cast<std::int64_t>(has_one ? at : at > 0 ? at - 1 : std::size_t{0}));
    }
    return first;
}

}  // namespace

WordBatch pack_words(std::span<const EncodedWords> sentences,
                     std::span<const std::int64_t> indices) {
    // Windows are samples of their own: their dropout masks differ.
    constexpr std::uint64_t most_windows = std::uint64_t{1} << 24;
    WordBatch b;
    std::vector<Ids> windows, types;
    std::vector<std::uint64_t> window_names, names;
    std::vector<std::int64_t> lengths;
    bool typed = false;
    std::int64_t before = 0;
    for (const std::int64_t i : indices) {
        const EncodedWords& s = sentences[static_cast<std::size_t>(i)];
        const auto name = static_cast<std::uint64_t>(i);
        for (std::size_t w = 0; w < s.windows.size(); ++w) {
            windows.push_back(s.windows[w]);
            types.push_back(s.types.empty() ? Ids(s.windows[w].size(), 0) : s.types[w]);
            typed = typed || !s.types.empty();
            window_names.push_back(name * most_windows + w);
        }
        for (const std::int32_t row : s.rows)
            b.rows.push_back(static_cast<std::int32_t>(before + row));
        b.features.insert(b.features.end(), s.features.begin(), s.features.end());
        before += s.tokens;
        lengths.push_back(s.words);
        names.push_back(name);
    }
    b.pieces = pack(windows, window_names);
    if (typed) b.pieces.types = pack(types).tokens;
    b.words = Segments::of_lengths(lengths, names);
    return b;
}

TagNetwork::TagNetwork(const Json& config, const std::string& where,
                       const std::vector<std::string>& labels, const Params& p) {
    const int classes = static_cast<int>(labels.size());
    int width = 0;
    if (is_feature_model(config)) {
        features.emplace(FeatureEmbeddingConfig::from_json(config, where), p / "features");
        width = features->config.width;
    } else {
        encoder = text_encoder_of(config, where).make(config, where, {Head::tags, classes}, p);
        width = encoder->width;
    }
    if (!encoder || !encoder->tags) head.emplace(width, classes, p / "classifier");
    if (flag_in(config, where, "crf")) crf.emplace(classes, p / "crf");
    if (flag_in(config, where, "bio")) order = bio_order(labels);
}

Tensor TagNetwork::emissions(const WordBatch& batch) const {
    if (features) return (*head)((*features)(batch.features, batch.words));
    Tensor rows = gather_rows(encoder->rows(batch.pieces), batch.rows);
    rows.set_row_names(batch.words);
    return head ? (*head)(dropout(rows, encoder->dropout)) : encoder->tags(rows);
}

Tensor TagNetwork::loss(const WordBatch& batch, const Ids& tags) const {
    const Tensor e = emissions(batch);
    return crf ? crf->loss(e, batch.words, tags, {.order = order}) : cross_entropy(e, tags);
}

TagModel TagModel::create(ModelFolder folder, const TagChoice& choice, std::uint64_t seed) {
    TagModel m;
    m.folder = std::move(folder);
    m.folder.task = "tag";
    name_choice(m.folder.config, choice);
    m.store = std::make_shared<ParameterStore>();
    Rng rng(seed, initial_tagger);
    m.network = std::make_shared<const TagNetwork>(m.folder.config, "config", m.folder.labels,
                                                   Params(*m.store, rng));
    check_tagger(m.folder, *m.network);
    return m;
}

TagModel TagModel::create_from(ModelFolder pretrained, const TagChoice& choice, std::uint64_t seed,
                               ModelFolder::NewHead& report) {
    TagModel m;
    m.folder = std::move(pretrained);
    m.folder.task = "tag";
    m.folder.generation = Json::object();
    m.folder.about = Json::object();
    const std::string where = m.folder.config_path();
    const TextEncoderEntry& entry = text_encoder_of(m.folder.config, where);
    name_choice(m.folder.config, choice);
    const auto make = [&](const Params& p) {
        return std::make_shared<const TagNetwork>(m.folder.config, where, m.folder.labels, p);
    };
    const std::string own[] = {"classifier.**", "crf.**", "pooling.**"};
    m.store = m.folder.load_body(entry, own, make, report);
    Rng rng(seed, initial_tagger);
    m.network = make(Params(*m.store, rng));
    check_tagger(m.folder, *m.network);
    return m;
}

TagModel TagModel::open(ModelFolder folder, const WeightChoice& weights) {
    TagModel m;
    m.folder = std::move(folder);
    m.folder.generation = Json::object();
    m.precision = weights.precision;
    const std::string where = m.folder.config_path();
    if (m.folder.labels.empty()) m.folder.labels = unnamed_labels(m.folder.config, where);
    const auto make = [&](const Params& p) {
        return std::make_shared<const TagNetwork>(m.folder.config, where, m.folder.labels, p);
    };
    m.store = m.folder.load(tagger_rules(m.folder.config, where), weights.format, make);
    Rng unused;
    m.network = make(Params(*m.store, unused));
    check_tagger(m.folder, *m.network);
    return m;
}

void TagModel::save(const std::string& path, bool overwrite) const {
    folder.save(path, *store, tagger_rules(folder.config, "config"), overwrite);
}

void save_tagger(const ModelFolder& model, const ParameterStore& trained, const std::string& out,
                 bool overwrite) {
    model.save(out, trained, tagger_rules(model.config, model.config_path()), overwrite);
}

EncodedWords TagModel::encode(const std::string& text, std::span<const TextSpan> words) const {
    EncodedWords out;
    out.words = static_cast<std::int64_t>(words.size());
    if (words.empty()) return out;
    if (network->features) {
        std::vector<std::string> all;
        for (const TextSpan& w : words)
            all.push_back(text.substr(static_cast<std::size_t>(w.begin),
                                      static_cast<std::size_t>(w.end - w.begin)));
        out.features = word_features(all, network->features->config.buckets);
        out.tokens = out.words;
        return out;
    }
    Encoding e = folder.tokenizer->encode(
        text, {.offsets = OffsetUnit::bytes, .truncation = Truncation{.max_length = 0}});
    if (e.size() == 0) {  // nothing of the text is left: something must stand for its words
        e.ids = {folder.tokenizer->eos_id().value_or(0)};
        e.offsets.resize(1), e.type_ids.resize(1), e.special_mask.assign(1, 1);
    }
    const std::int64_t n = static_cast<std::int64_t>(e.size());
    std::int64_t front = 0, back = 0;
    while (front < n && e.special_mask[static_cast<std::size_t>(front)]) ++front;
    while (front + back < n && e.special_mask[static_cast<std::size_t>(n - 1 - back)]) ++back;
    const std::int64_t room = network->encoder->max_length - front - back;
    const std::int64_t pieces = n - front - back;
    const std::vector<std::int64_t> starts = window_starts(pieces, room);
    const bool typed = std::any_of(e.type_ids.begin(), e.type_ids.end(), [](auto t) { return t; });
    const auto window = [&](const auto& all, std::int64_t start) {  // with the special ones
        Ids ids(all.begin(), all.begin() + front);
        const auto from = all.begin() + front + start;
        ids.insert(ids.end(), from, from + std::min(room, pieces));
        ids.insert(ids.end(), all.end() - back, all.end());
        return ids;
    };
    for (const std::int64_t start : starts) {
        out.windows.push_back(window(e.ids, start));
        if (typed) out.types.push_back(window(e.type_ids, start));
    }
    const std::int64_t length = front + std::min(room, pieces) + back;
    out.tokens = length * static_cast<std::int64_t>(starts.size());
    for (const std::int64_t first : first_pieces(e, words)) {
        const std::int64_t piece = std::min(first, std::max<std::int64_t>(0, front + pieces - 1));
        const std::size_t w = best_window(starts, room, piece - front);
        out.rows.push_back(
            static_cast<std::int32_t>(static_cast<std::int64_t>(w) * length + piece - starts[w]));
    }
    return out;
}

EncodedWords TagModel::encode(std::span<const std::string> words) const {
    std::string text;
    std::vector<TextSpan> spans;
    for (const std::string& w : words) {
        if (!spans.empty()) text += ' ';
        const auto begin = static_cast<std::int32_t>(text.size());
        text += w;
        spans.push_back({begin, static_cast<std::int32_t>(text.size())});
    }
    return encode(text, spans);
}

bool TagModel::has_entities() const {
    return std::all_of(folder.labels.begin(), folder.labels.end(),
                       [](const std::string& l) { return chunk_tag(l).has_value(); });
}

std::int32_t TagModel::label_id(const std::string& label) const {
    const auto at = std::find(folder.labels.begin(), folder.labels.end(), label);
    return at == folder.labels.end() ? -1 : static_cast<std::int32_t>(at - folder.labels.begin());
}

}  // namespace fovea
