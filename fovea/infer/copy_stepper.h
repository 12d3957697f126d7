#pragma once
// A decoder that copies, as a Stepper: the rows of any decoder's steps become probabilities over
// the vocabulary and the words of each sentence's own source behind it. Not thread-safe: a stepper
// belongs to one search.
#include <functional>
#include <memory>
#include <vector>

#include "fovea/base/precision.h"
#include "fovea/infer/stepper.h"
#include "fovea/models/pointer.h"

namespace fovea {

struct CopyStepping {
    std::shared_ptr<const PointerHead> head;
    std::function<Tensor(const Tensor& rows)> logits;  // of the vocabulary
    Tensor memory;                                     // the sources, read
    Segments segments;
    Ids copies;               // at each place of the sources, as ids of the (extended) target
    std::int64_t vocabulary;  // ids from here on are words of a source
    std::int32_t unknown;     // what the decoder is fed instead of these
};

class CopyStepper : public Stepper {
public:
    // `rows` gives rows of the decoder where another stepper gives logits.
    CopyStepper(std::unique_ptr<Stepper> rows, CopyStepping parts);

    Tensor start(std::span<const Ids> prompts) override;
    Tensor step(const Ids& tokens, std::span<const std::int64_t> parents) override;
    std::span<const std::int32_t> end_tokens() const override { return rows_->end_tokens(); }
    Ids default_prompt() const override { return rows_->default_prompt(); }
    SourceAttention* source() override { return rows_->source(); }

private:
    Ids fed(const Ids& tokens) const;
    Tensor probabilities(const Tensor& rows);

    std::unique_ptr<Stepper> rows_;
    CopyStepping parts_;
    Precision precision_ = current_precision();
    Tensor keys_;
    std::int64_t columns_;
    std::vector<std::int64_t> sources_;  // of each row of the last logits
    Coverage coverage_;                  // of these rows, where the head is covered
};

}  // namespace fovea
