#include "fovea/train/adamw.h"

#include <cmath>

namespace fovea {

bool decays(const std::string& name, const Tensor& t) {
    return t.shape().rank() > 1 && t.rows() > 1 && name.find("norm") == std::string::npos;
}

AdamW::AdamW(const ParameterStore& store, const AdamWOptions& options) : options_(options) {
    for (const std::string& name : store.names()) {
        const Tensor& p = store.at(name);
        if (p.trainable())
            slots_.push_back(
                {name, p, Tensor::zeros(p.shape()), Tensor::zeros(p.shape()), decays(name, p)});
    }
    expect(!slots_.empty(), "optimizer: the model has no trainable parameter");
}

double AdamW::gradient_norm(const Gradients& gradients) const {
    double total = 0;
    for (const Slot& s : slots_) {
        if (!gradients.has(s.parameter)) continue;
        const Tensor g = gradients[s.parameter];
        const float* p = g.data();
        for (std::int64_t i = 0; i < g.size(); i += 4096) {
            double sum = 0;
            for (std::int64_t j = i; j < std::min(i + 4096, g.size()); ++j)
                sum += static_cast<double>(p[j]) * p[j];
            total += sum;
        }
    }
    return std::sqrt(total);
}

void AdamW::step(const Gradients& gradients, double rate, float factor) {
    ++updates_;
    const double b1 = options_.beta1, b2 = options_.beta2;
    const auto c1 = static_cast<float>(1 - std::pow(b1, static_cast<double>(updates_)));
    const auto c2 = static_cast<float>(1 - std::pow(b2, static_cast<double>(updates_)));
    const auto lr = static_cast<float>(rate);
    for (Slot& s : slots_) {
        if (!gradients.has(s.parameter)) continue;
        const Tensor grad = gradients[s.parameter];
        const float* g = grad.data();
        float *p = s.parameter.write(), *m = s.m.write(), *v = s.v.write();
        const float decay = s.decays ? lr * options_.weight_decay : 0.0f;
        const float step_size = lr / c1, root = 1 / std::sqrt(c2);
        for (std::int64_t i = 0; i < grad.size(); ++i) {
            const float gi = g[i] * factor;
            m[i] = options_.beta1 * m[i] + (1 - options_.beta1) * gi;
            v[i] = options_.beta2 * v[i] + (1 - options_.beta2) * gi * gi;
            p[i] -= decay * p[i];
            p[i] -= step_size * m[i] / (std::sqrt(v[i]) * root + options_.eps);
        }
    }
}

}  // namespace fovea
