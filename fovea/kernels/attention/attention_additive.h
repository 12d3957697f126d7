#pragma once
#include "fovea/kernels/attention/attention.h"

namespace fovea::kernels {

// s = Σₑ w[e] tanh(q[e] + k[e])                                  Bahdanau et al. 2015
struct Additive {
    ConstView w;  // [1, heads·dk]

    static AttentionPieces pieces(Precision precision);
    std::int64_t parameters(std::int64_t dk) const { return dk; }
};

}  // namespace fovea::kernels
