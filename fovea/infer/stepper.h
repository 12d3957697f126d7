#pragma once
// What a search needs of a model: the scores of the next token for every live hypothesis.
// Not thread-safe: a stepper belongs to one search.
#include <cstdint>
#include <span>

#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

class Stepper {
public:
    virtual ~Stepper() = default;

    // One row a hypothesis: it continues the one that stood at row parents[i] of the step before
    // (at the first step: sentence parents[i] of the batch) by tokens[i]. Returns the logits of
    // what comes next, [rows, V], which the caller may change.
    virtual Tensor step(const Ids& tokens, std::span<const std::int64_t> parents) = 0;

    // For the coverage penalty: how much each row of the last step looks at each source token of
    // its sentence (mean over the heads of the last layer). Empty where the model has no source.
    virtual std::span<const float> source_weights(std::int64_t row) = 0;
    virtual void want_source_weights(bool on) = 0;

    virtual std::int64_t sentences() const = 0;
    virtual std::int64_t source_length(std::int64_t sentence) const = 0;
    virtual std::int32_t start_token() const = 0;
    virtual std::int32_t end_token() const = 0;
};

}  // namespace fovea
