// A tagger and its folder.
#include <algorithm>

#include "fovea/base/json_fields.h"
#include "fovea/tasks/tag.h"

namespace fovea {
namespace {

constexpr std::uint32_t initial_tagger = 0x696e6974;  // the stream of initial values

// What Hugging Face calls the labels of a model whose config.json does not name them.
std::vector<std::string> unnamed_labels(const Json& config, const std::string& where) {
    int count = 2;
    JsonFields(config, where).read("num_labels", count, {1, 1 << 20});
    std::vector<std::string> labels;
    for (int i = 0; i < count; ++i) labels.push_back("LABEL_" + std::to_string(i));
    return labels;
}

}  // namespace

TagModel TagModel::create(ModelFolder folder, const TagChoice& choice, std::uint64_t seed) {
    TagModel m;
    m.folder = std::move(folder);
    m.folder.task = "tag";
    choice.write(m.folder.config);
    m.store = std::make_shared<ParameterStore>();
    Rng rng(seed, initial_tagger);
    m.network = std::make_shared<const TagNetwork>(m.folder.config, "config", m.folder.labels,
                                                   Params(*m.store, rng));
    check_word_reading(*m.network, *m.folder.tokenizer, "config");
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
    choice.write(m.folder.config);
    const auto make = [&](const Params& p) {
        return std::make_shared<const TagNetwork>(m.folder.config, where, m.folder.labels, p);
    };
    m.store = m.folder.load_body(entry, tag_head_patterns(), make, report);
    Rng rng(seed, initial_tagger);
    m.network = make(Params(*m.store, rng));
    check_word_reading(*m.network, *m.folder.tokenizer, where);
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
    m.store = m.folder.load(tag_network_rules(m.folder.config, where), weights.format, make);
    Rng unused;
    m.network = make(Params(*m.store, unused));
    check_word_reading(*m.network, *m.folder.tokenizer, where);
    return m;
}

void TagModel::save(const std::string& path, bool overwrite) const {
    folder.save(path, *store, tag_network_rules(folder.config, "config"), overwrite);
}

void save_tagger(const ModelFolder& model, const ParameterStore& trained, const std::string& out,
                 bool overwrite) {
    model.save(out, trained, tag_network_rules(model.config, model.config_path()), overwrite);
}

EncodedWords TagModel::encode(const std::string& text, std::span<const TextSpan> words) const {
    return encode_words(network->reading(*folder.tokenizer), text, words);
}

EncodedWords TagModel::encode(std::span<const std::string> words) const {
    return encode_words(network->reading(*folder.tokenizer), words);
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
