#pragma once
// Attention the plain way, as most programs compute it: the scores of a head in memory, softmax
// over them, a second product. What the tiled kernel is held against.
#include "fovea/tensor/tensor.h"

namespace fovea::bench {

class TwoGemmAttention {
public:
    // q, k, v [n, heads · d]. The scale 1/√d is folded into q once, outside the clock.
    TwoGemmAttention(const Tensor& q, const Tensor& k, const Tensor& v, int heads);

    void forward();                     // fills out() and keeps the weights of every head
    void backward(const Tensor& dout);  // after forward: fills dq(), dk(), dv()

    const Tensor& out() const { return out_; }
    const Tensor& dq() const { return dq_; }
    const Tensor& dk() const { return dk_; }
    const Tensor& dv() const { return dv_; }

private:
    ConstView head(const Tensor& t, int h) const;
    View head(Tensor& t, int h) const;

    int heads_;
    std::int64_t d_;
    float scale_;
    Tensor q_, k_, v_, out_, dq_, dk_, dv_;
    Tensor weights_;   // [heads · n, n]
    Tensor dweights_;  // [n, n], of one head at a time
};

}  // namespace fovea::bench
