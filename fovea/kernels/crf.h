#pragma once
// Linear chains of tags: the forward and backward recursions and the best path, in double.
// Sequences lie end to end; each is computed by itself, so its numbers do not depend on others.
#include <cstdint>
#include <span>
#include <vector>

#include "fovea/base/view.h"

namespace fovea::kernels {

struct CrfChain {
    ConstView emissions;                    // [rows, tags]
    std::span<const std::int64_t> offsets;  // of the sequences
    // Scores in double, −∞ where the order of tags forbids it.
    std::vector<double> start, end;  // [tags]
    std::vector<double> pairs;       // [tags, tags]: row before, column after

    std::int64_t tags() const { return emissions.cols; }
};

// log Σ over paths that end in tag j at row t, of exp(score up to there) [rows, tags], and over all
// paths of a sequence (log_sums, one each).
void crf_forward(const CrfChain& chain, double* prefixes, double* log_sums);

// Where gradients of Σ_s factor[s] · (log_sum − score of its tags) go; `tags` null: only the first
// part, which is what the probabilities of tags are.
struct CrfGradients {
    View emissions;           // [rows, tags]; data null: not wanted
    bool add = false;         // to what emissions hold
    double* pairs = nullptr;  // [tags, tags], start and end [tags]; all zeroed by the caller, or
    double* start = nullptr;  // null together
    double* end = nullptr;
};
void crf_backward(const CrfChain& chain, const double* prefixes, const double* log_sums,
                  const std::int32_t* tags, const float* factors, const CrfGradients& to);

// The best path of each sequence (of equals, the one whose last tag, then the one before … is the
// lowest), and its score.
void crf_best_paths(const CrfChain& chain, std::int32_t* tags, double* scores);

// The score of given tags, one for each sequence.
void crf_path_scores(const CrfChain& chain, const std::int32_t* tags, double* scores);

}  // namespace fovea::kernels
