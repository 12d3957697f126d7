#pragma once
#include "fovea/kernels/attention/attention_relative.h"

namespace fovea::kernels {

// RelativeDot and a third product, by whether query and key are of one segment:
// score = scale ((q + u)·k + (q + v)·r[distance - first] + (q + s)·e[segments differ])
//                                                               Yang et al. 2019, §2.5
struct RelativeSegmentDot {
    RelativeDot relative;
    ConstView s;                      // [1, heads·dk]
    ConstView e;                      // [2, heads·dk]: of one segment, of two
    const std::int32_t* q = nullptr;  // [nq], the segment of each packed row
    const std::int32_t* k = nullptr;  // [nk]

    static AttentionPieces pieces(Precision precision);
    // RelativeDot's, s, then the rows of e
    std::int64_t parameters(std::int64_t dk) const { return relative.parameters(dk) + 3 * dk; }
};

}  // namespace fovea::kernels
