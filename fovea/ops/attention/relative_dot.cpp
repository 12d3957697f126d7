#include "fovea/ops/attention/relative_dot.h"

namespace fovea {

kernels::RelativeDot kernel_of(const RelativeDot& score, const ScoreCall& call) {
    call.expect_row("u", score.u);
    call.expect_row("v of the score", score.v);
    call.expect_rows("r", score.r);
    const ScoreCall::Distances seen = call.distances(score.positions);
    const std::int64_t last = score.first + score.r.rows() - 1;
    expect(seen.lowest > seen.highest || (seen.lowest >= score.first && seen.highest <= last),
           call.where, ": r has rows for distances ", score.first, " to ", last,
           " but rows see keys at distances ", seen.lowest, " to ", seen.highest);
    return {.u = {score.u.data(), 1, call.q.cols()},
            .v = {score.v.data(), 1, call.q.cols()},
            .r = score.r,
            .first = score.first,
            .positions = view_of(score.positions)};
}

ScoreBinding RelativeDot::bind(const ScoreCall& call) const {
    return std::make_shared<PlainBoundScore<kernels::RelativeDot>>(std::vector<Tensor>{u, v, r},
                                                                   kernel_of(*this, call));
}

}  // namespace fovea
