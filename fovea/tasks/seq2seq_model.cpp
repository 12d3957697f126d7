#include "fovea/tasks/seq2seq_model.h"

#include "fovea/base/files.h"
#include "fovea/base/json_fields.h"
#include "fovea/base/threads.h"
#include "fovea/io/name_rules.h"

namespace fovea {
namespace {

const char* weights_file = "model.safetensors";

// generation_config.json; old files keep the same keys in config.json.
SearchOptions search_of(const Json& json, const std::string& where) {
    JsonFields f(json, where);
    SearchOptions s;
    float penalty = 1.0f, repetition = 1.0f, factor = 3.0f;
    constexpr LengthPenalty kinds[] = {LengthPenalty::none,     LengthPenalty::marian,
                                       LengthPenalty::fairseq,  LengthPenalty::hf,
                                       LengthPenalty::onmt_avg, LengthPenalty::onmt_wu};
    int kind = 3;  // hf
    f.read("num_beams", s.beam, {1, 512});
    f.read("max_length", s.max_length, {1});
    f.read("length_penalty", penalty, {-100, 100});
    f.read("repetition_penalty", repetition, {1e-6, 100});
    f.read("no_repeat_ngram_size", s.no_repeat_ngram, {0, 1000});
    f.read_choice("length_penalty_kind",  // ours
                  {name_of(kinds[0]), name_of(kinds[1]), name_of(kinds[2]), name_of(kinds[3]),
                   name_of(kinds[4]), name_of(kinds[5])},
                  kind);
    f.read("max_length_factor", factor, {1e-3, 1e6});  // ours
    s.penalty = kinds[kind];
    s.penalty_strength = penalty;
    s.repetition_penalty = repetition;
    s.max_length_factor = factor;
    if (json.contains("bad_words_ids") && json["bad_words_ids"].is_array())
        for (const Json& word : json["bad_words_ids"])
            if (word.is_array() && word.size() == 1 && word[0].is_number_integer())
                s.banned.push_back(word[0].get<std::int32_t>());
    return s;
}

Json generation_json(const Seq2SeqModel& m) {
    Json j;
    j["num_beams"] = m.search.beam;
    j["max_length"] = m.search.max_length;
    j["length_penalty"] = m.search.penalty_strength;
    j["length_penalty_kind"] = name_of(m.search.penalty);
    j["max_length_factor"] = m.search.max_length_factor;
    if (m.search.no_repeat_ngram > 0) j["no_repeat_ngram_size"] = m.search.no_repeat_ngram;
    if (m.search.repetition_penalty != 1.0) j["repetition_penalty"] = m.search.repetition_penalty;
    j["bad_words_ids"] = {{m.config.pad_token_id}};
    j["decoder_start_token_id"] = m.config.decoder_start_token_id;
    j["eos_token_id"] = m.config.eos_token_id;
    j["pad_token_id"] = m.config.pad_token_id;
    return j;
}

Json tokenizer_config(const Seq2SeqModel& m) {
    Json j;
    j["tokenizer_class"] = "PreTrainedTokenizerFast";
    j["model_max_length"] = m.max_source_length;
    const auto& t = *m.source_tokenizer;
    const auto name = [&](const char* key, std::optional<TokenId> id) {
        if (id) j[key] = t.id_to_token(*id).value_or("");
    };
    name("eos_token", t.eos_id());
    name("unk_token", t.unk_id());
    name("pad_token", t.pad_id());
    return j;
}

void write_json(const std::string& folder, const char* name, const Json& j) {
    write_file_atomically(join_path(folder, name), to_text(j, 2) + "\n");
}

// Matrices in the wanted format; vectors and position tables stay f32.
void convert_weights(ParameterStore& store, Format format) {
    if (format == Format::f32) return;
    std::vector<std::string> names = store.names();
    std::erase_if(names, [&](const std::string& name) {
        const Tensor& t = store.at(name);
        return t.shape().rank() != 2 || t.rows() == 1 ||
               name.find("embed_positions") != std::string::npos ||
               name.find("relative_keys") != std::string::npos;
    });
    std::vector<Tensor> converted(names.size());
    parallel_for(static_cast<std::int64_t>(names.size()), 1, [&](std::int64_t i, std::int64_t) {
        const auto at = static_cast<std::size_t>(i);
        converted[at] = store.at(names[at]).to(format);
    });
    for (std::size_t i = 0; i < names.size(); ++i) store.replace(names[i], converted[i]);
}

}  // namespace

Seq2SeqModel Seq2SeqModel::create(const TransformerConfig& config, std::uint64_t seed) {
    Seq2SeqModel m;
    m.config = config;
    m.store = std::make_shared<ParameterStore>();
    Rng rng(seed, 0x696e6974);  // the stream of initial values
    m.network = std::make_unique<Transformer>(config, Params(*m.store, rng));
    return m;
}

Seq2SeqModel Seq2SeqModel::load(const std::string& folder, Format weights) {
    if (!is_folder(folder))
        throw Error(
            folder + ": there is no such model folder", ErrorKind::not_found,
            "a model is a folder with config.json and model.safetensors, such as RUN/model");
    const std::string config_path = join_path(folder, "config.json");
    const Json config = read_json(config_path);
    Seq2SeqModel m;
    m.config = TransformerConfig::from_json(config, config_path);

    const std::string generation = join_path(folder, "generation_config.json");
    m.search = file_exists(generation) ? search_of(read_json(generation), generation)
                                       : search_of(config, config_path);
    const std::string about = join_path(folder, "fovea.json");
    if (file_exists(about)) {
        m.about = read_json(about);
        JsonFields f(m.about, about);
        f.read("task", m.task);
        f.read("max_source_length", m.max_source_length, {1});
        f.read("swapped_sides", m.swapped_sides);
    } else {
        m.max_source_length = m.config.max_position_embeddings;
    }

    m.source_tokenizer = std::make_shared<const Tokenizer>(Tokenizer::load(folder));
    const std::string target = join_path(folder, "target_tokenizer.json");
    m.target_tokenizer = file_exists(target)
                             ? std::make_shared<const Tokenizer>(Tokenizer::load(target))
                             : m.source_tokenizer;
    expect_input(m.source_tokenizer->vocab_size() <= m.config.vocab_size, folder,
                 ": the tokenizer has ", m.source_tokenizer->vocab_size(),
                 " tokens but the model only ", m.config.vocab_size);
    expect_input(m.target_tokenizer->vocab_size() <= m.config.target_vocab(), folder,
                 ": the target's tokenizer has ", m.target_tokenizer->vocab_size(),
                 " tokens but the model only ", m.config.target_vocab());

    m.store = std::make_shared<ParameterStore>(ParameterStore::Mode::load);
    const ModelWeights files(folder);
    m.config.final_logits_bias = files.has("final_logits_bias");
    load_parameters(files, {}, *m.store);
    convert_weights(*m.store, weights);
    Rng unused;
    try {
        m.network = std::make_unique<Transformer>(m.config, Params(*m.store, unused));
    } catch (const Error& e) {  // a shape that does not fit: of which folder?
        throw Error(folder + ": " + e.what(), e.kind(), e.hint());
    }
    m.store->finish(folder);
    return m;
}

void Seq2SeqModel::save(const std::string& folder, bool overwrite) const {
    if (!overwrite && file_exists(join_path(folder, "config.json")))
        throw Error(folder + ": holds a model already", ErrorKind::usage, "--force overwrites it");
    make_folders(folder);
    if (config.fits_marian()) {
        // The same model in Marian's order of columns, with the bias that layout wants.
        ParameterStore marian;
        for (const std::string& name : store->names()) marian.put(name, store->at(name));
        if (config.positions == PositionCode::sinusoidal) permute_to_halves(marian, config);
        if (!config.final_logits_bias)
            marian.put("final_logits_bias", Tensor::zeros({1, config.target_vocab()}));
        save_parameters(join_path(folder, weights_file), marian);
        write_json(folder, "config.json", config.to_marian_json());
    } else {
        save_parameters(join_path(folder, weights_file), *store);
        write_json(folder, "config.json", config.to_json());
    }
    write_json(folder, "generation_config.json", generation_json(*this));
    source_tokenizer->save(join_path(folder, "tokenizer.json"));
    if (target_tokenizer != source_tokenizer)
        target_tokenizer->save(join_path(folder, "target_tokenizer.json"));
    write_json(folder, "tokenizer_config.json", tokenizer_config(*this));
    Json j = about;
    j["schema"] = "fovea.model";
    j["version"] = 1;
    j["task"] = task;
    j["max_source_length"] = max_source_length;
    j["swapped_sides"] = swapped_sides;
    write_json(folder, "fovea.json", j);
}

namespace {

Ids with_end(const Tokenizer& tokenizer, std::string_view text, std::int32_t end) {
    const std::vector<TokenId> ids = tokenizer.encode_ids(text);
    Ids out(ids.begin(), ids.end());
    if (out.empty() || out.back() != end) out.push_back(end);
    return out;
}

}  // namespace

Ids Seq2SeqModel::encode_source(std::string_view text) const {
    return with_end(*source_tokenizer, text, config.eos_token_id);
}

Ids Seq2SeqModel::encode_target(std::string_view text) const {
    return with_end(*target_tokenizer, text, config.eos_token_id);
}

std::string Seq2SeqModel::decode_target(const Ids& tokens) const {
    std::string text = target_tokenizer->decode(tokens);
    if (!text.empty() && text[0] == ' ') text.erase(0, 1);  // the byte-level prefix space
    return text;
}

}  // namespace fovea
