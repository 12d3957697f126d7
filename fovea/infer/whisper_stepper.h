#pragma once
// Whisper's decoder as a Stepper: the sounds' keys and values are computed once, those of the texts
// are kept and shared between hypotheses of a common past.
// It computes in the precision that is current where it is made.
// Not thread-safe: a stepper belongs to one search; its model may be shared.
#include "fovea/base/precision.h"
#include "fovea/infer/kv_history.h"
#include "fovea/infer/stepper.h"
#include "fovea/models/whisper.h"

namespace fovea {

class WhisperStepper : public Stepper {
public:
    // One text per sound. `not_first`: tokens that no text begins with, behind its prompt.
    WhisperStepper(const WhisperDecoder& model, const SoundRows& sound, Ids not_first = {});

    Tensor start(std::span<const Ids> prompts) override;
    Tensor step(const Ids& tokens, std::span<const std::int64_t> parents) override;
    std::span<const std::int32_t> end_tokens() const override { return {&end_token_, 1}; }
    Ids default_prompt() const override { return {model_.config.decoder_start_token_id}; }

private:
    Tensor run(const Ids& tokens, const Visibility& sees);

    const WhisperDecoder& model_;
    Precision precision_ = current_precision();
    std::int32_t end_token_;
    Ids not_first_;
    WhisperCache cache_;
    KvHistory history_;
};

}  // namespace fovea
