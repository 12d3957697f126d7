// Dropout on attention's weights: right on average, right in the gradient, and a function of
// sample, row and key alone.
#include "fovea/kernels/attention/attention.h"
#include "fovea/kernels/isa.h"
#include "fovea/ops/attention/attention_naive.h"

namespace fovea {
namespace {

// With v the identity an output row is the row of weights: 0, or w / (1 - p).
TEST(AttentionDropout, FollowsItsDefinitionAtEveryLevel) {
    const kernels::Isa best = kernels::best_isa();
    constexpr std::int64_t n = 100;
    const Segments s = Segments::of_lengths(std::vector<std::int64_t>{n}, {0x123456789abcull});
    Tensor q = Tensor::zeros({n, 8});
    q.set_row_names(s);
    Tensor v = Tensor::zeros({n, n});
    for (std::int64_t i = 0; i < n; ++i) v.write()[i * n + i] = 1.0f;
    for (int level = 0; level <= static_cast<int>(best); ++level) {
        kernels::set_isa(static_cast<kernels::Isa>(level));
        Rng stream(5, 9), same(5, 9);
        Tape tape(stream);
        const Tensor y = attention(q, q, v, 1, everything(s, s), {.dropout = 0.3f});
        const kernels::AttentionDropout mask{.p = 0.3f, .key = same.bits()};
        int kept = 0;
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < n; ++j) {
                const bool keep =
                    mask.keeps(0, 0x123456789abcull, static_cast<std::uint32_t>(i), j);
                kept += keep;
                ASSERT_NEAR(y.at(i, j), keep ? mask.scale() / n : 0.0f, 1e-6) << i << " " << j;
            }
        EXPECT_NEAR(kept / double(n * n), 0.7, 0.02);
        EXPECT_NEAR(mask.scale(), 1 / 0.7, 1e-4);
    }
    kernels::set_isa(best);
}

TEST(AttentionDropout, OffWithoutATapeThatDropsOut) {
    Rng rng(1);
    const Segments s = Segments::of_lengths({20, 7});
    Tensor x = random_tensor({27, 16}, rng);
    x.set_row_names(s);
    const Tensor plain = attention(x, x, x, 2, past(s));
    EXPECT_TRUE(same_bits(plain, attention(x, x, x, 2, past(s), {.dropout = 0.5f})));
    {
        Tape tape;
        EXPECT_TRUE(same_bits(plain, attention(x, x, x, 2, past(s), {.dropout = 0.5f})));
    }
    Rng stream(2);
    Tape tape(stream);
    const Tensor once = attention(x, x, x, 2, past(s), {.dropout = 0.5f});
    EXPECT_FALSE(same_bits(plain, once));
    EXPECT_FALSE(same_bits(once, attention(x, x, x, 2, past(s), {.dropout = 0.5f})));  // next site
}

// The mask goes with sample and row, whatever the batch around them.
TEST(AttentionDropout, DoesNotDependOnPacking) {
    Rng rng(2);
    const Tensor x = random_tensor({80, 16}, rng);
    const auto run = [&](const Segments& s, std::int64_t begin, std::int64_t end) {
        Tensor q = Tensor::of({end - begin, 16},
                              x.span().subspan(static_cast<std::size_t>(begin * 16),
                                               static_cast<std::size_t>((end - begin) * 16)));
        q.set_row_names(s);
        Rng stream(3);
        Tape tape(stream);
        q = tape.watch(q);
        const Tensor y = attention(q, q, q, 2, past(s), {.dropout = 0.2f});
        return std::pair{y, tape.gradients(y, Tensor::full(y.shape(), 1.0f))[q]};
    };
    const auto all = run(Segments::of_lengths(std::vector<std::int64_t>{30, 50}, {11, 4}), 0, 80);
    const auto second = run(Segments::of_lengths(std::vector<std::int64_t>{50}, {4}), 30, 80);
    for (std::int64_t i = 0; i < 50 * 16; ++i) {
        ASSERT_EQ(all.first.data()[30 * 16 + i], second.first.data()[i]);
        ASSERT_EQ(all.second.data()[30 * 16 + i], second.second.data()[i]);
    }
}

// Heads and samples draw different masks.
TEST(AttentionDropout, HeadsAndSamplesDiffer) {
    const kernels::AttentionDropout mask{.p = 0.5f, .key = 77};
    int same_head = 0, same_sample = 0, same_row = 0;
    for (int j = 0; j < 1000; ++j) {
        const bool keep = mask.keeps(0, 1, 2, j);
        same_head += keep == mask.keeps(1, 1, 2, j);
        same_sample += keep == mask.keeps(0, 2, 2, j);
        same_row += keep == mask.keeps(0, 1, 3, j);
    }
    for (const int same : {same_head, same_sample, same_row}) EXPECT_NEAR(same, 500, 80);
}

// Given the mask, the gradient is that of the masked formula.
TEST(AttentionDropout, Gradient) {
    Rng rng(4);
    const Segments s = Segments::of_lengths({5, 70});
    const Visibility sees = past(s);
    NaiveAttention naive{.heads = 2, .dk = 8, .dv = 8, .sees = {sees}, .scale = std::sqrt(0.125)};
    Rng key_stream(6);
    const kernels::AttentionDropout mask{.p = 0.4f, .key = key_stream.bits()};
    naive.factor = [&](const std::vector<Doubles>&, int h, std::int64_t i, std::int64_t j) {
        const std::int64_t g = i < 5 ? 0 : 1;
        const auto row = static_cast<std::uint32_t>(i - s.begin(g));
        return mask.keeps(h, static_cast<std::uint64_t>(g), row, j) ? mask.scale() : 0.0;
    };
    std::vector<Tensor> x;
    std::vector<Doubles> xd;
    for (int i = 0; i < 3; ++i) {
        x.push_back(random_tensor({75, 16}, rng));
        xd.push_back(doubles_of(x.back()));
    }
    x[0].set_row_names(s);
    const Tensor dy = random_tensor({75, 16}, rng);
    Rng stream(6);
    Tape tape(stream);
    for (Tensor& t : x) t = tape.watch(t);
    const Tensor y = attention(x[0], x[1], x[2], 2, sees, {.dropout = 0.4f});
    const Doubles want = naive(xd);
    for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(y.data()[i], want[i], 2e-5);
    const Gradients g = tape.gradients(y, dy);
    const auto loss = [&] {
        const Doubles at = naive(xd);
        double sum = 0;
        for (std::size_t i = 0; i < at.size(); ++i) sum += at[i] * dy.data()[i];
        return sum;
    };
    for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t i = k; i < xd[k].size(); i += 97) {
            const double keep = xd[k][i];
            xd[k][i] = keep + 1e-5;
            const double up = loss();
            xd[k][i] = keep - 1e-5;
            const double down = loss();
            xd[k][i] = keep;
            EXPECT_NEAR(g[x[k]].data()[i], (up - down) / 2e-5, 2e-4) << k << " " << i;
        }
}

}  // namespace
}  // namespace fovea
