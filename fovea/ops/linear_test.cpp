#include "fovea/ops/linear.h"

#include "fovea/base/precision.h"
#include "fovea/kernels/gemm/pack_cache.h"
#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

using Inputs = std::vector<Tensor>;
using In = std::vector<Doubles>;

double act_of(Act act, double z) {
    switch (act) {
        case Act::none:
            return z;
        case Act::relu:
            return z > 0 ? z : 0;
        case Act::gelu:
            return 0.5 * z * (1 + std::erf(z / std::sqrt(2.0)));
        case Act::gelu_tanh:
            return 0.5 * z *
                   (1 +
                    std::tanh(std::sqrt(2 / 3.14159265358979323846) * (z + 0.044715 * z * z * z)));
        case Act::tanh:
            return std::tanh(z);
        case Act::swish:
            return z / (1 + std::exp(-z));
    }
    return 0;
}

Doubles naive(const In& v, std::int64_t n, std::int64_t in, std::int64_t out, Act act) {
    Doubles y;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t o = 0; o < out; ++o) {
            double z = v.size() > 2 ? v[2][static_cast<std::size_t>(o)] : 0;
            for (std::int64_t k = 0; k < in; ++k)
                z += v[0][static_cast<std::size_t>(i * in + k)] *
                     v[1][static_cast<std::size_t>(o * in + k)];
            y.push_back(act_of(act, z));
        }
    return y;
}

TEST(Linear, EveryActivationAtOddSizes) {
    Rng rng(1);
    const std::int64_t sizes[][3] = {{1, 1, 1}, {3, 17, 33}, {33, 3, 17}, {17, 33, 1}};
    for (const Act act : {Act::none, Act::relu, Act::gelu, Act::gelu_tanh, Act::tanh, Act::swish}) {
        for (const auto& [n, in, out] : sizes) {
            SCOPED_TRACE(text_of(name_of(act), " ", n, " ", in, " ", out));
            const double scale = 1 / std::sqrt(static_cast<double>(in));
            check_op({.inputs = {random_tensor({n, in}, rng), random_tensor({out, in}, rng, scale),
                                 random_tensor({out}, rng)},
                      .op = [&](const Inputs& x) { return linear(x[0], x[1], x[2], act); },
                      .reference = [&, n = n, in = in,
                                    out = out](const In& v) { return naive(v, n, in, out, act); },
                      .max_checked = 60});
        }
    }
}

TEST(Linear, WithoutBiasAndOfHigherRank) {
    Rng rng(2);
    check_op({.inputs = {random_tensor({2, 3, 5}, rng), random_tensor({7, 5}, rng)},
              .op =
                  [](const Inputs& x) {
                      const Tensor y = linear(x[0], x[1]);
                      EXPECT_EQ(y.shape(), Shape({2, 3, 7}));
                      return y;
                  },
              .reference = [](const In& v) { return naive(v, 6, 5, 7, Act::none); }});
}

TEST(Linear, RowsAreAlone) {
    Rng rng(3);
    const Tensor w = random_tensor({50, 33}, rng, 0.2), b = random_tensor({50}, rng);
    for (const Precision p : {Precision::f32, Precision::bf16}) {
        const PrecisionScope scope(p);
        check_rows_alone(random_tensor({37, 33}, rng),
                         [&](const Tensor& x) { return linear(x, w, b, Act::gelu); });
    }
}

TEST(Linear, AWeightIsPackedOnceAVersionAndDroppedWithItsTensor) {
    Rng rng(4);
    const std::size_t before = kernels::pack_cache().entries();
    {
        Tensor w = random_tensor({8, 4}, rng);
        const Tensor x = random_tensor({2, 4}, rng);
        const Tensor y = linear(x, w);
        EXPECT_TRUE(same_bits(linear(x, w), y));
        EXPECT_EQ(kernels::pack_cache().entries(), before + 1);
        w.write()[0] += 1;  // as an optimizer would
        EXPECT_FALSE(same_bits(linear(x, w), y));
        EXPECT_EQ(kernels::pack_cache().entries(), before + 1);
    }
    EXPECT_EQ(kernels::pack_cache().entries(), before);
}

// Training packs a weight for the call where the rows are many: no packed form stays behind, and
// the bits are those of few rows, forward and backward.
TEST(Linear, TrainingManyRowsKeepsNoPackedWeightAndHasTheSameBits) {
    Rng rng(14);
    Tensor w = random_tensor({21, 19}, rng), b = random_tensor({21}, rng);
    const Tensor many = random_tensor({300, 19}, rng), dy = random_tensor({300, 21}, rng);
    for (const Precision p : {Precision::f32, Precision::bf16}) {
        const PrecisionScope scope(p);
        const auto differentiate = [&](const Tensor& rows, const Tensor& drows) {
            Tape tape;
            const Tensor x = tape.watch(Tensor::of(rows.shape(), rows.span()));
            const Tensor y = linear(x, w, b, Act::gelu);
            const Gradients d = tape.gradients(y, drows);
            return std::pair(y, d[x]);
        };
        const std::size_t before = kernels::pack_cache().entries();
        const auto [y, dx] = differentiate(many, dy);
        EXPECT_EQ(kernels::pack_cache().entries(), before);
        const auto [y0, dx0] = differentiate(Tensor::of({5, 19}, many.span().first(5 * 19)),
                                             Tensor::of({5, 21}, dy.span().first(5 * 21)));
        EXPECT_EQ(std::memcmp(y.data(), y0.data(), 5 * 21 * sizeof(float)), 0);
        EXPECT_EQ(std::memcmp(dx.data(), dx0.data(), 5 * 19 * sizeof(float)), 0);
        EXPECT_GT(kernels::pack_cache().entries(), before);
    }
}

