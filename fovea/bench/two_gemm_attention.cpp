#include "fovea/bench/two_gemm_attention.h"

#include <cmath>

#include "fovea/kernels/elementwise.h"
#include "fovea/kernels/gemm/gemm.h"
#include "fovea/kernels/rows/softmax.h"

namespace fovea::bench {

TwoGemmAttention::TwoGemmAttention(const Tensor& q, const Tensor& k, const Tensor& v, int heads)
    : heads_(heads),
      d_(q.cols() / heads),
      scale_(1 / std::sqrt(static_cast<float>(d_))),
      q_({q.rows(), q.cols()}),
      k_(k),
      v_(v),
      out_({q.rows(), v.cols()}),
      dq_({q.rows(), q.cols()}),
      dk_({k.rows(), k.cols()}),
      dv_({v.rows(), v.cols()}),
      weights_({heads * q.rows(), k.rows()}),
      dweights_({q.rows(), k.rows()}) {
    kernels::scale(q.data(), scale_, q_.write(), q.size());
}

ConstView TwoGemmAttention::head(const Tensor& t, int h) const {
    return ConstView(t).block(0, t.rows(), h * d_, (h + 1) * d_);
}

View TwoGemmAttention::head(Tensor& t, int h) const {
    return t.view().block(0, t.rows(), h * d_, (h + 1) * d_);
}

void TwoGemmAttention::forward() {
    const std::int64_t n = q_.rows();
    for (int h = 0; h < heads_; ++h) {
        const View p = weights_.view().block(h * n, (h + 1) * n, 0, k_.rows());
        const Tensor &q = q_, &k = k_, &v = v_;
        kernels::gemm(Trans::no, Trans::yes, head(q, h), head(k, h), p);
        kernels::softmax(p, p);
        kernels::gemm(Trans::no, Trans::no, p, head(v, h), head(out_, h));
    }
}

void TwoGemmAttention::backward(const Tensor& dout) {
    const std::int64_t n = q_.rows();
    for (int h = 0; h < heads_; ++h) {
        const View p = weights_.view().block(h * n, (h + 1) * n, 0, k_.rows());
        const Tensor &q = q_, &k = k_, &v = v_;
        const View ds = dweights_.view();
        kernels::gemm(Trans::yes, Trans::no, p, head(dout, h), head(dv_, h));
        kernels::gemm(Trans::no, Trans::yes, head(dout, h), head(v, h), ds);
        kernels::softmax_backward(ds, p, ds);
        kernels::gemm(Trans::no, Trans::no, ds, head(k, h), head(dq_, h));
        kernels::gemm(Trans::yes, Trans::no, ds, head(q, h), head(dk_, h));
    }
    kernels::scale(dq_.data(), scale_, dq_.write(), dq_.size());
}

}  // namespace fovea::bench
