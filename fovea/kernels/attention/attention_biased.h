#pragma once
#include "fovea/kernels/attention/attention.h"

namespace fovea::kernels {

// s = scale q·k + bias[head][distance - first]                  Raffel et al. 2020; Press et al.
// 2022
struct BiasedDot {
    ConstView bias;  // [heads, distances]
    std::int64_t first = 0;
    Positions positions{};

    static AttentionPieces pieces(Precision precision);
    std::int64_t parameters(std::int64_t) const { return bias.cols; }
};

}  // namespace fovea::kernels
