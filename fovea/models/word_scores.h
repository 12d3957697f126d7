#pragma once
// Logistic regression: every run of letters, every word and every pair of words that a text has
// (word_runs.h) speaks for or against each class, and the text is what they say together. Rare runs
// count more (Salton & Buckley 1988, tf-idf), and the runs of letters of a text as much as its
// words. With few texts nothing that we have learns more (docs/results.md).
//
//   w_f = (1 + ln tf_f) · idf_f                    tf_f: how often the text has run f
//   idf_f = 1 + ln((1 + n) / (1 + n_f))            of n texts n_f have it; 0 where none has
//   y = Σ_f w_f / ‖w‖ · T[f] + b                   ‖w‖ over the runs of f's kind in the text
//
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include "fovea/models/word_model.h"
#include "fovea/models/word_runs.h"

namespace fovea {

struct WordScoresConfig : WordModelConfig, RunConfig {
    static WordScoresConfig from_json(const Json& json, const std::string& where);
    Json to_json() const;
};

struct WordScores {
    static constexpr const char* model_type = "fovea_linear";
    static constexpr std::string_view sizes = "d-model";

    // A column for each class; where none are asked for, embedding_size of them.
    WordScores(const WordScoresConfig& c, const HeadChoice& head, const Params& p);
    Tensor operator()(const TokenBatch& batch) const;             // [total, width]
    Tensor sum(const Tensor& rows, const Segments& texts) const;  // [texts, width]
    void count(const TokenBatch& texts) const;                    // sets idf
    // Of characters the last word ends as those before it do.
    void add_runs(std::span<const std::int32_t> text, WordRuns& runs) const;

    static Json new_config(const EncoderChoice& choice);
    static TextEncoder make(const Json& config, const std::string& where, const HeadChoice& head,
                            const Params& p);
    static std::span<const NameRule> rules() { return {}; }

    WordScoresConfig config;
    Tensor table;  // [vocab_size + buckets, width]; runs of one token have rows of their own
    Tensor idf;    // [vocab_size + buckets]; ones until they are counted
    Tensor bias;   // [width], of classes
};

}  // namespace fovea
