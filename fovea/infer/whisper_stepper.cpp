#include "fovea/infer/whisper_stepper.h"

#include <limits>

#include "fovea/base/error.h"
#include "fovea/ops/rows/gather.h"

namespace fovea {

WhisperStepper::WhisperStepper(const WhisperDecoder& model, const SoundRows& sound, Ids not_first)
    : model_(model),
      end_token_(model.config.eos_token_id),
      not_first_(std::move(not_first)),
      cache_(model.start(sound)) {}

Tensor WhisperStepper::start(std::span<const Ids> prompts) {
    expect(static_cast<std::int64_t>(prompts.size()) == cache_.sounds.count(),
           "decode: ", prompts.size(), " prompts for ", cache_.sounds.count(), " sounds");
    Ids tokens;
    for (const Ids& prompt : prompts) tokens.insert(tokens.end(), prompt.begin(), prompt.end());
    Tensor logits = run(tokens, history_.start(prompts));
    for (std::int64_t row = 0; row < logits.rows(); ++row)
        for (const std::int32_t token : not_first_)
            logits.write()[row * logits.cols() + token] = -std::numeric_limits<float>::infinity();
    return logits;
}

Tensor WhisperStepper::step(const Ids& tokens, std::span<const std::int64_t> parents) {
    return run(tokens, history_.advance(parents));
}

Tensor WhisperStepper::run(const Ids& tokens, const Visibility& sees) {
    const PrecisionScope scope(precision_);
    const std::int64_t width = model_.config.d_model;
    for (KvCache& cache : cache_.self) history_.prepare(cache, width, width);
    const Tensor hidden = model_.step(
        {tokens, history_.fresh(), history_.positions(), sees, history_.prompts()}, cache_);
    return model_.logits(gather_rows(hidden, history_.last_rows()));
}

}  // namespace fovea
