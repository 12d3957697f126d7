#pragma once
// How a decoder's scores become a text: greedy, beam search or sampling, and the controls on top.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
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

// Added to it where a source should be covered: Wu et al. 2016, eq. 14, β Σ_j log min(Σ_i p_ij, 1);
// coverage[j] is the attention that source token j has received.
double coverage_bonus(const std::vector<double>& coverage, double beta);

struct SearchOptions {
    int beam = 1;          // 1: greedy
    int n_best = 1;        // at most beam (or samples)
    int max_length = 256;  // produced tokens at most, unless a request has its own limit
    double max_length_factor =
        3.0;  // for tasks with a source: at most this times its length, + 10;
              // they turn it into limits of requests, search looks not at it
    int min_length = 0;
    LengthPenalty penalty = LengthPenalty::fairseq;
    double penalty_strength = 1.0;
    double word_penalty = 0;      // marian's
    double coverage_penalty = 0;  // β of Wu et al. 2016, eq. 14
    int fixed_lag = 0;            // beam search: a token is certain once so many follow; 0: off
    bool early_stop = true;       // a sentence ends once `beam` hypotheses are finished

    bool sample = false;
    double temperature = 1.0;
    int top_k = 0;       // 0: all
    double top_p = 1.0;  // nucleus, Holtzman et al. 2020
    double min_p = 0.0;  // no token less probable than this times the best, Nguyen et al. 2024
    std::uint64_t seed = 1;

    // Of produced tokens, and where `prompt_counts` of the request's prompt too: a language model
    // goes on with its prompt, while a translation only begins behind it.
    double repetition_penalty = 1.0;  // Keskar et al. 2019; 1: off
    int no_repeat_ngram = 0;          // 0: off
    std::vector<Ids> bad_words{};     // token sequences that are never completed
    bool prompt_counts = false;
    std::vector<std::int32_t> banned{};  // never produced (pad, and whatever the model's file bans)

    void check() const;  // throws usage errors
};

// What is wanted of one sentence.
struct DecodeRequest {
    Ids prompt{};                    // what the model reads first; empty: the model's default
    std::int64_t limit = 0;          // tokens to produce at most; 0: SearchOptions::max_length
    Ids prefix{};                    // the text begins with these (they count as produced)
    std::vector<Ids> constraints{};  // each of these appears somewhere in the text
    // Names the random numbers that samples are drawn with; without it: the index in the batch.
    std::optional<std::uint64_t> sample_id{};
};

struct Hypothesis {
    Ids tokens;                       // produced ones, without prompt and end token
    std::vector<float> token_scores;  // log-probability of each token, and of the end token
    double sum = 0;                   // of token_scores
    double score = 0;                 // ranked_score
    bool finished = true;             // false: cut at the limit, or stopped
    bool constraints_met = true;      // false: a phrase asked for does not appear
    std::int32_t end_token = -1;      // the one that finished it; -1: none did
    int sample = 0;                   // which of the samples of its sentence (events count so too)
};

// A token that is certain to be part of the result.
struct SearchEvent {
    std::int64_t sentence = 0;  // index of the request
    int sample = 0;             // Hypothesis::sample; 0 unless sampling
    std::int32_t token = 0;
    float score = 0;    // log-probability
    bool end = false;   // an end token: finished, and not part of Hypothesis::tokens
    bool last = false;  // nothing follows: an end token, or the limit
};

// For programs that show texts while they are made, or want to stop early.
struct SearchHooks {
    // Called on the searching thread. Sampling: every token as it is drawn. Greedy and beam search:
    // the tokens of the best hypothesis, each as soon as all hypotheses of the sentence agree on it
    // (with beam 1: at once; otherwise the rest follows when the sentence is done).
    // Return false to end this sample (beam search: this sentence) with what is there.
    std::function<bool(const SearchEvent&)> on_token{};
    // Beam search: is a hypothesis with these tokens complete (a stop string has come)? It is then
    // finished as if by an end token.
    std::function<bool(std::int64_t sentence, const Ids& tokens)> ends{};
    // Set to true by any thread: the search ends before its next step; what is there is returned,
    // marked as not finished. No further events.
    const std::atomic<bool>* stop = nullptr;
};

}  // namespace fovea
