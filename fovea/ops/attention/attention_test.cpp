// Forward and gradient of attention, for every score, against the formula in double.
#include "fovea/ops/attention/attention.h"

#include "fovea/kernels/isa.h"
#include "fovea/ops/attention/attention_naive.h"

namespace fovea {
namespace {

struct Sizes {
    int heads;
    std::int64_t dk, dv;
};

const std::vector<std::vector<std::int64_t>> kLengths = {{1}, {3, 0, 17}, {33}, {0, 0}, {70, 1}};

template <class Test>
void at_every_level(Test&& test) {
    const kernels::Isa best = kernels::best_isa();
    for (int level = 0; level <= static_cast<int>(best); ++level) {
        kernels::set_isa(static_cast<kernels::Isa>(level));
        SCOPED_TRACE(kernels::name_of(static_cast<kernels::Isa>(level)));
        test();
    }
    kernels::set_isa(best);
}

NaiveAttention naive_of(const Sizes& s, const Visibility& sees) {
    NaiveAttention n{.heads = s.heads, .dk = s.dk, .dv = s.dv, .sees = {sees}};
    n.scale = 1.0 / std::sqrt(static_cast<double>(s.dk));
    return n;
}

std::vector<Tensor> random_qkv(const Visibility& sees, const Sizes& s, Rng& rng) {
    return {random_tensor({sees.queries(), s.heads * s.dk}, rng),
            random_tensor({sees.keys(), s.heads * s.dk}, rng),
            random_tensor({sees.keys(), s.heads * s.dv}, rng)};
}

void check(const std::vector<Tensor>& inputs, const NaiveAttention& naive,
           const std::function<AttentionOptions(const std::vector<Tensor>&)>& options) {
    OpCase c;
    c.inputs = inputs;
    c.op = [&](const std::vector<Tensor>& x) {
        return attention(x[0], x[1], x[2], naive.heads, naive.sees[0], options(x));
    };
    c.reference = [&](const std::vector<Doubles>& x) { return naive(x); };
    c.max_checked = 14;
    check_op(c);
}

AttentionOptions plain(const std::vector<Tensor>&) { return {}; }

TEST(Attention, ScaledDot) {
    Rng rng(3);
    at_every_level([&] {
        for (const auto& lengths : kLengths)
            for (const Sizes& s : {Sizes{3, 8, 5}, Sizes{1, 17, 33}, Sizes{2, 1, 3}}) {
                const Segments seg = Segments::of_lengths(lengths);
                for (const Visibility& sees :
                     {everything(seg, seg), past(seg), before(seg), window(seg, 2, 1),
                      unite(window(seg, 1, 0), columns(seg, {0, 9}))})
                    check(random_qkv(sees, s, rng), naive_of(s, sees), plain);
            }
    });
}

TEST(Attention, CrossAttentionAndManyHeads) {
    Rng rng(4);
    const Segments q = Segments::of_lengths({2, 49, 0, 5}), k = Segments::of_lengths({7, 66, 3, 0});
    for (const Sizes& s : {Sizes{16, 8, 8}, Sizes{2, 64, 32}, Sizes{1, 256, 200}}) {
        const Visibility sees = everything(q, k);
        check(random_qkv(sees, s, rng), naive_of(s, sees), plain);
    }
}

TEST(Attention, ScaleAndVisibilityPerHead) {
    Rng rng(5);
    const Segments seg = Segments::of_lengths({9, 14});
    const std::vector<Visibility> sees{past(seg), past(seg), window(seg, 1, 1),
                                       everything(seg, seg)};
    const Sizes s{4, 8, 6};
    NaiveAttention naive = naive_of(s, sees[0]);
    naive.sees = sees;
    naive.scale = 0.7;
    check(random_qkv(sees[0], s, rng), naive, [&](const std::vector<Tensor>&) {
        return AttentionOptions{.scale = 0.7f, .per_head = sees};
    });
}

// Beams share a prefix: two groups read the same key rows, whose gradients add up.
TEST(Attention, SharedKeys) {
    Rng rng(6);
    const std::vector<KeyList> lists{{{2, 40}, {50, 3}}, {{2, 40}, {60, 5}}, {{0, 2}}};
    const Visibility sees = past(lists, Segments::of_lengths({2, 5, 1}), 70);
    const Sizes s{2, 8, 8};
    at_every_level([&] { check(random_qkv(sees, s, rng), naive_of(s, sees), plain); });
}

NaiveAttention naive_relative(const Sizes& s, const Visibility& sees, std::int64_t first,
                              const RowPositions& positions) {
    NaiveAttention n = naive_of(s, sees);
    n.score = [n, first, positions](const std::vector<Doubles>& x, int h, std::int64_t i,
                                    std::int64_t j, std::int64_t distance) {
        if (!positions.q.empty())
            distance =
                positions.q[static_cast<std::size_t>(i)] - positions.k[static_cast<std::size_t>(j)];
        double sum = 0;
        for (std::int64_t e = 0; e < n.dk; ++e) {
            const auto at = [&](std::int64_t row) {
                return static_cast<std::size_t>((row * n.heads + h) * n.dk + e);
            };
            const double q = x[0][at(i)];
            sum += (q + x[3][at(0)]) * x[1][at(j)] + (q + x[4][at(0)]) * x[5][at(distance - first)];
        }
        return n.scale * sum;
    };
    return n;
}

void check_relative(const Visibility& sees, std::int64_t first, std::int64_t count,
                    const RowPositions& positions, Rng& rng) {
    const Sizes s{2, 9, 8};
    std::vector<Tensor> x = random_qkv(sees, s, rng);
    x.push_back(random_tensor({s.heads * s.dk}, rng));
    x.push_back(random_tensor({s.heads * s.dk}, rng));
    x.push_back(random_tensor({count, s.heads * s.dk}, rng));
    check(x, naive_relative(s, sees, first, positions), [&](const std::vector<Tensor>& t) {
        return AttentionOptions{
            .score = RelativeDot{
                .u = t[3], .v = t[4], .r = t[5], .first = first, .positions = positions}};
    });
}

TEST(Attention, RelativeDot) {
    Rng rng(7);
    at_every_level([&] {
        const Segments seg = Segments::of_lengths({1, 3, 0, 70});
        check_relative(past(seg), 0, 70, {}, rng);
        check_relative(everything(seg, seg), -69, 139, {}, rng);
        // A window and a global key far away: the band of distances has a gap.
        check_relative(unite(window(seg, 2, 2), columns(seg, {0})), -69, 139, {}, rng);
        const Segments memory = Segments::of_lengths({5, 0, 2, 30});
        check_relative(past(memory, seg), -3, 110, {}, rng);
    });
}

TEST(Attention, RelativeDotWithPermutedRows) {
    Rng rng(8);
    const Segments seg = Segments::of_lengths({5, 66});
    RowPositions positions;
    for (std::int64_t g = 0; g < seg.count(); ++g) {
        std::vector<std::int32_t> order;
        for (std::int64_t i = 0; i < seg.length(g); ++i)
            order.push_back(static_cast<std::int32_t>(i));
        rng.shuffle(order);
        positions.q.insert(positions.q.end(), order.begin(), order.end());
    }
    positions.k = positions.q;
    at_every_level([&] {
        check_relative(prefix(seg, 3), -65, 131, positions, rng);
        check_relative(before(seg), -65, 131, positions, rng);
    });
}

void check_biased(const Visibility& sees, const BiasedDot& score, Rng& rng) {
    const Sizes s{3, 8, 8};
    std::vector<Tensor> x = random_qkv(sees, s, rng);
    x.push_back(random_tensor(score.table.shape(), rng));
    NaiveAttention naive = naive_of(s, sees);
    naive.score = [naive, score](const std::vector<Doubles>& in, int h, std::int64_t i,
                                 std::int64_t j, std::int64_t distance) {
        if (!score.positions.q.empty())
            distance = score.positions.q[static_cast<std::size_t>(i)] -
                       score.positions.k[static_cast<std::size_t>(j)];
        const BiasedDot::Entry e = score.entry(distance);
        return naive.scale * naive.dot(in[0], i, in[1], j, h) +
               e.factor * in[3][static_cast<std::size_t>(e.row * naive.heads + h)];
    };
    check(x, naive, [&](const std::vector<Tensor>& t) {
        BiasedDot own = score;
        own.table = t[3];
        return AttentionOptions{.score = own};
    });
}

TEST(Attention, BiasedDot) {
    Rng rng(9);
    const Segments seg = Segments::of_lengths({1, 3, 0, 70, 17});
    const Tensor buckets = Tensor::zeros({32, 3});
    RowPositions mixed;
    for (std::int64_t i = 0; i < seg.total(); ++i)
        mixed.q.push_back(static_cast<std::int32_t>(rng.below(200)));
    mixed.k = mixed.q;
    at_every_level([&] {
        check_biased(everything(seg, seg), BiasedDot::t5(buckets, true, 40), rng);
        check_biased(past(seg), BiasedDot::t5(buckets, false, 40), rng);
        check_biased(past(seg), BiasedDot::alibi(3), rng);
        check_biased(unite(window(seg, 2, 2), columns(seg, {0})), BiasedDot::alibi(3), rng);
        BiasedDot permuted = BiasedDot::t5(buckets, true);
        permuted.positions = mixed;
        check_biased(prefix(seg, 4), permuted, rng);
    });
}

// The bucket function of T5's reference implementation, at its edges.
TEST(Attention, T5Buckets) {
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

TEST(Attention, Additive) {
    Rng rng(10);
    const Sizes s{2, 7, 5};
    const Segments q = Segments::of_lengths({1, 3, 0, 50}), k = Segments::of_lengths({2, 70, 3, 5});
    const Visibility sees = everything(q, k);
    std::vector<Tensor> x = random_qkv(sees, s, rng);
    x.push_back(random_tensor({s.heads * s.dk}, rng));
    NaiveAttention naive = naive_of(s, sees);
    naive.score = [naive](const std::vector<Doubles>& in, int h, std::int64_t i, std::int64_t j,
                          std::int64_t) {
        double sum = 0;
        for (std::int64_t e = 0; e < naive.dk; ++e) {
            const auto at = [&](std::int64_t row) {
                return static_cast<std::size_t>((row * naive.heads + h) * naive.dk + e);
            };
            sum += in[3][at(0)] * std::tanh(in[0][at(i)] + in[1][at(j)]);
        }
        return sum;
    };
    at_every_level([&] {
        check(x, naive, [](const std::vector<Tensor>& t) {
            return AttentionOptions{.score = Additive{.w = t[3]}};
        });
    });
}

TEST(Attention, Gaussian) {
    Rng rng(11);
    const Sizes s{2, 8, 5};
    const Segments q = Segments::of_lengths({1, 3, 0, 50}), k = Segments::of_lengths({2, 70, 3, 5});
    std::vector<float> centres;
    for (std::int64_t g = 0; g < q.count(); ++g)
        for (std::int64_t i = 0; i < q.length(g) * s.heads; ++i)
            centres.push_back(static_cast<float>(rng.uniform(0, static_cast<double>(k.length(g)))));
    for (const Visibility& sees :
         {everything(q, k),
          around(q, k, std::vector<float>(static_cast<std::size_t>(q.total()), 2.3f), 4)}) {
        std::vector<Tensor> x = random_qkv(sees, s, rng);
        x.push_back(Tensor::of({q.total(), s.heads}, centres));
        NaiveAttention naive = naive_of(s, sees);
        naive.factor = [&](const std::vector<Doubles>& in, int h, std::int64_t i,
                           std::int64_t index) {
            const double u =
                (static_cast<double>(index) - in[3][static_cast<std::size_t>(i * s.heads + h)]) /
                2.5;
            return std::exp(-0.5 * u * u);
        };
        at_every_level([&] {
            check(x, naive, [](const std::vector<Tensor>& t) {
                return AttentionOptions{.score = Gaussian{.centres = t[3], .sigma = 2.5f}};
            });
        });
    }
}

TEST(Attention, BadCalls) {
    const Segments s = Segments::uniform(2, 3);
    const Visibility sees = past(s);
    const Tensor x = Tensor::zeros({6, 8});
    EXPECT_THROW(attention(x, x, x, 0, sees), Error);
    EXPECT_THROW(attention(x, x, x, -1, sees), Error);
    EXPECT_THROW(attention(x, x, x, 3, sees), Error);
    EXPECT_THROW(attention(x, Tensor::zeros({6, 4}), x, 2, sees), Error);
    EXPECT_THROW(attention(x, x, Tensor::zeros({5, 8}), 2, sees), Error);
    EXPECT_THROW(attention(x, x, Tensor::zeros({6, 7}), 2, sees), Error);
    EXPECT_THROW(attention(x, x, x, 2, past(Segments::uniform(1, 5))), Error);
    EXPECT_THROW(attention(x, x, x, 2, everything(s, Segments::uniform(2, 4))), Error);
    EXPECT_THROW(attention(x, x, x, 2, sees, {.dropout = 1.0f}), Error);
    EXPECT_THROW(attention(x, x, x, 2, sees, {.per_head = {sees}}), Error);
    EXPECT_THROW(attention(Tensor(), x, x, 2, sees), Error);
    EXPECT_THROW(attention(x, x, Tensor(), 2, sees), Error);
    EXPECT_THROW(attention(x.to(Format::bf16), x, x, 2, sees), Error);
    const Tensor row = Tensor::zeros({8});
    const auto with = [&](Score score) {
        attention(x, x, x, 2, sees, {.score = std::move(score)});
    };
    EXPECT_THROW(with(RelativeDot{.u = row, .v = row, .r = Tensor::zeros({2, 8})}), Error);
    EXPECT_NO_THROW(with(RelativeDot{.u = row, .v = row, .r = Tensor::zeros({3, 8})}));
    EXPECT_THROW(with(RelativeDot{.u = x, .v = row, .r = Tensor::zeros({3, 8})}), Error);
    EXPECT_THROW(with(BiasedDot::alibi(3)), Error);
    EXPECT_THROW(with(BiasedDot{.table = Tensor::zeros({1, 2}), .entry = {}}), Error);
    EXPECT_THROW(with(Additive{.w = Tensor::zeros({7})}), Error);
    EXPECT_THROW(with(Gaussian{.centres = Tensor::zeros({6, 1}), .sigma = 1}), Error);
    EXPECT_THROW(with(Gaussian{.centres = Tensor::zeros({6, 2}), .sigma = 0}), Error);
    try {
        attention(x, x, x, 2, past(Segments::uniform(1, 5)));
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("q is [6, 8] but the visibility has 5 query rows"),
                  std::string::npos)
            << e.what();
    }
}

}  // namespace
}  // namespace fovea
