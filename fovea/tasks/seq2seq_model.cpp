#include "fovea/tasks/seq2seq_model.h"

#include "fovea/base/files.h"
#include "fovea/base/json_fields.h"
#include "fovea/io/model_weights.h"
#include "fovea/tasks/generation_config.h"

namespace fovea {
namespace {

void expect_tokenizers_fit(const Seq2SeqModel& m, const std::string& where) {
    expect_input(m.source_tokenizer->vocab_size() <= m.config.vocab_size, where,
                 ": the tokenizer has ", m.source_tokenizer->vocab_size(),
                 " tokens but the model only ", m.config.vocab_size);
    expect_input(m.target_tokenizer->vocab_size() <= m.config.target_vocab(), where,
                 ": the target's tokenizer has ", m.target_tokenizer->vocab_size(),
                 " tokens but the model only ", m.config.target_vocab());
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
    f.generation["bad_words_ids"] = {{m.config.pad_token_id}};
    f.generation["decoder_start_token_id"] = m.config.decoder_start_token_id;
    f.generation["eos_token_id"] = m.config.eos_token_id;
    f.generation["pad_token_id"] = m.config.pad_token_id;
    f.about = m.about;
    f.about["max_source_length"] = m.max_source_length;
    f.about["swapped_sides"] = m.swapped_sides;
    return f;
}

}  // namespace

FreshTransformer::FreshTransformer(const TransformerConfig& config, std::uint64_t seed)
    : store(std::make_shared<ParameterStore>()) {
    Rng rng(seed, 0x696e6974);  // the stream of initial values
    network = std::make_unique<Transformer>(config, Params(*store, rng));
}

Seq2SeqModel Seq2SeqModel::create(const TransformerConfig& config, SharedTokenizer source,
                                  SharedTokenizer target, std::uint64_t seed) {
    Seq2SeqModel m;
    m.config = config;
    m.source_tokenizer = std::move(source);
    m.target_tokenizer = std::move(target);
    expect_tokenizers_fit(m, "model");
    FreshTransformer fresh(config, seed);
    m.store = std::move(fresh.store);
    m.network = std::move(fresh.network);
    return m;
}

Seq2SeqModel Seq2SeqModel::open(const ModelFolder& folder, const WeightChoice& weights) {
    Seq2SeqModel m;
    m.config = TransformerConfig::from_json(folder.config, folder.config_path());
    m.precision = weights.precision;
    m.search = search_of(folder.generation, join_path(folder.path, "generation_config.json"));
    m.about = folder.about;
    if (!folder.task.empty()) m.task = folder.task;
    m.max_source_length = m.config.max_position_embeddings;
    JsonFields f(m.about, join_path(folder.path, "fovea.json"));
    f.read("max_source_length", m.max_source_length, {1});
    f.read("swapped_sides", m.swapped_sides);
    m.source_tokenizer = folder.tokenizer;
    m.target_tokenizer = folder.target_tokenizer;
    expect_tokenizers_fit(m, folder.path);

    m.config.final_logits_bias = ModelWeights(folder.path).has("final_logits_bias");
    m.store = folder.load(Transformer::rules(), weights.format,
                          [&](const Params& p) { Transformer(m.config, p); });
    Rng unused;
    m.network = std::make_unique<Transformer>(m.config, Params(*m.store, unused));
    return m;
}

void Seq2SeqModel::save(const std::string& path, bool overwrite) const {
    const TransformerFiles files = files_of(config, *store);
    ModelFolder folder = folder_of(*this);
    folder.config = files.config;
    folder.save(path, files.parameters, Transformer::rules(), overwrite);
}

Ids Seq2SeqModel::encode_source(std::string_view text) const {
    return with_end(source_tokenizer->encode_ids(text), config.eos_token_id);
}

Ids Seq2SeqModel::encode_target(std::string_view text) const {
    return with_end(target_tokenizer->encode_ids(text), config.eos_token_id);
}

std::vector<Ids> Seq2SeqModel::encode_sources(std::span<const std::string> texts) const {
    return with_ends(*source_tokenizer, texts, config.eos_token_id);
}

std::vector<Ids> Seq2SeqModel::encode_targets(std::span<const std::string> texts) const {
    return with_ends(*target_tokenizer, texts, config.eos_token_id);
}

std::string Seq2SeqModel::decode_target(const Ids& tokens) const {
    std::string text = target_tokenizer->decode(tokens);
    if (!text.empty() && text[0] == ' ') text.erase(0, 1);  // the byte-level prefix space
    return text;
}

// A checkpoint keeps the columns as they were trained, the folder may have them in Marian's order.
void save_seq2seq(const ModelFolder& model, const ParameterStore& trained, const std::string& out,
                  bool overwrite) {
    TransformerConfig config = TransformerConfig::from_json(model.config, model.config_path());
    config.positions = position_code_of(
        model.about.value("trained_positions", std::string(name_of(config.positions))));
    config.final_logits_bias = trained.has("final_logits_bias");
    const TransformerFiles files = files_of(config, trained);
    ModelFolder folder = model;
    folder.config = files.config;
    folder.save(out, files.parameters, Transformer::rules(), overwrite);
}

}  // namespace fovea
