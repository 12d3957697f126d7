#pragma once
// The recurrent encoder-decoder as a Stepper: encodes the sources once and keeps one row of states
// for each hypothesis. It computes in the precision that is current where it is made.
// Not thread-safe: a stepper belongs to one search; its model may be shared.
#include <vector>

#include "fovea/base/precision.h"
#include "fovea/infer/stepper.h"
#include "fovea/models/rnn_seq2seq.h"

namespace fovea {

class RnnStepper : public Stepper, private SourceAttention {
public:
    // One sentence per source, and so one prompt (as a rule the default one).
    RnnStepper(const RnnSeq2Seq& model, const Ids& source, const Segments& segments,
               StepResult result = StepResult::logits);

    Tensor start(std::span<const Ids> prompts) override;
    Tensor step(const Ids& tokens, std::span<const std::int64_t> parents) override;
    std::span<const std::int32_t> end_tokens() const override {
        return {&model_.config.eos_token_id, 1};
    }
    Ids default_prompt() const override { return {model_.config.decoder_start_token_id}; }
    SourceAttention* source() override { return model_.decoder.attention ? this : nullptr; }
    const Tensor& memory() const { return memory_.rows; }  // the sources, encoded

private:
    void keep_weights(bool on) override { keeps_weights_ = on; }
    std::span<const float> weights(std::int64_t row) const override;
    // One step of these rows (of states_), by one token each.
    Tensor advance(const Ids& tokens, std::span<const std::int64_t> rows);

    const RnnSeq2Seq& model_;
    Precision precision_ = current_precision();
    StepResult result_;
    RnnMemory memory_;
    RnnDecoderState states_;                     // one row for each row of the last logits, as …
    std::vector<std::int64_t> sources_, steps_;  // … which source each has, and how far it is
    std::vector<std::vector<float>> weights_;
    bool keeps_weights_ = false;
};

}  // namespace fovea
