#include "fovea/kernels/attention/attention_additive.h"
#include "fovea/ops/attention/bound_score.h"

namespace fovea {

ScoreBinding Additive::bind(const ScoreCall& call) const {
    call.expect_row("w of the score", w);
    return std::make_shared<PlainBoundScore<kernels::Additive>>(
        std::vector<Tensor>{w}, kernels::Additive{.w = {w.data(), 1, call.q.cols()}});
}

}  // namespace fovea
