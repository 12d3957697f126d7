#include "fovea/tasks/classify.h"

#include <algorithm>

#include "fovea/base/json_fields.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/rows/gather.h"

namespace fovea {
namespace {

constexpr std::uint32_t initial_values = 0x696e6974;  // their stream of random numbers

// Whether the encoder brings a head for classes: asked over shapes, so that nothing is allocated.
bool has_own_head(const Json& config, const std::string& where) {
    ParameterStore shapes(ParameterStore::Mode::check);
    Rng unused;
    const TextEncoder e = text_encoder_of(config, where)
                              .make(config, where, {Head::classes, 2}, Params(shapes, unused));
    return static_cast<bool>(e.classes);
}

// None: the encoder's own head.
std::optional<Pool> pooling_in(const Json& config, const std::string& where) {
    std::string name;
    if (!JsonFields(config, where).read("pooling", name)) {
        if (has_own_head(config, where)) return {};
        return pool_of(text_encoder_of(config, where).pooling);
    }
    const std::vector<std::string> known = pool_names();
    expect_input(std::find(known.begin(), known.end(), name) != known.end(), where,
                 ": there is no \"pooling\" \"", name, "\"");
    return pool_of(name);
}

// What Hugging Face calls the labels of a model whose config.json does not name them.
std::vector<std::string> numbered_labels(const Json& config, const std::string& where) {
    int count = 2;
    JsonFields(config, where).read("num_labels", count, {1, 1 << 20});
    std::vector<std::string> labels;
    for (int i = 0; i < count; ++i) labels.push_back("LABEL_" + std::to_string(i));
    return labels;
}

constexpr const char* one_label = "single_label_classification";  // Hugging Face's words
constexpr const char* many_labels = "multi_label_classification";

// config.json of a new classifier: the head, as Hugging Face and as we call it.
void name_head(Json& config, const std::string& where, std::optional<Pool> pooling) {
    config.erase("pooling");
    if (pooling) config["pooling"] = name_of(*pooling);
    pooling = pooling_in(config, where);
    if (pooling) config["pooling"] = name_of(*pooling);
    name_architecture(config, pooling ? Head::none : Head::classes);
    if (!config.contains("problem_type") && !pooling) config["problem_type"] = one_label;
}

// Whether a text may have several labels, and from which probability on one holds.
void read_problem(const Json& config, const std::string& where, ClassifyModel& m) {
    std::string problem = one_label;
    JsonFields f(config, where);
    f.read("problem_type", problem);
    if (problem != one_label && problem != many_labels)
        fail_with(ErrorKind::bad_input, text_of("known are ", one_label, " and ", many_labels),
                  where, ": \"problem_type\" is \"", problem, "\"");
    m.several = problem == many_labels;
    if (!m.several) return;
    m.thresholds.assign(m.folder.labels.size(), 0.5f);
    const auto given = config.find("thresholds");
    if (given == config.end() || given->is_null()) return;
    expect_input(given->is_array() && given->size() == m.folder.labels.size(), where,
                 ": \"thresholds\" must be a list of ", m.folder.labels.size(),
                 " numbers, one for each label");
    for (std::size_t i = 0; i < given->size(); ++i) {
        expect_input((*given)[i].is_number(), where, ": \"thresholds\" has ", (*given)[i].dump());
        m.thresholds[i] = (*given)[i].get<float>();
    }
}

void check_tokens(const ModelFolder& folder, const TextEncoder& encoder) {
    expect_input(folder.tokenizer->vocab_size() <= encoder.vocabulary, folder.config_path(),
                 ": the model has ", encoder.vocabulary, " tokens but its tokenizer has ",
                 folder.tokenizer->vocab_size());
}

// With a query for each class there is a vector for each, and each class judges its own (Mullenbach
// et al. 2018, eq. 4):  y[s, c] = v[s, c]·w[c] + b[c]
Tensor own_products(const Tensor& v, const Linear& head) {
    const std::int64_t classes = head.weight.rows(), width = head.weight.cols();
    Ids own;
    for (std::int64_t i = 0; i < v.rows(); ++i)
        own.push_back(static_cast<std::int32_t>(i % classes));
    const Tensor ones = Tensor::full({1, width}, 1.0f);
    return linear(mul(v, gather_rows(head.weight, own)), ones, {})
               .reshaped({v.rows() / classes, classes}) +
           head.bias;
}

}  // namespace

TextClassifier::TextClassifier(const Json& config, const std::string& where, int classes,
                               const Params& p) {
    const std::optional<Pool> pool = pooling_in(config, where);
    const HeadChoice own = pool ? HeadChoice{} : HeadChoice{Head::classes, classes};
    encoder = text_encoder_of(config, where).make(config, where, own, p);
    if (!pool) return;
    pooling.emplace(
        encoder.width,
        PoolingOptions{.pool = *pool, .classes = classes, .max_positions = encoder.max_length},
        p / "pooling");
    head.emplace(encoder.width, classes, p / "classifier");
}

Tensor TextClassifier::logits(const TokenBatch& batch) const {
    const Tensor rows = encoder.rows(batch);
    if (!pooling) return encoder.classes(rows, batch.segments);
    const Tensor v = dropout((*pooling)(rows, batch.segments), encoder.dropout);
    if (pooling->options.pool != Pool::queries) return (*head)(v);
    return own_products(v, *head);
}

TokenBatch pack_texts(std::span<const EncodedText> texts, std::span<const std::int64_t> indices,
                      std::span<const std::uint64_t> samples) {
    std::vector<Ids> ids, types;
    std::vector<std::uint64_t> names;
    bool pairs = false;
    for (const std::int64_t i : indices) {
        const EncodedText& t = texts[static_cast<std::size_t>(i)];
        ids.push_back(t.ids);
        types.push_back(t.types.empty() ? Ids(t.ids.size(), 0) : t.types);
        pairs = pairs || !t.types.empty();
        if (!samples.empty()) names.push_back(samples[static_cast<std::size_t>(i)]);
    }
    TokenBatch batch = pack(ids, names);
    if (pairs) batch.types = pack(types).tokens;
    return batch;
}

ClassifyModel ClassifyModel::create(ModelFolder folder, std::optional<Pool> pooling,
                                    std::uint64_t seed) {
    ClassifyModel m;
    m.folder = std::move(folder);
    m.folder.task = "classify";
    name_head(m.folder.config, "config", pooling);
    read_problem(m.folder.config, "config", m);
    m.store = std::make_shared<ParameterStore>();
    Rng rng(seed, initial_values);
    m.network = std::make_shared<const TextClassifier>(
        m.folder.config, "config", static_cast<int>(m.folder.labels.size()), Params(*m.store, rng));
    return m;
}

ClassifyModel ClassifyModel::create_from(ModelFolder pretrained, std::optional<Pool> pooling,
                                         std::uint64_t seed, ModelFolder::NewHead& report) {
    ClassifyModel m;
    m.folder = std::move(pretrained);
    m.folder.task = "classify";
    m.folder.generation = Json::object();
    m.folder.about = Json::object();
    const std::string where = m.folder.config_path();
    const TextEncoderEntry& entry = text_encoder_of(m.folder.config, where);
    name_head(m.folder.config, where, pooling);
    read_problem(m.folder.config, where, m);
    const auto make = [&](const Params& p) {
        return std::make_shared<const TextClassifier>(m.folder.config, where,
                                                      static_cast<int>(m.folder.labels.size()), p);
    };
    const std::string own[] = {"pooling.**", "classifier.**"};
    m.store = m.folder.load_body(entry, own, make, report);
    Rng rng(seed, initial_values);
    m.network = make(Params(*m.store, rng));
    check_tokens(m.folder, m.network->encoder);
    return m;
}

ClassifyModel ClassifyModel::open(ModelFolder folder, const WeightChoice& weights) {
    ClassifyModel m;
    m.folder = std::move(folder);
    m.folder.generation = Json::object();
    m.precision = weights.precision;
    const std::string where = m.folder.config_path();
    if (m.folder.labels.empty() && !pooling_in(m.folder.config, where))
        m.folder.labels = numbered_labels(m.folder.config, where);
    expect_input(m.folder.labels.size() >= 2, where, ": \"id2label\" names ",
                 m.folder.labels.size(), " labels, but a classifier has at least 2");
    read_problem(m.folder.config, where, m);
    const auto make = [&](const Params& p) {
        return std::make_shared<const TextClassifier>(m.folder.config, where,
                                                      static_cast<int>(m.folder.labels.size()), p);
    };
    m.store = m.folder.load(text_encoder_of(m.folder.config, where).rules(), weights.format, make);
    Rng unused;
    m.network = make(Params(*m.store, unused));
    check_tokens(m.folder, m.network->encoder);
    return m;
}

const char* ClassifyModel::pooling_name() const {
    return network->pooling ? name_of(network->pooling->options.pool) : "model";
}

void ClassifyModel::save(const std::string& path, bool overwrite) const {
    folder.save(path, *store, text_encoder_of(folder.config, "config").rules(), overwrite);
}

void save_classifier(const ModelFolder& model, const ParameterStore& trained,
                     const std::string& out, bool overwrite) {
    model.save(out, trained, text_encoder_of(model.config, model.config_path()).rules(), overwrite);
}

EncodedText ClassifyModel::encode(const TextInput& input) const {
    EncodedText out;
    const auto most = static_cast<std::size_t>(network->encoder.max_length);
    if (input.pair) {
        const Tokenizer& t = *folder.tokenizer;
        if (t.special_tokens_added(true) <= t.special_tokens_added(false))
            fail_with(ErrorKind::bad_input, "models that read pairs: --model bert, roberta",
                      "classify: there are two texts, but the model's vocabulary has no token that "
                      "parts them");
        Encoding e =
            t.encode_pair(input.text, *input.pair, {.truncation = Truncation{.max_length = 0}});
        out.cut = e.size() > most;
        if (out.cut)
            e = t.encode_pair(
                input.text, *input.pair,
                {.truncation = Truncation{.max_length = static_cast<std::int64_t>(most)}});
        out.ids.assign(e.ids.begin(), e.ids.end());
        out.types.assign(e.type_ids.begin(), e.type_ids.end());
        return out;
    }
    const std::vector<TokenId> ids = folder.tokenizer->encode_ids(input.text);
    out.ids.assign(ids.begin(), ids.end());
    out.cut = out.ids.size() > most;
    if (out.cut) {
        out.ids[most - 1] = out.ids.back();  // the end token stays
        out.ids.resize(most);
    }
    return out;
}

}  // namespace fovea
