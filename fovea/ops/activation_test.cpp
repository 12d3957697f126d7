#include "fovea/ops/activation.h"

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

using Curve = double (*)(double);
struct Case {
    const char* name;
    Tensor (*op)(const Tensor&);
    Curve reference;
};

const Case cases[] = {
    {"relu", relu, [](double x) { return x > 0 ? x : 0; }},
    {"gelu", gelu, [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
    {"gelu_tanh", gelu_tanh,
     [](double x) {
         return 0.5 * x *
                (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
     }},
    {"tanh", tanh, [](double x) { return std::tanh(x); }},
    {"swish", swish, [](double x) { return x / (1 + std::exp(-x)); }},
    {"sigmoid", sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
};

TEST(Activation, OddSizes) {
    Rng rng(1);
    for (const Case& c : cases)
        for (const std::int64_t n : {1, 3, 17, 33}) {
            SCOPED_TRACE(c.name);
            check_op({.inputs = {random_tensor({3, n}, rng, 2)},
                      .op = [&](const std::vector<Tensor>& x) { return c.op(x[0]); },
                      .reference =
                          [&](const std::vector<Doubles>& x) {
                              Doubles y;
                              for (const double v : x[0]) y.push_back(c.reference(v));
                              return y;
                          }});
        }
}

TEST(Activation, ExtremesAreFiniteAndSmallValuesKeepTheirDigits) {
    const std::vector<float> at{-3e38f, -1e4f, -90,   -20, -9, -3, -1e-3f, -1e-6f, -0.0f,
                                0,      1e-6f, 1e-3f, 3,   9,  20, 90,     1e4f,   3e38f};
    for (const Case& c : cases)
        at_every_level([&] {
            SCOPED_TRACE(c.name);
            const auto n = static_cast<std::int64_t>(at.size());
            const Tensor x = Tensor::of({n}, at);
            Tape tape;
            const Tensor y = c.op(tape.watch(x));
            const Tensor dx = tape.gradients(y, Tensor::full({n}, 1))[x];
            for (std::int64_t i = 0; i < n; ++i) {
                const double v = x.data()[i],
                             want = std::fabs(v) > 1e30 && v < 0 && c.reference(v) != c.reference(v)
                                        ? 0
                                        : c.reference(v);
                EXPECT_TRUE(std::isfinite(dx.data()[i])) << v;
                EXPECT_NEAR(y.data()[i], want, 1e-6 * std::fabs(want) + 2e-7) << v;
            }
        });
}

TEST(Activation, GeluAndItsSlopeAreWithin7e7Everywhere) {
    const std::int64_t n = 160001;
    Tensor x({n});
    for (std::int64_t i = 0; i < n; ++i) x.write()[i] = -8.0f + static_cast<float>(i) * 1e-4f;
    at_every_level([&] {
        Tape tape;
        const Tensor y = gelu(tape.watch(x));
        const Tensor dx = tape.gradients(y, Tensor::full({n}, 1))[x];
        double worst = 0, worst_slope = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            const double v = x.data()[i], phi = 0.5 * std::erfc(-v / std::sqrt(2.0));
            const double density = std::exp(-v * v / 2) / std::sqrt(2 * 3.14159265358979323846);
            worst = std::max(worst, std::fabs(y.data()[i] - v * phi));
            worst_slope = std::max(worst_slope, std::fabs(dx.data()[i] - (phi + v * density)));
        }
        EXPECT_LE(worst, 7e-7);
        EXPECT_LE(worst_slope, 7e-7);
    });
}

}  // namespace
}  // namespace fovea
