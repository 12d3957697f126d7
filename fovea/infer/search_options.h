#pragma once
// How a decoder's scores become a text: greedy, beam search or sampling, and the controls on top.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <cstdint>
#include <string>
#include <vector>

#include "fovea/tensor/segments.h"

namespace fovea {

// Length penalties of the well-known toolkits (their formulas: docs/decoding.md). `strength` is
// their α, n or lenpen.
enum class LengthPenalty {
    none,      // the sum of log-probabilities
    marian,    // sum / length^n, less a word penalty
    fairseq,   // sum / (length with </s>)^lenpen
    hf,        // sum / (length without the start token)^length_penalty
    onmt_avg,  // sum / length^α
    onmt_wu,   // sum / ((5 + length) / 6)^α, Wu et al. 2016, eq. 14
};
const char* name_of(LengthPenalty p);
LengthPenalty length_penalty_of(const std::string& name);

// The score that ranks finished hypotheses. `length` counts produced tokens, </s> included.
double ranked_score(double sum, std::int64_t length, LengthPenalty kind, double strength,
                    double word_penalty = 0);

struct SearchOptions {
    int beam = 1;                    // 1: greedy
    int n_best = 1;                  // at most beam (or samples)
    int max_length = 256;            // produced tokens at most …
    double max_length_factor = 3.0;  // … and at most this times the source's length, plus 10
    int min_length = 0;
    LengthPenalty penalty = LengthPenalty::fairseq;
    double penalty_strength = 1.0;
    double word_penalty = 0;      // marian's
    double coverage_penalty = 0;  // β of Wu et al. 2016, eq. 14
    bool early_stop = true;       // a sentence ends once `beam` hypotheses are finished

    bool sample = false;
    double temperature = 1.0;
    int top_k = 0;       // 0: all
    double top_p = 1.0;  // nucleus, Holtzman et al. 2020
    std::uint64_t seed = 1;

    double repetition_penalty = 1.0;     // Keskar et al. 2019; 1: off
    int no_repeat_ngram = 0;             // 0: off
    std::vector<std::int32_t> banned{};  // never produced (pad, and whatever the model's file bans)

    void check() const;  // throws usage errors
};

// What is wanted of one sentence beyond the options of the batch.
struct DecodeRequest {
    Ids prefix;                    // the target begins with these
    std::vector<Ids> constraints;  // each of these stands somewhere in the target
};

struct Hypothesis {
    Ids tokens;                       // without start and </s>
    std::vector<float> token_scores;  // log-probability of each token, and of </s> at the end
    double sum = 0;                   // of token_scores
    double score = 0;                 // ranked_score
    bool finished = true;             // false: cut at max_length
};

}  // namespace fovea
