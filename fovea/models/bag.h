#pragma once
// Joulin et al. 2016 (Bag of Tricks for Efficient Text Classification): a text is the mean of the
// vectors of its words and of its runs of words, which share a table of fixed size by their hash.
// Nothing is multiplied but that mean: it is as fast as a text can be read.
//
// Tokens may be words or pieces: runs of 1 … max_ngram of them count. Or characters, with
// `separator_id` between words: then words and pairs of words count too, and runs do not reach
// beyond the separators around a word (Bojanowski et al. 2017: a word that was never seen has parts
// that were, and its beginning and end are told from its middle). A mark (`mark_ids`) parts words
// as a separator does and is a word by itself: "(fine)" is a bracket, the word fine, and a bracket.
//
//   row_i = mean E[h(run)]   over the runs that end with token i
//
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include "fovea/models/word_model.h"

namespace fovea {

struct BagConfig : WordModelConfig {
    int min_ngram = 1, max_ngram = 2;
    int separator_id = -1;  // tokens are characters, and this one parts words; -1: they are words
    int end_id = -1;        // and this one ends a text
    std::vector<int> mark_ids;
    int word_ngram = 2;     // with a separator: runs of words
    int buckets = 1 << 16;  // rows that the runs share

    static BagConfig from_json(const Json& json, const std::string& where);
    Json to_json() const;
};

struct Bag {
    static constexpr const char* model_type = "fovea_bag";
    static constexpr std::string_view sizes = "d-model";

    Bag(const BagConfig& c, const Params& p);
    Tensor operator()(const TokenBatch& batch) const;  // [total, embedding_size]

    static Json new_config(const EncoderChoice& choice);
    static TextEncoder make(const Json& config, const std::string& where, const HeadChoice& head,
                            const Params& p);
    static std::span<const NameRule> rules() { return {}; }

    BagConfig config;
    Tensor
        table;  // [vocab_size + buckets, embedding_size]; runs of one token have rows of their own
};

}  // namespace fovea
