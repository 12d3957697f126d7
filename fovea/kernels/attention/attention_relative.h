#pragma once
#include "fovea/kernels/attention/attention.h"

namespace fovea::kernels {

// s = scale ((q + u)·k + (q + v)·r[distance - first])           Dai et al. 2019; Yang et al. 2019
struct RelativeDot {
    ConstView u, v;  // [1, heads·dk]
    ConstView r;     // [distances, heads·dk]
    std::int64_t first = 0;
    Positions positions{};

    static AttentionPieces pieces(Precision precision);
    // u, v, then the rows of r
    std::int64_t parameters(std::int64_t dk) const { return (2 + r.rows) * dk; }
};

}  // namespace fovea::kernels
