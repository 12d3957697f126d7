#pragma once
// Joulin et al. 2016 (Bag of Tricks for Efficient Text Classification): a text is the mean of the
// vectors of its words and of its runs of words (word_runs.h). Nothing is multiplied but that mean:
// it is as fast as a text can be read.
//
//   row_i = mean E[h(run)]   over the runs that end with token i
//
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include "fovea/models/word_model.h"
#include "fovea/models/word_runs.h"

namespace fovea {

struct BagConfig : WordModelConfig, RunConfig {
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
