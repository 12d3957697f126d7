#pragma once
// What the rows of one attention see, and how they take it: a Visibility, the means that an
// expanded window puts behind its keys, and whether one place is taken or a mixture of all. A block
// hands it on and never asks which mechanism it is. A cheap handle; immutable, so thread-safe.
#include <memory>

#include "fovea/nn/expanded_window.h"
#include "fovea/ops/attention/attention.h"

namespace fovea {

using SharedMeans = std::shared_ptr<const ExpandedWindow>;

struct Sight {
    Sight(const Visibility& rows) : sees(rows) {}  // NOLINT: every Visibility is one
    Sight(const Visibility& rows, SharedMeans behind) : sees(rows), means(std::move(behind)) {}

    // Keys or values as `sees` counts them: with the means behind them, if there are any.
    Tensor with_means(const Tensor& rows) const { return means ? means->appended(rows) : rows; }

    // k and v have their means.
    Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, int heads,
                  const AttentionOptions& options) const {
        return one_place ? attention_hard(q, k, v, heads, sees, options)
                         : attention(q, k, v, heads, sees, options);
    }

    Visibility sees;
    SharedMeans means{};     // null: none
    bool one_place = false;  // hard attention
};

}  // namespace fovea
