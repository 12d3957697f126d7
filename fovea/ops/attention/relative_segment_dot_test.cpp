#include "fovea/ops/attention/relative_example.h"

namespace fovea {
namespace {

std::int32_t segment_of(std::int64_t row) { return static_cast<std::int32_t>(row / 7 % 3); }

Ids segments_of(const std::vector<std::int64_t>& rows) {
    Ids ids;
    for (const std::int64_t row : rows) ids.push_back(segment_of(row));
    return ids;
}

const ExampleOf<RelativeSegmentDot> example({
    .name = "RelativeSegmentDot",
    .parameters =
        [](const ScoreSizes& s, const RowNumbers&) {
            std::vector<Tensor> p = relative_parameters(s);
            Rng rng(2);
            p.push_back(random_tensor({s.heads * s.dk}, rng));
            p.push_back(random_tensor({2, s.heads * s.dk}, rng));
            return p;
        },
    .make = [](const std::vector<Tensor>& p, const ScoreSizes& s, const RowNumbers& rows) -> Score {
        return RelativeSegmentDot{
            .relative = {.u = p[0], .v = p[1], .r = p[2], .first = -s.longest},
            .s = p[3],
            .e = p[4],
            .q = segments_of(rows.q),
            .k = segments_of(rows.k)};
    },
    .formula =
        [](NaiveAttention& naive, const ScoreSizes& s, const RowNumbers& rows) {
            naive.score = [naive, relative = relative_formula(naive, -s.longest, {}), rows](
                              const std::vector<Doubles>& x, int h, std::int64_t i, std::int64_t j,
                              std::int64_t distance) {
                const auto number = [](const std::vector<std::int64_t>& of, std::int64_t at) {
                    return of[static_cast<std::size_t>(at)];
                };
                const bool differ = segment_of(number(rows.q, i)) != segment_of(number(rows.k, j));
                double sum = 0;
                for (std::int64_t c = 0; c < naive.dk; ++c) {
                    const auto at = [&](std::int64_t row) {
                        return static_cast<std::size_t>((row * naive.heads + h) * naive.dk + c);
                    };
                    sum += (x[0][at(i)] + x[6][at(0)]) * x[7][at(differ ? 1 : 0)];
                }
                return relative(x, h, i, j, distance) + naive.scale * sum;
            };
        },
});

// One segment: the term is the same for all keys of a row, and the softmax does not see it.
TEST(RelativeSegmentDot, OneSegmentIsRelativeDot) {
    Rng rng(3);
    const ScoreSizes s;
    const Segments rows = Segments::of_lengths({30, 50});
    const std::vector<Tensor> x = random_qkv(past(rows), s, rng);
    const std::vector<Tensor> p = example.parameters(s, {});
    const RelativeDot relative{.u = p[0], .v = p[1], .r = p[2], .first = -s.longest};
    RelativeSegmentDot both{.relative = relative, .s = p[3], .e = p[4], .q = Ids(80), .k = Ids(80)};
    const auto run = [&](const Score& score) {
        return attention(x[0], x[1], x[2], s.heads, past(rows), {.score = score});
    };
    const Tensor want = run(relative), got = run(both);
    for (std::int64_t i = 0; i < want.size(); ++i)
        ASSERT_NEAR(want.data()[i], got.data()[i], 1e-5) << i;
    both.k[0] = 1;  // the first key leaves the segment of all others
    EXPECT_FALSE(same_bits(got, run(both)));
}

TEST(RelativeSegmentDot, BadCalls) {
    const Visibility sees = past(Segments::uniform(2, 3));
    const Tensor x = Tensor::zeros({6, 8}), row = Tensor::zeros({8});
    const RelativeSegmentDot good{.relative = {.u = row, .v = row, .r = Tensor::zeros({3, 8})},
                                  .s = row,
                                  .e = Tensor::zeros({2, 8}),
                                  .q = Ids(6),
                                  .k = Ids(6)};
    const auto with = [&](auto&& change) {
        RelativeSegmentDot score = good;
        change(score);
        attention(x, x, x, 2, sees, {.score = score});
    };
    using S = RelativeSegmentDot;
    EXPECT_NO_THROW(with([](S&) {}));
    EXPECT_THROW(with([](S& s) { s.relative.r = Tensor::zeros({2, 8}); }), Error);
    EXPECT_THROW(with([](S& s) { s.s = Tensor(); }), Error);
    EXPECT_THROW(with([](S& s) { s.s = Tensor::zeros({7}); }), Error);
    EXPECT_THROW(with([](S& s) { s.e = Tensor::zeros({3, 8}); }), Error);
    EXPECT_THROW(with([](S& s) { s.e = Tensor::zeros({2, 4}); }), Error);
    EXPECT_THROW(with([](S& s) { s.q.pop_back(); }), Error);
    EXPECT_THROW(with([](S& s) { s.k.clear(); }), Error);
}

}  // namespace
}  // namespace fovea