TEST(FeedForward, EveryActivationAtOddSizes) {
    Rng rng(15);
    constexpr std::int64_t n = 7, in = 5, wide = 18, out = 3;
    for (const Act act : {Act::relu, Act::gelu, Act::gelu_tanh, Act::swish}) {
        SCOPED_TRACE(name_of(act));
        check_op({.inputs = {random_tensor({n, in}, rng), random_tensor({wide, in}, rng, 0.4),
                             random_tensor({wide}, rng), random_tensor({out, wide}, rng, 0.2),
                             random_tensor({out}, rng)},
                  .op =
                      [&](const Inputs& x) {
                          return feed_forward(x[0], {x[1], x[2]}, {x[3], x[4]}, act);
                      },
                  .reference =
                      [&](const In& v) {
                          return naive({naive({v[0], v[1], v[2]}, n, in, wide, act), v[3], v[4]}, n,
                                       wide, out, Act::none);
                      },
                  .max_checked = 60});
    }
}

TEST(FeedForward, HasTheBitsOfTwoLayers) {
    Rng rng(16);
    for (const std::int64_t rows : {std::int64_t{9}, std::int64_t{300}})
        for (const Precision p : {Precision::f32, Precision::bf16})
            for (const Act act : {Act::relu, Act::gelu, Act::gelu_tanh, Act::swish}) {
                SCOPED_TRACE(text_of(rows, " rows, ", name_of(act)));
                const PrecisionScope scope(p);
                Tensor all[] = {random_tensor({rows, 19}, rng), random_tensor({70, 19}, rng, 0.3),
                                random_tensor({70}, rng), random_tensor({21, 70}, rng, 0.2),
                                random_tensor({21}, rng)};
                const auto& [x, w1, b1, w2, b2] = all;
                for (Tensor& t : all) t.set_trainable(true);
                const Tensor dy = random_tensor({rows, 21}, rng);
                Tape one;
                const Tensor fused = feed_forward(x, {w1, b1}, {w2, b2}, act);
                const Gradients by_one = one.gradients(fused, dy);
                Tape two;
                const Tensor apart = linear(linear(x, w1, b1, act), w2, b2);
                const Gradients by_two = two.gradients(apart, dy);
                EXPECT_TRUE(same_bits(fused, apart));
                for (const Tensor& t : all) EXPECT_TRUE(same_bits(by_one[t], by_two[t]));
            }
}

TEST(Linear, OneTensorUnderTwoShapes) {
    Rng rng(7);
    const Tensor w = random_tensor({6, 4}, rng), x = random_tensor({3, 4}, rng),
                 x3 = random_tensor({3, 3}, rng);
    const Tensor fresh = Tensor::of({8, 3}, w.span());
    linear(x, w);
    EXPECT_TRUE(same_bits(linear(x3, w.reshaped({8, 3})), linear(x3, fresh)));
}

TEST(Linear, StoredFormatsAreCloseAndForInferenceOnly) {
    Rng rng(5);
    const Tensor w = random_tensor({19, 70}, rng, 0.1), b = random_tensor({19}, rng);
    const Tensor x = random_tensor({5, 70}, rng), y = linear(x, w, b, Act::relu);
    for (const Format f : {Format::bf16, Format::int8}) {
        const Tensor stored = w.to(f);
        at_every_level([&] {
            const Tensor z = linear(x, stored, b, Act::relu);
            for (std::int64_t i = 0; i < y.size(); ++i)
                EXPECT_NEAR(z.data()[i], y.data()[i], f == Format::bf16 ? 0.02 : 0.04);
        });
        Tape tape;
        EXPECT_THROW(linear(tape.watch(x), stored, b), Error);
    }
}

TEST(Matmul, AllOrientations) {
    Rng rng(6);
    const std::int64_t m = 5, k = 17, n = 3;
    for (const Trans ta : {Trans::no, Trans::yes})
        for (const Trans tb : {Trans::no, Trans::yes}) {
            const bool at = ta == Trans::yes, bt = tb == Trans::yes;
            check_op(
                {.inputs = {random_tensor(at ? Shape{k, m} : Shape{m, k}, rng),
                            random_tensor(bt ? Shape{n, k} : Shape{k, n}, rng)},
                 .op = [&](const Inputs& x) { return matmul(x[0], x[1], ta, tb); },
                 .reference =
                     [&](const In& v) {
                         Doubles y;
                         for (std::int64_t i = 0; i < m; ++i)
                             for (std::int64_t j = 0; j < n; ++j) {
                                 double s = 0;
                                 for (std::int64_t q = 0; q < k; ++q)
                                     s +=
                                         v[0]
                                          [static_cast<std::size_t>(at ? q * m + i : i * k + q)] *
                                         v[1][static_cast<std::size_t>(bt ? j * k + q : q * n + j)];
                                 y.push_back(s);
                             }
                         return y;
                     }});
        }
}

}  // namespace
}  // namespace fovea
