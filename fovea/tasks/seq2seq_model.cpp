#include "fovea/tasks/seq2seq_model.h"

#include "fovea/base/files.h"
#include "fovea/base/json_fields.h"
#include "fovea/io/model_weights.h"
#include "fovea/tasks/generation_config.h"

namespace fovea {
namespace {

void expect_tokenizers_fit(const Seq2SeqModel& m, const std::string& where) {
    expect_input(m.source_tokenizer->vocab_size() <= m.network.source_vocabulary, where,
                 ": the tokenizer has ", m.source_tokenizer->vocab_size(),
                 " tokens but the model only ", m.network.source_vocabulary);
    expect_input(m.target_tokenizer->vocab_size() <= m.network.target_vocabulary, where,
                 ": the target's tokenizer has ", m.target_tokenizer->vocab_size(),
                 " tokens but the model only ", m.network.target_vocabulary);
}

Ids with_end(const std::vector<TokenId>& ids, std::int32_t end) {
    Ids out(ids.begin(), ids.end());
    if (out.empty() || out.back() != end) out.push_back(end);
    return out;
}

std::vector<Ids> with_ends(const Tokenizer& tokenizer, std::span<const std::string> texts,
                           std::int32_t end) {
    std::vector<Ids> out;
    for (const std::vector<TokenId>& ids : tokenizer.encode_ids_batch(texts))
        out.push_back(with_end(ids, end));
    return out;
}

// Everything of the folder but the parameters.
ModelFolder folder_of(const Seq2SeqModel& m) {
    ModelFolder f;
    f.task = m.task;
    f.tokenizer = m.source_tokenizer;
    f.target_tokenizer = m.target_tokenizer;
    f.generation = generation_json(m.search);
    f.generation["bad_words_ids"] = {{m.network.pad_token}};
    f.generation["decoder_start_token_id"] = m.network.start_token;
    f.generation["eos_token_id"] = m.network.end_token;
    f.generation["pad_token_id"] = m.network.pad_token;
    f.about = m.about;
    f.about["max_source_length"] = m.max_source_length;
    f.about["swapped_sides"] = m.swapped_sides;
    return f;
}

}  // namespace

Seq2SeqModel Seq2SeqModel::create(const Json& config, SharedTokenizer source,
                                  SharedTokenizer target, std::uint64_t seed) {
    Seq2SeqModel m;
    m.config = config;
    m.source_tokenizer = std::move(source);
    m.target_tokenizer = std::move(target);
    m.store = std::make_shared<ParameterStore>();
    Rng rng(seed, 0x696e6974);  // the stream of initial values
    m.network = seq2seq_network_of(config, "model").make(config, "model", Params(*m.store, rng));
    expect_tokenizers_fit(m, "model");
    return m;
}

Seq2SeqModel Seq2SeqModel::open(const ModelFolder& folder, const WeightChoice& weights) {
    Seq2SeqModel m;
    m.config = folder.config;
    const Seq2SeqEntry& entry = seq2seq_network_of(m.config, folder.config_path());
    m.precision = weights.precision;
    m.search = search_of(folder.generation, join_path(folder.path, "generation_config.json"));
    m.about = folder.about;
    if (!folder.task.empty()) m.task = folder.task;
    m.source_tokenizer = folder.tokenizer;
    m.target_tokenizer = folder.target_tokenizer;

    m.config["final_logits_bias"] = ModelWeights(folder.path).has("final_logits_bias");
    m.store = folder.load(entry.rules(), weights.format, [&](const Params& p) {
        m.network = entry.make(m.config, folder.config_path(), p);
        expect_tokenizers_fit(m, folder.path);
    });
    Rng unused;
    m.network = entry.make(m.config, folder.config_path(), Params(*m.store, unused));
    m.max_source_length = m.network.max_source;
    JsonFields f(m.about, join_path(folder.path, "fovea.json"));
    f.read("max_source_length", m.max_source_length, {1});
    f.read("swapped_sides", m.swapped_sides);
    return m;
}

void Seq2SeqModel::save(const std::string& path, bool overwrite) const {
    const Seq2SeqEntry& entry = seq2seq_network_of(config, "model");
    const Seq2SeqFiles files = entry.files(config, *store, nullptr);
    ModelFolder folder = folder_of(*this);
    folder.config = files.config;
    folder.save(path, files.parameters, entry.rules(), overwrite);
}

Ids Seq2SeqModel::encode_source(std::string_view text) const {
    return with_end(source_tokenizer->encode_ids(text), network.end_token);
}

Ids Seq2SeqModel::encode_target(std::string_view text) const {
    return with_end(target_tokenizer->encode_ids(text), network.end_token);
}

std::vector<Ids> Seq2SeqModel::encode_sources(std::span<const std::string> texts) const {
    return with_ends(*source_tokenizer, texts, network.end_token);
}

std::vector<Ids> Seq2SeqModel::encode_targets(std::span<const std::string> texts) const {
    return with_ends(*target_tokenizer, texts, network.end_token);
}

std::string Seq2SeqModel::decode_target(const Ids& tokens) const {
    std::string text = target_tokenizer->decode(tokens);
    if (!text.empty() && text[0] == ' ') text.erase(0, 1);  // the byte-level prefix space
    return text;
}

void save_seq2seq(const ModelFolder& model, const ParameterStore& trained, const std::string& out,
                  bool overwrite) {
    const Seq2SeqEntry& entry = seq2seq_network_of(model.config, model.config_path());
    const Seq2SeqFiles files = entry.files(model.config, trained, &model.about);
    ModelFolder folder = model;
    folder.config = files.config;
    folder.save(out, files.parameters, entry.rules(), overwrite);
}

}  // namespace fovea
