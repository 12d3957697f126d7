#pragma once
// Several models of one vocabulary as one: the mean of their probabilities.
// Not thread-safe: a stepper belongs to one search.
#include <memory>
#include <vector>

#include "fovea/infer/stepper.h"

namespace fovea {

class EnsembleStepper : public Stepper {
public:
    // At least one member. All get the same prompts and tokens; the default prompt and the source
    // attention are those of the first.
    explicit EnsembleStepper(std::vector<std::unique_ptr<Stepper>> members);

    Tensor start(std::span<const Ids> prompts) override;
    Tensor step(const Ids& tokens, std::span<const std::int64_t> parents) override;
    std::span<const std::int32_t> end_tokens() const override { return members_[0]->end_tokens(); }
    Ids default_prompt() const override { return members_[0]->default_prompt(); }
    SourceAttention* source() override { return members_[0]->source(); }

private:
    std::vector<std::unique_ptr<Stepper>> members_;
};

}  // namespace fovea
