#pragma once
// Any text encoder that reads left to right (it has `step`) and scores the vocabulary (`words`), as
// a Stepper: prompts are read once, and what hypotheses and samples of one prompt have in common is
// computed and kept once.
//
// A text may go on for ever: when the context is full, the oldest half of it is dropped and the
// rest is read again from position 0. When that happens depends on the text's own length alone.
// It computes in the precision that is current where it is made.
// Not thread-safe: a stepper belongs to one search; its model may be shared.
#include <vector>

#include "fovea/base/precision.h"
#include "fovea/infer/kv_history.h"
#include "fovea/infer/stepper.h"
#include "fovea/models/text_encoder.h"

namespace fovea {

class LanguageModelStepper : public Stepper {
public:
    struct Options {
        Ids end_tokens{};        // that end a text; may be none
        Ids default_prompt{};    // of a request without one
        bool keep_rows = false;  // of a model that tells in any order (any_order_stepper.h)
    };
    LanguageModelStepper(const TextEncoder& model, Options options);

    // A prompt longer than the model's context is an error.
    Tensor start(std::span<const Ids> prompts) override;
    Tensor step(const Ids& tokens, std::span<const std::int64_t> parents) override;
    std::span<const std::int32_t> end_tokens() const override { return options_.end_tokens; }
    Ids default_prompt() const override { return options_.default_prompt; }

private:
    Tensor run(const Ids& tokens, const Visibility& sees);

    const TextEncoder& model_;
    Precision precision_ = current_precision();
    Options options_;
    std::vector<KvCache> caches_;  // one a layer
    KvHistory history_;
    std::vector<Ids> texts_;  // of each row of the last logits: what it has in view
};

// True where `text` has filled a context of so many tokens: its oldest half is then gone.
bool drop_oldest_half(Ids& text, std::int64_t context);
void expect_prompt_fits(std::size_t tokens, std::int64_t context);  // an error for people

}  // namespace fovea
