#include "fovea/infer/any_order_stepper.h"

#include <numeric>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/tensor/token_batch.h"

namespace fovea {

AnyOrderStepper::AnyOrderStepper(const TextEncoder& model, LanguageModelStepper::Options options)
    : model_(model), options_(std::move(options)) {
    expect(model.targets && model.words,
           "decode: the model does not tell tokens in any order, or has no head over words");
}

Tensor AnyOrderStepper::start(std::span<const Ids> prompts) {
    texts_.assign(prompts.begin(), prompts.end());
    return run();
}

Tensor AnyOrderStepper::step(const Ids& tokens, std::span<const std::int64_t> parents) {
    expect(tokens.size() == parents.size(), "decode: ", tokens.size(), " tokens for ",
           parents.size(), " hypotheses");
    std::vector<Ids> texts;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        texts.push_back(texts_[static_cast<std::size_t>(parents[i])]);
        texts.back().push_back(tokens[i]);
    }
    texts_ = std::move(texts);
    return run();
}

Tensor AnyOrderStepper::run() const {
    const PrecisionScope scope(precision_);
    std::vector<Ids> inputs = texts_;
    Ids order;
    for (Ids& input : inputs) {
        input.push_back(0);  // whatever: nobody sees the token that is asked for
        order.resize(order.size() + input.size());
        std::iota(order.end() - static_cast<std::ptrdiff_t>(input.size()), order.end(), 0);
    }
    const std::vector<std::int64_t> predicted(inputs.size(), 1);
    return model_.words(model_.targets(pack(inputs), order, predicted));
}

std::unique_ptr<Stepper> make_language_stepper(const TextEncoder& model,
                                               LanguageModelStepper::Options options) {
    if (!model.step && model.targets)
        return std::make_unique<AnyOrderStepper>(model, std::move(options));
    return std::make_unique<LanguageModelStepper>(model, std::move(options));
}

}  // namespace fovea
