#include "fovea/base/error.h"
#include "fovea/base/json_fields.h"
#include "fovea/tasks/generate.h"
#include "fovea/tasks/generation_config.h"

namespace fovea {
namespace {

// An id, a list of them, or nothing; of generation_config.json, else of config.json.
Ids special_ids(const ModelFolder& folder, const char* name, int vocabulary) {
    Ids ids;
    for (const Json* from : {&folder.generation, &folder.config}) {
        if (!from->contains(name) || (*from)[name].is_null()) continue;
        const Json& found = (*from)[name];
        std::vector<int> given;
        JsonFields f(Json{{name, found.is_array() ? found : Json::array({found})}}, folder.path);
        f.read(name, given, {0, static_cast<double>(vocabulary - 1)});
        ids.assign(given.begin(), given.end());
        break;
    }
    return ids;
}

void expect_fitting_tokenizer(const Tokenizer& tokenizer, int vocabulary,
                              const std::string& where) {
    if (tokenizer.vocab_size() > vocabulary)
        fail_with(ErrorKind::bad_input, "the tokenizer is probably another model's", where,
                  ": \"vocab_size\" is ", vocabulary, ", but the tokenizer has ",
                  tokenizer.vocab_size(), " tokens");
}

}  // namespace

GenerateModel GenerateModel::open(ModelFolder opened, const WeightChoice& weights) {
    GenerateModel m;
    m.folder = std::move(opened);
    m.precision = weights.precision;
    const std::string where = m.folder.config_path();
    const TextEncoderEntry& entry = text_encoder_of(m.folder.config, where);
    const auto make = [&](const Params& p) {
        return std::make_shared<const TextEncoder>(
            entry.make(m.folder.config, where, {Head::words, 0}, p));
    };
    m.store = m.folder.load(entry.rules(), weights.format, make);
    Rng unused;
    m.network = make(Params(*m.store, unused));
    if ((!m.network->step && !m.network->targets) || !m.network->words)
        fail_with(ErrorKind::bad_input, "models such as gpt2 and xlnet do", where, ": a ",
                  entry.name, " does not read from left to right, so it cannot go on with a text");
    expect_fitting_tokenizer(*m.folder.tokenizer, m.network->vocabulary, where);
    m.search = search_of(m.folder.generation, m.folder.path);
    read_sampling(m.folder.generation, m.folder.path, m.search, m.stop);
    m.search.prompt_counts = true;
    // As in transformers: max_length counts the prompt, max_new_tokens does not, and goes before.
    if (JsonFields f(m.folder.generation, m.folder.path); !f.has("max_new_tokens"))
        f.read("max_length", m.max_total, {1});
    m.end_tokens = special_ids(m.folder, "eos_token_id", m.network->vocabulary);
    m.begin = special_ids(m.folder, "bos_token_id", m.network->vocabulary);
    if (m.begin.empty()) m.begin = m.end_tokens;  // a text begins where another has ended
    if (m.begin.size() > 1) m.begin.resize(1);
    return m;
}

Ids GenerateModel::encode(const std::string& text) const {
    const std::vector<TokenId> ids = folder.tokenizer->encode_ids(text, false);
    return Ids(ids.begin(), ids.end());
}

void save_language_model(const ModelFolder& model, const ParameterStore& trained,
                         const std::string& out, bool overwrite) {
    model.save(out, trained, text_encoder_of(model.config, model.config_path()).rules(), overwrite);
}

}  // namespace fovea
