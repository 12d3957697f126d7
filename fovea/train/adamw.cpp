#include "fovea/train/adamw.h"

#include "fovea/ops/optimizer.h"

namespace fovea {

bool decays(const std::string& name, const Tensor& t) {
    return t.shape().rank() > 1 && t.rows() > 1 && name.find("norm") == std::string::npos;
}

AdamW::AdamW(const ParameterStore& store, const AdamWOptions& options, const ParameterRules& rules)
    : options_(options) {
    for (const std::string& name : store.names()) {
        const Tensor& p = store.at(name);
        const ParameterRule rule = rules ? rules(name) : ParameterRule{};
        if (!p.trainable() || rule.frozen) continue;
        expect(rule.rate_factor >= 0, "optimizer: the rate factor of ", name, " is ",
               rule.rate_factor);
        slots_.push_back({name, p, Tensor::zeros(p.shape()), Tensor::zeros(p.shape()),
                          rule.rate_factor, rule.decays.value_or(decays(name, p))});
    }
    for (const Slot& s : slots_) parameters_.push_back(s.parameter);
}

double AdamW::gradient_norm(const Gradients& gradients) const {
    return global_norm(gradients, parameters_);
}

void AdamW::step(const Gradients& gradients, double rate, float factor) {
    ++updates_;
    AdamStep step{.beta1 = options_.beta1,
                  .beta2 = options_.beta2,
                  .eps = options_.eps,
                  .gradient_scale = factor,
                  .step = updates_};
    for (Slot& s : slots_) {
        if (!gradients.has(s.parameter)) continue;
        step.rate = static_cast<float>(rate * s.rate_factor);
        step.decay = s.decays ? options_.weight_decay : 0.0f;
        if (const RowGradient* rows = gradients.rows(s.parameter))
            adamw_update(s.parameter, *rows, s.m, s.v, step);
        else
            adamw_update(s.parameter, gradients[s.parameter], s.m, s.v, step);
    }
}

}  // namespace fovea
