#pragma once
// What pretraining may be told: the model, its objective and context, documents, masks, vocabulary.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/settings.h"
#include "fovea/data/documents.h"
#include "fovea/data/masking.h"
#include "fovea/models/text_encoder.h"

namespace fovea {

enum class Objective {
    masked,           // tell hidden tokens (RoBERTa)
    masked_and_next,  // and whether the second text follows the first (BERT)
    causal,           // tell the next token (GPT-2)
    permuted,         // tell some tokens in an order that is drawn (XLNet)
    // Texts and their translations, in a model that has language embeddings:
    translated,             // tell hidden tokens of both in one sequence (TLM)
    masked_and_translated,  // half of the pairs so, the other half as two texts alone
};
const char* name_of(Objective objective);  // mlm, mlm-nsp, causal, permutation, tlm, mlm-tlm
// Does it hide tokens behind others (and so need a mask token)?
inline bool hides_tokens(Objective o) { return o != Objective::causal && o != Objective::permuted; }
inline bool translates(Objective o) {
    return o == Objective::translated || o == Objective::masked_and_translated;
}
Objective objective_named(const std::string& name);  // what is none: mlm

// What the papers did: where nothing else is asked for.
struct ModelHabit {
    const char* model;       // of text_encoders()
    const char* vocabulary;  // wordpiece, bpe, unigram
    const char* recipe;      // of training_like(): its special tokens and template
    Objective objective;
    std::vector<Objective> allowed;
    bool has_languages = false;  // embeddings that tell two languages apart
};
const ModelHabit& habit_of(const std::string& model);  // a model that is none: a usage error
std::vector<std::string> pretrained_models();

struct PretrainSettings {
    std::string model = "bert", objective = "auto", documents = "auto";
    std::optional<int> context, memory;
    std::string source_key, target_key;  // columns of pairs
    EncoderChoice sizes;
    MaskingOptions masking;
    std::string masks = "anew";

    // vocabulary
    std::string vocabulary = "auto", tokenizer;
    std::int64_t vocabulary_size = 8000;
    bool lowercase = false;

    bool max_length_given = false;

    void describe(Settings& settings);
    // Wrong combinations are usage errors; `from` is the folder of --from, or empty.
    void check(Settings& settings, const std::string& from);
    Objective objective_for(const ModelHabit& habit) const;
    // Is the data texts and their translations?
    bool reads_pairs() const { return documents == "pairs"; }
};

}  // namespace fovea
