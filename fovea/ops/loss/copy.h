#pragma once
// A choice between writing a word of the vocabulary and copying one of the source (See et al. 2017,
// eq. 9), over a vocabulary that the source's own words extend:
//   P(w) = g P_written(w) + (1 − g) Σ_{j: token_j = w} a_j      a = softmax of the row's scores
// Without written words the row only points (Vinyals et al. 2015): P(w) = Σ_{j: token_j = w} a_j.
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/tensor/ragged.h"

namespace fovea {

struct CopyChoice {
    Tensor written;  // log-probabilities [rows, V] (log_softmax); empty: only copying
    Tensor gate;     // logit of writing [rows, 1]; empty with `written`
    Ragged scores;   // a row's scores of the places it sees (pointer_scores)
    Ids tokens;      // what stands at each of these places, one for each score; V and more: words
                     // that the vocabulary has not
};

// −log P(label), reduced. Labels that can neither be written nor copied count as P = 1e-30, with no
// gradient. Smoothing is that of the written words: ε of the loss is −mean log P_written.
Tensor copy_loss(const CopyChoice& choice, const Ids& labels,
                 const CrossEntropyOptions& options = {});

// log P(w) for all w below `columns` [rows, columns], at least log 1e-30. No gradient: for search.
Tensor copy_log_probs(const CopyChoice& choice, std::int64_t columns);

}  // namespace fovea
