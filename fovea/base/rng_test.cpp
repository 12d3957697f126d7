#include "fovea/base/rng.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fovea {
namespace {

// Known-answer vectors published with Random123 (kat_vectors, philox4x32 10 rounds).
TEST(Philox, KnownAnswers) {
    EXPECT_EQ(philox({0, 0, 0, 0}, 0),
              (PhiloxBlock{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
    EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, ~std::uint64_t{0}),
              (PhiloxBlock{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}));
}

TEST(Rng, SeekRestoresTheStream) {
    Rng a(7, 3);
    for (int i = 0; i < 11; ++i) a.bits();
    Rng b(7, 3);
    b.seek(a.position());
    for (int i = 0; i < 20; ++i) EXPECT_EQ(a.bits(), b.bits());
}

TEST(Rng, MomentsAndShuffle) {
    Rng r(1);
    double sum = 0, square = 0;
    for (int i = 0; i < 100000; ++i) {
        const double x = r.normal();
        sum += x;
        square += x * x;
    }
    EXPECT_NEAR(sum / 1e5, 0, 0.02);
    EXPECT_NEAR(square / 1e5, 1, 0.02);
    std::vector<int> v(100);
    for (int i = 0; i < 100; ++i) v[static_cast<std::size_t>(i)] = i;
    auto w = v;
    r.shuffle(w);
    EXPECT_NE(v, w);
    std::sort(w.begin(), w.end());
    EXPECT_EQ(v, w);
}

}  // namespace
}  // namespace fovea
