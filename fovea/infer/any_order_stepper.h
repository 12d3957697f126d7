#pragma once
// Any text encoder that tells tokens in any order (it has `targets`: XLNet) as a Stepper. The next
// token is told by a row that stands behind the text and sees all of it. As the text's own rows see
// each other both ways, every new token changes all of them:
//   keep_rows off   the whole text is read anew for each token
//   keep_rows on    the rows of all but the last two tokens stay as they were when computed; those
//                   two are read anew (what Hugging Face's generate does with use_mems)
// Both are exact to the reference. The second is not the first with the same bits, but another
// answer, which costs three rows a token instead of all.
// It computes in the precision that is current where it is made.
// Not thread-safe: a stepper belongs to one search; its model may be shared.
#include <memory>
#include <vector>

#include "fovea/base/precision.h"
#include "fovea/infer/language_model_stepper.h"
#include "fovea/infer/stepper.h"
#include "fovea/models/text_encoder.h"

namespace fovea {

class AnyOrderStepper : public Stepper {
public:
    AnyOrderStepper(const TextEncoder& model, LanguageModelStepper::Options options);

    Tensor start(std::span<const Ids> prompts) override;
    // A text that fills the context with the token that is asked for loses its oldest half.
    Tensor step(const Ids& tokens, std::span<const std::int64_t> parents) override;
    std::span<const std::int32_t> end_tokens() const override { return options_.end_tokens; }
    Ids default_prompt() const override { return options_.default_prompt; }

private:
    Tensor run(const RowMemory& memory);
    RowMemory memory_of(std::span<const std::int64_t> parents) const;
    void keep(const RowMemory& memory, const RowMemory& own);

    const TextEncoder& model_;
    Precision precision_ = current_precision();
    LanguageModelStepper::Options options_;
    // Of each row of the last logits: the text in view, how much of it is read in this step (the
    // rest is kept), and the rows of the pool that the next step may look at.
    std::vector<Ids> texts_;
    std::vector<std::size_t> read_;
    std::vector<Ids> kept_;
    std::vector<Tensor> pool_;  // a layer's rows of the last step
};

// The one that fits: a model with `step` keeps keys and values, one with `targets` tells by rows of
// their own.
std::unique_ptr<Stepper> make_language_stepper(const TextEncoder& model,
                                               LanguageModelStepper::Options options);

}  // namespace fovea
