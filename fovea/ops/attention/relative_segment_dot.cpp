#include "fovea/kernels/attention/attention_relative_segment.h"
#include "fovea/ops/attention/relative_dot.h"

namespace fovea {

ScoreBinding RelativeSegmentDot::bind(const ScoreCall& call) const {
    const kernels::RelativeDot part = kernel_of(relative, call);
    call.expect_row("s of the score", s);
    call.expect_rows("e", e);
    expect(e.rows() == 2, call.where, ": e is ", e.shape(),
           " but must have two rows: query and key of one segment, and of two");
    call.expect_per_row("segments", q, k);
    return std::make_shared<PlainBoundScore<kernels::RelativeSegmentDot>>(
        std::vector<Tensor>{relative.u, relative.v, relative.r, s, e},
        kernels::RelativeSegmentDot{.relative = part,
                                    .s = {s.data(), 1, call.q.cols()},
                                    .e = e,
                                    .q = q.data(),
                                    .k = k.data()});
}

}  // namespace fovea
