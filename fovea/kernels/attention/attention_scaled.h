#pragma once
#include "fovea/kernels/attention/attention.h"

namespace fovea::kernels {

// s = scale q·k                                                 Vaswani et al. 2017
struct ScaledDot {
    static AttentionPieces pieces(Precision precision);
    std::int64_t parameters(std::int64_t) const { return 0; }
};

}  // namespace fovea::kernels
