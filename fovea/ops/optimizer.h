#pragma once
// The only place where parameters are written. Their version changes with it, so packed forms of a
// weight (packed_weight.h) are made anew when next asked for.
#include <span>

#include "fovea/autograd/gradients.h"
#include "fovea/base/update_step.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// One step of one parameter; m and v (b) are its state, zeros at first, of the same shape.
void adamw_update(Tensor& w, const Tensor& g, Tensor& m, Tensor& v, const AdamStep& step);
void sgd_update(Tensor& w, const Tensor& g, Tensor& b, const SgdStep& step);

// The same for the rows of w that have a gradient; all others keep weight and state. As if those
// rows were a parameter of their own: see train/adamw.h for what that means over many steps.
void adamw_update(Tensor& w, const RowGradient& g, Tensor& m, Tensor& v, const AdamStep& step);
void sgd_update(Tensor& w, const RowGradient& g, Tensor& b, const SgdStep& step);

// √ Σ g² over the gradients of these parameters (those that have one), in their order, in double.
// Not finite exactly when some gradient value is not.
double global_norm(const Gradients& gradients, std::span<const Tensor> parameters);

// What gradients must be multiplied by so that their norm is at most `largest` (Pascanu et al.
// 2013): hand it to the step as gradient_scale, which costs no pass of its own.
float clip_scale(double norm, double largest);

// The same as a pass over the gradients; hands back the norm before. A norm that is not finite
// leaves them as they are.
double clip_global_norm(Gradients& gradients, std::span<const Tensor> parameters, double largest);

}  // namespace fovea
