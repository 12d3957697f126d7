#pragma once
// Targets that a model meets in decoding but not in plain training: with its own last tokens
// (fixed-lag training), read from their end (reverse information), without a source (language).
// Each makes another batch of a batch; draws are functions of the run's seed, the epoch and the
// sample alone. Thread-safety: pure functions.
#include <cstdint>

#include "fovea/tasks/seq2seq_network.h"

namespace fovea {

// Names the draws of one epoch. A sample stands once in an epoch.
struct EpochDraws {
    std::uint64_t seed = 1;
    std::int64_t epoch = 0;

    // In [0, 1), for a sample and a purpose.
    double draw(std::uint64_t sample, std::uint32_t purpose) const;
};

// Of each target y of n tokens (y_n is the end) a place c is drawn from 0 … n − 1; the tokens up to
// y_c are given, and the model goes on by itself for at most K tokens, each its most probable one:
//   ŷ_{c+i} = argmax_w p(w | x, y_1 … y_c, ŷ_{c+1} … ŷ_{c+i−1})      i = 1 … K
//   loss = −Σ_{i=0}^{K} log p(y_{c+i+1} | x, y_1 … y_c, ŷ_{c+1} … ŷ_{c+i})
// so that the last term has the true prefix up to t − K and K tokens of the model's own. It ends
// sooner with the target or where the model ends its text. Labels before c do not count. Only a
// `share` of the targets, drawn, is treated so; the others stay as they are, because a model that
// knows nothing yet has nothing to learn from its own tokens.
struct OwnTokens {
    std::int64_t lag = 0;  // K
    double share = 1;
};
Seq2SeqBatch with_own_tokens(const Seq2SeqNetwork& network, const Seq2SeqBatch& truth,
                             const OwnTokens& how, const EpochDraws& draws);

// A share of the targets, drawn, is turned round: behind the token `direction` instead of the start
// token stand y_{n−1} … y_1 and the end.
Seq2SeqBatch with_reversed(const Seq2SeqBatch& batch, std::int32_t direction, double share,
                           const EpochDraws& draws);

// The same targets of sources that say nothing (their end alone): what is learned of them is the
// language of the targets.
Seq2SeqBatch without_sources(const Seq2SeqBatch& batch, std::int32_t end);

// That of every target.
Seq2SeqBatch all_reversed(const Seq2SeqBatch& batch, std::int32_t direction);

}  // namespace fovea
