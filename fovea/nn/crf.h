#pragma once
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include "fovea/nn/params.h"
#include "fovea/ops/crf.h"

namespace fovea {

// What tags say about each other: a chain over emissions (ops/crf.h). A new one knows nothing.
struct Crf {
    Crf(int tags, const Params& p)
        : weights{.pairs = p.exact("transitions", {tags, tags}, zeros()),
                  .start = p.exact("start_transitions", {tags}, zeros()),
                  .end = p.exact("end_transitions", {tags}, zeros())} {}

    Tensor loss(const Tensor& emissions, const Segments& segments, const Ids& tags,
                const CrfOptions& options = {}) const {
        return crf_loss(emissions, segments, tags, weights, options);
    }
    Tensor marginals(const Tensor& emissions, const Segments& segments,
                     const TagOrder& order) const {
        return crf_marginals(emissions, segments, weights, order);
    }
    TagPaths decode(const Tensor& emissions, const Segments& segments,
                    const TagOrder& order) const {
        return crf_decode(emissions, segments, weights, order);
    }

    CrfWeights weights;
};

}  // namespace fovea
