#include "fovea/infer/transformer_stepper.h"

#include <optional>
#include <utility>

#include "fovea/infer/attention_maps.h"
#include "fovea/ops/rows/gather.h"

namespace fovea {

TransformerStepper::TransformerStepper(const Transformer& model, const Ids& source,
                                       const Segments& segments, StepResult result)
    : model_(model),
      result_(result),
      source_(segments),
      memory_(model.encode(source, segments)),
      cache_(model.decoder.start(memory_, segments)) {
    if (result == StepResult::logits) memory_ = Tensor();  // nobody reads it again
}

Tensor TransformerStepper::start(std::span<const Ids> prompts) {
    expect(static_cast<std::int64_t>(prompts.size()) == source_.count(), "decode: ", prompts.size(),
           " prompts for ", source_.count(), " sources");
    Ids tokens;
    for (const Ids& prompt : prompts) tokens.insert(tokens.end(), prompt.begin(), prompt.end());
    return run(tokens, history_.start(prompts));
}

Tensor TransformerStepper::step(const Ids& tokens, std::span<const std::int64_t> parents) {
    expect(tokens.size() == parents.size(), "decode: ", tokens.size(), " tokens for ",
           parents.size(), " hypotheses");
    return run(tokens, history_.advance(parents));
}

Tensor TransformerStepper::run(const Ids& tokens, const Visibility& sees) {
    const PrecisionScope scope(precision_);
    const Segments& fresh = history_.fresh();
    const Ids last_rows = history_.last_rows();
    const std::int64_t width = model_.config.d_model;
    for (KvCache& cache : cache_.self) history_.prepare(cache, width, width);

    std::optional<Probe> probe;
    if (keeps_weights_) probe.emplace();
    Tensor hidden = model_.decoder.step(
        {tokens, fresh, history_.positions(), sees, history_.prompts()}, cache_);
    if (probe) {  // the last layer's attention to the source
        auto map = mean_map(*probe, probe->find(model_.decoder.layers.back().encoder_attn.name));
        weights_.clear();
        for (const std::int32_t r : last_rows)
            weights_.push_back(std::move(map[static_cast<std::size_t>(r)]));
    }
    if (fresh.total() > fresh.count()) hidden = gather_rows(hidden, last_rows);
    return result_ == StepResult::rows ? hidden : model_.logits(hidden);
}

std::span<const float> TransformerStepper::weights(std::int64_t row) const {
    // Without the means that an expanded window puts behind the places.
    const std::vector<float>& all = weights_[static_cast<std::size_t>(row)];
    return std::span(all).first(static_cast<std::size_t>(source_.length(history_.prompt_of(row))));
}

}  // namespace fovea
