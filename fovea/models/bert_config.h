#pragma once
// Sizes and choices of BERT's encoder, which RoBERTa shares. Fields are named as in Hugging Face's
// config.json; the defaults are the base model of Devlin et al. 2018.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <optional>
#include <string>

#include "fovea/base/act.h"
#include "fovea/base/error.h"
#include "fovea/base/json.h"

namespace fovea {

struct EncoderChoice;

struct BertConfig {
    int vocab_size = 30522;
    int hidden_size = 768;
    int num_hidden_layers = 12;
    int num_attention_heads = 12;
    int intermediate_size = 3072;
    int max_position_embeddings = 512;
    int type_vocab_size = 2;
    Act hidden_act = Act::gelu;
    double hidden_dropout_prob = 0.1;
    double attention_probs_dropout_prob = 0.1;
    std::optional<double> classifier_dropout{};  // of the heads; hidden_dropout_prob without
    double layer_norm_eps = 1e-12;
    double initializer_range = 0.02;
    bool tie_word_embeddings = true;
    int pad_token_id = 0;    // never fed to the model
    int first_position = 0;  // row of the position table where a text begins; not in the file

    float hidden_dropout() const { return static_cast<float>(hidden_dropout_prob); }
    float head_dropout() const {
        return static_cast<float>(classifier_dropout.value_or(hidden_dropout_prob));
    }
    int max_length() const { return max_position_embeddings - first_position; }

    // tiny (2 layers of 128), small (4 of 256), base (12 of 768), big (24 of 1024): the sizes of
    // Turc et al. 2019 and of the paper. What the choice names itself goes before them.
    void apply(const EncoderChoice& choice);
    // Sizes that cannot be are one clear error: bad_input for a file, usage for a choice.
    void check(const std::string& where, ErrorKind kind = ErrorKind::bad_input) const;

    // For heads that compare rows with the word embeddings.
    void check_tied(const std::string& where) const;

    // What the file does not say stays as it is in this config; what this encoder cannot do is
    // refused by its name.
    void read(const Json& json, const std::string& where);
    Json to_json(const char* model_type) const;
};

}  // namespace fovea
