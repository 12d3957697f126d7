#pragma once
// What a search needs of a model: the scores of the next token for every live hypothesis.
// Not thread-safe: a stepper belongs to one search.
#include <cstdint>
#include <span>

#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// What a model with a source (an encoder) shows of where it looks; for the coverage penalty.
class SourceAttention {
public:
    virtual ~SourceAttention() = default;

    // Off until asked for, because maps cost time. To be called before Stepper::start.
    virtual void keep_weights(bool on) = 0;
    // How much row `row` of the last logits looks at each source token of its sentence (mean over
    // the heads of the last layer). Valid until the next step.
    virtual std::span<const float> weights(std::int64_t row) const = 0;
};

// What a decoder's step hands over: logits, or the rows they are made from (for heads of another
// kind: copy_stepper.h).
enum class StepResult { logits, rows };

class Stepper {
public:
    virtual ~Stepper() = default;

    // Reads the prompts, one per sentence, of any lengths but none empty. Returns the logits of
    // what follows, [sentences, V], which the caller may change. Once, before the first step.
    virtual Tensor start(std::span<const Ids> prompts) = 0;

    // One row per hypothesis: row i continues row parents[i] of the logits before (at the first
    // step: the prompt of that sentence) by tokens[i]. Several rows may have one parent, and rows
    // that are nobody's parent are forgotten. Returns logits [rows, V], as above.
    virtual Tensor step(const Ids& tokens, std::span<const std::int64_t> parents) = 0;

    // The tokens that end a text. None: it goes on to its limit.
    virtual std::span<const std::int32_t> end_tokens() const = 0;

    // The prompt of a request that has none. Empty: the model cannot begin from nothing.
    virtual Ids default_prompt() const { return {}; }

    // Null where the model has no source.
    virtual SourceAttention* source() { return nullptr; }
};

}  // namespace fovea
