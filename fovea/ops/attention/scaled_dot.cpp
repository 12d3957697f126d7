#include "fovea/kernels/attention/attention_scaled.h"
#include "fovea/ops/attention/bound_score.h"

namespace fovea {

ScoreBinding ScaledDot::bind(const ScoreCall&) const {
    return std::make_shared<PlainBoundScore<kernels::ScaledDot>>(std::vector<Tensor>{},
                                                                 kernels::ScaledDot{});
}

}  // namespace fovea
