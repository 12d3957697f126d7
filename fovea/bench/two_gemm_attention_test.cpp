#include "fovea/bench/two_gemm_attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/autograd/tape.h"
#include "fovea/bench/kernels.h"
#include "fovea/ops/attention/attention.h"

namespace fovea::bench {
namespace {

void expect_near(const Tensor& a, const Tensor& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::int64_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a.data()[i], b.data()[i], 2e-5) << i;
}

// The rival we hold ourselves against computes the same thing.
TEST(TwoGemmAttention, AgreesWithTheKernel) {
    constexpr std::int64_t n = 33;
    constexpr int heads = 3;
    Tensor q = random_tensor(n, 24, 1), k = random_tensor(n, 24, 2), v = random_tensor(n, 24, 3);
    for (Tensor* t : {&q, &k, &v}) t->set_trainable(true);
    const Tensor dout = random_tensor(n, 24, 4);
    const Segments one = Segments::of_lengths({n});
    Tape tape;
    const Tensor out = attention(q, k, v, heads, everything(one, one));
    const Gradients d = tape.gradients(out, dout);

    TwoGemmAttention plain(q, k, v, heads);
    plain.forward();
    plain.backward(dout);
    expect_near(plain.out(), out);
    expect_near(plain.dq(), d[q]);
    expect_near(plain.dk(), d[k]);
    expect_near(plain.dv(), d[v]);
}

}  // namespace
}  // namespace fovea::bench
