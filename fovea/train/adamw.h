#pragma once
// AdamW (Loshchilov & Hutter 2019) over all trainable parameters of a store: decoupled weight decay
// (not on norms and biases), bias correction, moments in f32. Parameters whose gradient is absent
// are left alone. Belongs to one thread.
//
// Tables that are looked up by rows (Params::rows) are trained by row-sparse Adam, which others
// call lazy: with R the rows that a batch looked up and t the number of updates so far,
//   r in R:      m_r ← β₁ m_r + (1 − β₁) g_r    v_r ← β₂ v_r + (1 − β₂) g_r²
//                w_r ← w_r − rate · decay · w_r − rate · m̂_r / (√v̂_r + eps), m̂, v̂ as ever by t
//   r not in R:  m_r, v_r and w_r stay.
// Dense Adam goes on moving a row by its fading m after its last lookup, and decays it in every
// update; both would cost the whole table. The two are the same, bit for bit, for a row that every
// batch looks up and for the first lookup of any row without decay. The norm of gradients is that
// of the dense ones to the last bit, so clipping is the same.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fovea/autograd/gradients.h"
#include "fovea/tensor/parameter_store.h"

namespace fovea {

struct AdamWOptions {
    float beta1 = 0.9f;
    float beta2 = 0.98f;
    float eps = 1e-9f;
    float weight_decay = 0.0f;
};

// How one parameter is trained: rates that fall from layer to layer, frozen layers.
struct ParameterRule {
    double rate_factor = 1;           // times the schedule's rate
    std::optional<bool> decays = {};  // unset: as decays() below says
    bool frozen = false;              // keeps its value, and has no moments
};
using ParameterRules = std::function<ParameterRule(const std::string& name)>;

class AdamW {
public:
    AdamW(const ParameterStore& store, const AdamWOptions& options,
          const ParameterRules& rules = {});

    // One update with this learning rate; gradients are multiplied by `factor` (clipping) on the
    // way. Writes the parameters.
    void step(const Gradients& gradients, double rate, float factor = 1.0f);

    // ‖g‖ over all parameters that are trained, in double, in a fixed order; not finite if any
    // gradient is not.
    double gradient_norm(const Gradients& gradients) const;

    std::int64_t updates() const { return updates_; }
    void set_updates(std::int64_t n) { updates_ = n; }

    struct Slot {
        std::string name;
        Tensor parameter, m, v;
        double rate_factor;
        bool decays;
    };
    const std::vector<Slot>& slots() const { return slots_; }
    std::vector<Slot>& slots() { return slots_; }

private:
    AdamWOptions options_;
    std::vector<Slot> slots_;
    std::vector<Tensor> parameters_;  // of the slots, in order
    std::int64_t updates_ = 0;
};

// Is this a weight that decays? Norms' scales, biases and single numbers do not.
bool decays(const std::string& name, const Tensor& t);

}  // namespace fovea
