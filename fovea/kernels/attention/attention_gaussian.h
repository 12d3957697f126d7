#pragma once
#include "fovea/kernels/attention/attention.h"

namespace fovea::kernels {

// s = scale q·k; after the softmax each weight times exp(-(j - centre)² / 2σ²), j the key's logical
// index; not normalised again                                   Luong et al. 2015, local-p
struct Gaussian {
    ConstView centres;  // [nq, heads]; their gradient goes to AttentionGradients::drows
    float sigma = 1;

    static AttentionPieces pieces(Precision precision);
    std::int64_t parameters(std::int64_t) const { return 0; }
};

}  // namespace fovea::kernels
