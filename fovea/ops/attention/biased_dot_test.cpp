#include "fovea/ops/attention/score_example.h"

namespace fovea {
namespace {

// scale q·k + factor · table[entry]; the table is the fourth input.
auto biased_formula(const NaiveAttention& naive, const BiasedDot& score) {
    return [naive, score](const std::vector<Doubles>& in, int h, std::int64_t i, std::int64_t j,
                          std::int64_t distance) {
        if (!score.positions.q.empty())
            distance = score.positions.q[static_cast<std::size_t>(i)] -
                       score.positions.k[static_cast<std::size_t>(j)];
        const BiasedDot::Entry e = score.entry(distance);
        return naive.scale * naive.dot(in[0], i, in[1], j, h) +
               e.factor * in[3][static_cast<std::size_t>(e.row * naive.heads + h)];
    };
}

const ExampleOf<BiasedDot> example({
    .name = "BiasedDot",
    .parameters =
        [](const ScoreSizes& s, const RowNumbers&) {
            Rng rng(2);
            return std::vector<Tensor>{random_tensor({16, s.heads}, rng)};
        },
    .make = [](const std::vector<Tensor>& p, const ScoreSizes&, const RowNumbers&) -> Score {
        return BiasedDot::t5(p[0], true, 100);
    },
    .formula =
        [](NaiveAttention& naive, const ScoreSizes& s, const RowNumbers&) {
            naive.score =
                biased_formula(naive, BiasedDot::t5(Tensor::zeros({16, s.heads}), true, 100));
        },
});

void check_biased(const Visibility& sees, const BiasedDot& score, Rng& rng) {
    const ScoreSizes s{3, 8, 8};
    std::vector<Tensor> x = random_qkv(sees, s, rng);
    x.push_back(random_tensor(score.table.shape(), rng));
    NaiveAttention naive = example.naive(sees, s, {});
    naive.score = biased_formula(naive, score);
    check_attention(x, naive, [&](const std::vector<Tensor>& t) {
        BiasedDot own = score;
        own.table = t[3];
        return AttentionOptions{.score = own};
    });
}

TEST(BiasedDot, TablesOfAllKinds) {
    Rng rng(9);
    const Segments seg = Segments::of_lengths({1, 3, 0, 70, 17});
    const Tensor buckets = Tensor::zeros({32, 3});
    RowPositions mixed;
    for (std::int64_t i = 0; i < seg.total(); ++i)
        mixed.q.push_back(static_cast<std::int32_t>(rng.below(200)));
    mixed.k = mixed.q;
    check_biased(everything(seg, seg), BiasedDot::t5(buckets, true, 40), rng);
    check_biased(past(seg), BiasedDot::t5(buckets, false, 40), rng);
    check_biased(past(seg), BiasedDot::alibi(3), rng);
    check_biased(unite(window(seg, 2, 2), columns(seg, {0})), BiasedDot::alibi(3), rng);
    BiasedDot permuted = BiasedDot::t5(buckets, true);
    permuted.positions = mixed;
    check_biased(prefix(seg, 4), permuted, rng);
}

// The bucket function of T5's reference implementation, at its edges.
TEST(BiasedDot, T5Buckets) {
    const BiasedDot both = BiasedDot::t5(Tensor::zeros({32, 1}), true, 128);
    const std::vector<std::pair<int, int>> expected = {{0, 0},    {1, 1},   {7, 7},    {8, 8},
                                                       {11, 8},   {12, 9},  {127, 15}, {128, 15},
                                                       {500, 15}, {-1, 17}, {-8, 24},  {-200, 31}};
    for (const auto& [distance, bucket] : expected)
        EXPECT_EQ(both.entry(distance).row, bucket) << distance;
    const BiasedDot past_only = BiasedDot::t5(Tensor::zeros({32, 1}), false, 128);
    EXPECT_EQ(past_only.entry(-5).row, 0);
    EXPECT_EQ(past_only.entry(15).row, 15);
    EXPECT_EQ(past_only.entry(16).row, 16);
    EXPECT_EQ(past_only.entry(1000).row, 31);
    const std::vector<float> slopes = BiasedDot::alibi(3).table.values();
    EXPECT_FLOAT_EQ(slopes[0], 0.0625f);      // 2^-4
    EXPECT_FLOAT_EQ(slopes[1], 0.00390625f);  // 2^-8
    EXPECT_FLOAT_EQ(slopes[2], 0.25f);        // 2^-2
}

}  // namespace
}  // namespace fovea
