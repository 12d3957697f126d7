#pragma once
// The encoder-decoder as a Stepper: encodes the sources once, keeps keys and values of everything
// produced, and shares them between hypotheses of a common past without copying.
// It computes in the precision that is current where it is made, whatever holds where it steps: so
// an ensemble may mix precisions.
// Not thread-safe: a stepper belongs to one search; its model may be shared.
#include <vector>

#include "fovea/base/precision.h"
#include "fovea/infer/kv_history.h"
#include "fovea/infer/stepper.h"
#include "fovea/models/transformer.h"

namespace fovea {

class TransformerStepper : public Stepper, private SourceAttention {
public:
    // One sentence per source, and so one prompt (as a rule the default one).
    TransformerStepper(const Transformer& model, const Ids& source, const Segments& segments,
                       StepResult result = StepResult::logits);

    Tensor start(std::span<const Ids> prompts) override;
    Tensor step(const Ids& tokens, std::span<const std::int64_t> parents) override;
    std::span<const std::int32_t> end_tokens() const override {
        return {&model_.config.eos_token_id, 1};
    }
    Ids default_prompt() const override { return {model_.config.decoder_start_token_id}; }
    SourceAttention* source() override { return this; }
    const Tensor& memory() const { return memory_; }  // the sources, encoded

private:
    void keep_weights(bool on) override { keeps_weights_ = on; }
    std::span<const float> weights(std::int64_t row) const override;
    Tensor run(const Ids& tokens, const Visibility& sees);

    const Transformer& model_;
    Precision precision_ = current_precision();
    StepResult result_;
    Segments source_;
    Tensor memory_;
    DecoderCache cache_;
    KvHistory history_;
    std::vector<std::vector<float>> weights_;  // of each row of the last logits
    bool keeps_weights_ = false;
};

}  // namespace fovea
