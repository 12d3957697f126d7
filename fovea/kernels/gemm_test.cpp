#include "fovea/kernels/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fovea/base/rng.h"
#include "fovea/kernels/pack_cache.h"
#include "fovea/kernels/sum_rows.h"

namespace fovea::kernels {
namespace {

std::vector<float> random_values(std::int64_t n, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<float> v(static_cast<std::size_t>(n));
    for (float& x : v) x = static_cast<float>(rng.normal());
    return v;
}

TEST(Gemm, AgreesWithDouble) {
    const std::int64_t m = 17, k = 33, n = 65;
    const auto a = random_values(m * k, 1), b = random_values(n * k, 2), bias = random_values(n, 3);
    std::vector<float> c(static_cast<std::size_t>(m * n), NAN);
    gemm(Trans::no, Trans::yes, {a.data(), m, k}, {b.data(), n, k}, {c.data(), m, n},
         {.bias = {bias.data(), 1, n}});
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            double sum = bias[static_cast<std::size_t>(j)];
            for (std::int64_t l = 0; l < k; ++l)
                sum += double{a[static_cast<std::size_t>(i * k + l)]} *
                       b[static_cast<std::size_t>(j * k + l)];
            EXPECT_NEAR(c[static_cast<std::size_t>(i * n + j)], sum, 1e-5 * k);
        }
}

TEST(PackCache, KeepsRepacksAndForgets) {
    const auto w = random_values(48 * 20, 4), w2 = random_values(48 * 20, 5);
    PackCache cache;
    const PackKey key{.id = 7, .version = 1, .trans = Trans::yes, .format = Format::f32};
    const PackedMatrix* first = cache.get(key, {w.data(), 48, 20}).get();
    EXPECT_EQ(cache.get(key, {w.data(), 48, 20}).get(), first);
    cache.repack(7, 2, {w2.data(), 48, 20});
    const auto again = cache.get({.id = 7, .version = 2, .trans = Trans::yes}, {});
    EXPECT_EQ(again.get(), first) << "rewritten in place";
    EXPECT_EQ(unpacked_value(*again, 3, 5), w2[5 * 20 + 3]);
    cache.repack(7, 3, {w.data(), 48, 20});
    EXPECT_EQ(unpacked_value(*again, 3, 5), w2[5 * 20 + 3]) << "a held matrix is left alone";
    cache.set_limit(1);
    cache.get({.id = 8}, {w.data(), 48, 20});
    EXPECT_EQ(cache.entries(), 1u);
    cache.drop(8);
    EXPECT_EQ(cache.entries(), 0u);
    EXPECT_EQ(cache.bytes(), 0u);
}

}  // namespace
}  // namespace fovea::kernels
