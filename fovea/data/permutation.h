#pragma once
// Which tokens of a text the permutation language model predicts, and in which order.
//
// Targets are spans (Yang et al. 2019, §3.1; also Hugging Face's collator for permutation language
// models): a length L of 1 … 5 is drawn, and L tokens in a row are chosen within the next K·L, so
// that one token of K is predicted. The order of factorisation is drawn uniformly; as the tokens
// that are not predicted all see each other, only the order of the targets matters.
// Thread-safety: pure functions of (tokens, seed, epoch, document), safe from any thread.
#include <cstdint>

#include "fovea/tensor/segments.h"

namespace fovea {

struct PermutationExample {
    Ids order;                   // all positions: those not predicted (as in the text), the targets
    std::int64_t predicted = 0;  // the last so many of the order are targets
};

struct PermutationOptions {
    int longest_span = 5;
    int one_in = 6;  // K
    Ids never{};     // tokens that are no targets: <sep>, <cls>
};

// At least one target, unless every token is one of `never`.
PermutationExample draw_permutation(const Ids& tokens, std::uint64_t seed, std::uint64_t epoch,
                                    std::uint64_t document, const PermutationOptions& options = {});

}  // namespace fovea
