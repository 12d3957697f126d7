#pragma once
// Linear-chain conditional random fields (Lafferty, McCallum & Pereira 2001): tags of a sequence
// that are judged together. A path's score is what each row says about its tag (emissions) plus
// what each tag says about the one before it. Sums over paths and best paths are computed in
// double, each sequence by itself.
#include <cstdint>
#include <vector>

#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct CrfWeights {
    Tensor pairs;       // [tags, tags]: row = a tag, column = the tag after it
    Tensor start, end;  // [tags]
};

// Which tags may begin a sequence, follow each other and end one: 1 or 0. Empty: all may.
struct TagOrder {
    std::vector<std::uint8_t> start, end;  // [tags]
    std::vector<std::uint8_t> pairs;       // [tags, tags]: row before, column after

    bool allows(std::int32_t before, std::int32_t after) const {
        if (pairs.empty()) return true;
        return pairs[static_cast<std::size_t>(before) * start.size() +
                     static_cast<std::size_t>(after)] != 0;
    }
};

struct CrfOptions {
    // Paths that the order forbids take no part in the sum; tags that break it are an error.
    TagOrder order{};
    Reduction reduction = Reduction::mean;  // mean: over rows; none: one for each sequence
};

// −log p(tags | emissions), by the forward algorithm. emissions [rows, tags], tags [rows].
Tensor crf_loss(const Tensor& emissions, const Segments& segments, const Ids& tags,
                const CrfWeights& weights, const CrfOptions& options = {});

// p(tag of row i is j | emissions) [rows, tags], over all paths. Has no gradient.
Tensor crf_marginals(const Tensor& emissions, const Segments& segments, const CrfWeights& weights,
                     const TagOrder& order = {});

struct TagPaths {
    Ids tags;                    // [rows]
    std::vector<double> scores;  // of each sequence's path
};
// The most probable paths, by Viterbi's algorithm. Where no path is allowed: an error.
TagPaths crf_decode(const Tensor& emissions, const Segments& segments, const CrfWeights& weights,
                    const TagOrder& order = {});

}  // namespace fovea
