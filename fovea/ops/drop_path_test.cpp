#include "fovea/ops/drop_path.h"

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

TEST(DropPath, IsNothingWithoutATapeThatHasDropout) {
    Rng rng(1);
    Tensor x = random_tensor({3, 5}, rng);
    x.set_row_names(Segments::of_lengths({3}));
    EXPECT_EQ(drop_path(x, 0.5f).id(), x.id());
    const Tape tape;
    EXPECT_EQ(drop_path(x, 0.5f).id(), x.id());
}

// Samples are dropped as wholes, by their names: the same in any batch. Backward drops the same.
TEST(DropPath, DropsWholeSamplesByName) {
    const std::int64_t n = 400;
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(n), 2);
    std::vector<std::uint64_t> forward, backward;
    for (std::int64_t s = 0; s < n; ++s) forward.push_back(static_cast<std::uint64_t>(s));
    backward.assign(forward.rbegin(), forward.rend());
    const auto factors = [&](const std::vector<std::uint64_t>& samples, std::uint64_t seed) {
        Rng rng(seed);
        Tape tape(rng);
        Tensor x = Tensor::full({2 * n, 3}, 1.0f);
        x.set_row_names(Segments::of_lengths(lengths, samples));
        x = tape.watch(x);
        const Tensor y = drop_path(x, 0.25f);
        const Tensor dx = tape.gradients(y, Tensor::full(y.shape(), 1.0f))[x];
        EXPECT_TRUE(same_bits(y, dx));
        return y.values();
    };
    int dropped = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const std::vector<float> y = factors(forward, seed), z = factors(backward, seed);
        for (std::size_t s = 0; s < static_cast<std::size_t>(n); ++s) {
            dropped += y[6 * s] == 0;
            for (std::size_t i = 0; i < 6; ++i) {
                EXPECT_TRUE(y[6 * s + i] == 0 || y[6 * s + i] == 1 / 0.75f);
                EXPECT_EQ(y[6 * s + i], y[6 * s]);
                EXPECT_EQ(y[6 * s + i], z[6 * (static_cast<std::size_t>(n) - 1 - s) + i]);
            }
        }
    }
    EXPECT_NEAR(dropped, 1000, 140);  // of 4000; the deviation is 27
}

}  // namespace
}  // namespace fovea
