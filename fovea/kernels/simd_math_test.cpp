#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/simd_math_test.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

enum class Which { exp, log, tanh, erf, sigmoid };

void apply(int which, const float* x, float* y, std::int64_t n) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t i = 0; i < n; i += lanes) {
        const std::int64_t some = HWY_MIN(lanes, n - i);
        const auto v = LoadSome(d, x + i, some);
        auto r = v;
        switch (which) {
            case 0:
                r = Exp(d, v);
                break;
            case 1:
                r = Log(d, v);
                break;
            case 2:
                r = Tanh(d, v);
                break;
            case 3:
                r = Erf(d, v);
                break;
            case 4:
                r = Sigmoid(d, v);
                break;
        }
        StoreSome(r, d, y + i, some);
    }
}

void reduce(const float* x, std::int64_t n, float* sum, float* largest) {
    F16 s = Zero16(), m = Set16(-1e30f);
    for (std::int64_t i = 0; i < n; i += 16) {
        s = Add16(s, LoadSome16(x + i, HWY_MIN(std::int64_t{16}, n - i)));
        m = Map16(MaxLanes(), m, LoadSome16(x + i, HWY_MIN(std::int64_t{16}, n - i), -1e30f));
    }
    *sum = Sum16(s);
    *largest = Max16(m);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "fovea/base/rng.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/gemm/gemm_oracle.h"

namespace fovea::kernels {
namespace {

HWY_EXPORT(apply);
HWY_EXPORT(reduce);

struct Function {
    const char* name;
    double (*reference)(double);
    double max_ulp;
};
const Function functions[] = {
    {"exp", [](double x) { return std::exp(x); }, 1.0},
    {"log", [](double x) { return std::log(x); }, 1.0},
    {"tanh", [](double x) { return std::tanh(x); }, 1.4},
    {"erf", [](double x) { return std::erf(x); }, 1.2},
    {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, 2.5},
};

std::vector<float> floats_of_all_sizes(std::uint32_t stride) {
    std::vector<float> v;
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += stride) {
        const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        if (x == 0 || std::isnormal(x)) v.push_back(x);
    }
    return v;
}

std::vector<float> apply_all(int which, const std::vector<float>& x) {
    std::vector<float> y(x.size());
    const auto f = FOVEA_DISPATCH(apply);
    parallel_for(static_cast<std::int64_t>(x.size()), 1 << 16, [&](std::int64_t b, std::int64_t e) {
        f(which, x.data() + b, y.data() + b, e - b);
    });
    return y;
}

TEST(SimdMath, StaysWithinItsUlps) {
    // Set FOVEA_TEST_STRIDE=1 to walk through every float.
    const char* stride = std::getenv("FOVEA_TEST_STRIDE");
    const auto x =
        floats_of_all_sizes(stride ? static_cast<std::uint32_t>(std::atoi(stride)) : 4099);
    for (int which = 0; which < 5; ++which) {
        const Function& f = functions[which];
        const auto y = apply_all(which, x);
        double worst = 0;
        float at = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (which == 1 && x[i] < 0) {
                EXPECT_TRUE(std::isnan(y[i])) << x[i];
                continue;
            }
            const double want = f.reference(x[i]);
            if (std::fabs(want) < std::numeric_limits<float>::min()) {
                EXPECT_LE(std::fabs(y[i]), std::numeric_limits<float>::min()) << f.name << x[i];
                continue;
            }
            const auto near = static_cast<float>(want);
            if (std::isinf(near)) {
                EXPECT_EQ(y[i], near) << f.name << " of " << x[i];
                continue;
            }
            const float size = std::fabs(near);
            const double ulp = double{std::nextafterf(size, INFINITY)} - size;
            const double error = std::fabs(y[i] - want) / ulp;
            if (!(error <= worst)) {
                worst = error;
                at = x[i];
            }
        }
        EXPECT_LE(worst, f.max_ulp) << f.name << " at " << at;
        std::printf("%s: %.3f ulp at %g\n", f.name, worst, static_cast<double>(at));
    }
}

TEST(SimdMath, HandlesTheEnds) {
    const float inf = INFINITY;
    const std::vector<float> x = {inf, -inf, NAN, 0.0f, -0.0f, std::bit_cast<float>(0x7fc12345u)};
    for (const Isa isa : oracle::levels()) {
        oracle::Restore restore;
        set_isa(isa);
        const auto e = apply_all(0, x), l = apply_all(1, x), t = apply_all(2, x),
                   r = apply_all(3, x), s = apply_all(4, x);
        EXPECT_EQ(e[0], inf);
        EXPECT_EQ(e[1], 0);
        EXPECT_EQ(e[3], 1);
        EXPECT_EQ(l[0], inf);
        EXPECT_TRUE(std::isnan(l[1]));
        EXPECT_EQ(l[3], -inf);
        EXPECT_EQ(l[4], -inf);
        EXPECT_EQ(t[0], 1);
        EXPECT_EQ(t[1], -1);
        EXPECT_EQ(t[3], 0);
        EXPECT_EQ(r[0], 1);
        EXPECT_EQ(r[1], -1);
        EXPECT_EQ(s[0], 1);
        EXPECT_EQ(s[1], 0);
        for (const auto* y : {&e, &l, &t, &r, &s}) {
            EXPECT_TRUE(std::isnan((*y)[2]));
            EXPECT_TRUE(std::isnan((*y)[5]));
        }
    }
}

TEST(SimdMath, GivesTheSameBitsOnEveryLevel) {
    const auto x = floats_of_all_sizes(65537);
    oracle::Restore restore;
    for (int which = 0; which < 5; ++which) {
        set_isa(Isa::scalar);
        const auto reference = apply_all(which, x);
        for (const Isa isa : oracle::levels()) {
            set_isa(isa);
            const auto y = apply_all(which, x);
            for (std::size_t i = 0; i < x.size(); ++i) {
                if (std::isnan(y[i]) && std::isnan(reference[i])) continue;
                ASSERT_EQ(std::bit_cast<std::uint32_t>(y[i]),
                          std::bit_cast<std::uint32_t>(reference[i]))
                    << functions[which].name << " of " << x[i] << " on " << name_of(isa);
            }
        }
    }
}

TEST(SimdMath, ReducesSixteenLanesInOneOrder) {
    Rng rng(1);
    std::vector<float> x(1000);
    for (float& v : x) v = static_cast<float>(rng.normal());
    oracle::Restore restore;
    for (const std::int64_t n : {1, 7, 16, 17, 100, 1000}) {
        set_isa(Isa::scalar);
        float s0 = 0, m0 = 0;
        FOVEA_DISPATCH(reduce)(x.data(), n, &s0, &m0);
        double exact = 0;
        float largest = -INFINITY;
        for (std::int64_t i = 0; i < n; ++i) {
            exact += x[static_cast<std::size_t>(i)];
            largest = std::max(largest, x[static_cast<std::size_t>(i)]);
        }
        EXPECT_NEAR(s0, exact, 1e-4);
        EXPECT_EQ(m0, largest);
        for (const Isa isa : oracle::levels()) {
            set_isa(isa);
            float s = 0, m = 0;
            FOVEA_DISPATCH(reduce)(x.data(), n, &s, &m);
            EXPECT_EQ(s, s0) << name_of(isa);
            EXPECT_EQ(m, m0) << name_of(isa);
        }
    }
}

}  // namespace
}  // namespace fovea::kernels

#endif
