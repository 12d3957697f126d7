#pragma once
// Any text encoder that tells tokens in any order (it has `targets`: XLNet) as a Stepper. The next
// token is told by a row that stands behind the text and sees all of it; as the text's own rows see
// each other both ways, every new token changes all of them: the whole text is read anew for each
// token. (xlnet_stepper.h can keep rows of the past, which is another answer.)
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
    Tensor step(const Ids& tokens, std::span<const std::int64_t> parents) override;
    std::span<const std::int32_t> end_tokens() const override { return options_.end_tokens; }
    Ids default_prompt() const override { return options_.default_prompt; }

private:
    Tensor run() const;

    const TextEncoder& model_;
    Precision precision_ = current_precision();
    LanguageModelStepper::Options options_;
    std::vector<Ids> texts_;  // of each row of the last logits: prompt and all that followed
};

// The one that fits: a model with `step` keeps keys and values, one with `targets` reads anew.
std::unique_ptr<Stepper> make_language_stepper(const TextEncoder& model,
                                               LanguageModelStepper::Options options);

}  // namespace fovea
