#include "fovea/ops/attention/relative_example.h"

namespace fovea {
namespace {

const ExampleOf<RelativeDot> example({
    .name = "RelativeDot",
    .parameters = [](const ScoreSizes& s, const RowNumbers&) { return relative_parameters(s); },
    .make = [](const std::vector<Tensor>& p, const ScoreSizes& s, const RowNumbers&) -> Score {
        return RelativeDot{.u = p[0], .v = p[1], .r = p[2], .first = -s.longest};
    },
    .formula = [](NaiveAttention& naive, const ScoreSizes& s,
                  const RowNumbers&) { naive.score = relative_formula(naive, -s.longest, {}); },
});

void check_relative(const Visibility& sees, std::int64_t first, std::int64_t count,
                    const RowPositions& positions, Rng& rng) {
    const ScoreSizes s{2, 9, 8};
    std::vector<Tensor> x = random_qkv(sees, s, rng);
    x.push_back(random_tensor({s.heads * s.dk}, rng));
    x.push_back(random_tensor({s.heads * s.dk}, rng));
    x.push_back(random_tensor({count, s.heads * s.dk}, rng));
    NaiveAttention naive = example.naive(sees, s, {});
    naive.score = relative_formula(naive, first, positions);
    check_attention(x, naive, [&](const std::vector<Tensor>& t) {
        return AttentionOptions{
            .score = RelativeDot{
                .u = t[3], .v = t[4], .r = t[5], .first = first, .positions = positions}};
    });
}

TEST(RelativeDot, DistancesOfAllKinds) {
    Rng rng(7);
    const Segments seg = Segments::of_lengths({1, 3, 0, 70});
    check_relative(past(seg), 0, 70, {}, rng);
    check_relative(everything(seg, seg), -69, 139, {}, rng);
    // A window and a global key far away: the band of distances has a gap.
    check_relative(unite(window(seg, 2, 2), columns(seg, {0})), -69, 139, {}, rng);
    const Segments memory = Segments::of_lengths({5, 0, 2, 30});
    check_relative(past(memory, seg), -3, 110, {}, rng);
}

TEST(RelativeDot, WithPermutedRows) {
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
    check_relative(prefix(seg, 3), -65, 131, positions, rng);
    check_relative(before(seg), -65, 131, positions, rng);
}

}  // namespace
}  // namespace fovea
