#pragma once
// The encoder-decoder as a Stepper: encodes the sources once, keeps keys and values of everything
// produced, and shares them between hypotheses of a common past without copying.
//
// Several models of one vocabulary form an ensemble: the mean of their probabilities.
// Not thread-safe: a stepper belongs to one search; its models may be shared.
#include <memory>
#include <vector>

#include "fovea/infer/stepper.h"
#include "fovea/models/transformer.h"

namespace fovea {

class TransformerStepper : public Stepper {
public:
    TransformerStepper(std::vector<const Transformer*> models, const Ids& source,
                       const Segments& segments);

    Tensor step(const Ids& tokens, std::span<const std::int64_t> parents) override;
    std::span<const float> source_weights(std::int64_t row) override;
    void want_source_weights(bool on) override { wants_weights_ = on; }
    std::int64_t sentences() const override { return source_.count(); }
    std::int64_t source_length(std::int64_t s) const override { return source_.length(s); }
    std::int32_t start_token() const override { return models_[0]->config.decoder_start_token_id; }
    std::int32_t end_token() const override { return models_[0]->config.eos_token_id; }

private:
    Tensor hidden_of(std::size_t model, const Ids& tokens, const Visibility& sees,
                     const Visibility& sees_source);

    std::vector<const Transformer*> models_;
    Segments source_;
    std::vector<DecoderCache> caches_;       // one per model
    std::vector<KeyList> histories_;         // cache rows of each row of the last step
    std::vector<std::int64_t> sentence_of_;  // of each row of the last step
    std::vector<std::vector<float>> weights_;
    std::int64_t position_ = 0;
    bool wants_weights_ = false;
};

}  // namespace fovea
