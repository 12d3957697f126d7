#include "fovea/tasks/seq2seq_network.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/json_fields.h"

namespace fovea {

std::span<const Seq2SeqEntry> seq2seq_networks() {
    static const Seq2SeqEntry table[] = {transformer_seq2seq(), gru_seq2seq(), lstm_seq2seq()};
    return table;
}

std::vector<std::string> seq2seq_network_names() {
    std::vector<std::string> names;
    for (const Seq2SeqEntry& e : seq2seq_networks()) names.emplace_back(e.name);
    return names;
}

const Seq2SeqEntry& seq2seq_network_named(const std::string& name) {
    std::string known;
    for (const Seq2SeqEntry& e : seq2seq_networks()) {
        if (name == e.name) return e;
        known += (known.empty() ? "" : ", ") + std::string(e.name);
    }
    fail_with(ErrorKind::usage, "one of " + known, "there is no sequence-to-sequence model \"",
              name, "\"");
}

const Seq2SeqEntry& seq2seq_network_of(const Json& config, const std::string& where) {
    // A config without a type, or with one that is no word, is told what it lacks by the first.
    if (!config.is_object() || !config.contains("model_type") || !config["model_type"].is_string())
        return seq2seq_networks()[0];
    const Json& type = config["model_type"];
    std::string known;
    for (const Seq2SeqEntry& e : seq2seq_networks())
        for (const std::string_view t : e.types) {
            if (type == std::string(t)) return e;
            known += (known.empty() ? "" : ", ") + std::string(t);
        }
    fail_with(ErrorKind::bad_input, "fovea inspect shows what a folder is", where,
              ": \"model_type\" is ", to_text(type), " but an encoder-decoder (", known,
              ") is wanted");
}

std::int32_t reverse_token_in(const Json& config, const std::string& where) {
    int token = -1, vocabulary = 0, of_target = 0;
    JsonFields f(config, where);
    f.read("vocab_size", vocabulary);
    f.read("decoder_vocab_size", of_target);
    f.read("reverse_token_id", token);
    const int size = of_target > 0 ? of_target : vocabulary;
    expect_input(token >= -1 && token < size, where, ": \"reverse_token_id\" is ", token,
                 " but the vocabulary has ", size, " tokens");
    return token;
}

}  // namespace fovea
