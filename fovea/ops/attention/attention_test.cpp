// Forward and gradient of attention, for every score, against the formula in double.
#include "fovea/ops/attention/attention.h"

#include "fovea/ops/attention/score_example.h"

namespace fovea {
namespace {

TEST(Attention, EveryScore) {
    Rng rng(3);
    for_every_score([&](const ScoreExample& example) {
        std::size_t turn = 0;
        const std::vector<ScoreSizes> sizes{{3, 8, 5, 70}, {1, 17, 33, 70}, {2, 1, 3, 70}};
        for (const auto& lengths :
             std::vector<std::vector<std::int64_t>>{{1}, {3, 0, 17}, {33}, {0, 0}, {70, 1}}) {
            const Segments seg = Segments::of_lengths(lengths);
            for (const Visibility& sees :
                 {everything(seg, seg), past(seg), before(seg), window(seg, 2, 1),
                  unite(window(seg, 1, 0), columns(seg, {0, 9}))})
                check_example(example, sees, sizes[turn++ % sizes.size()], rng);
        }
        const Segments q = Segments::of_lengths({1, 3, 0, 50});
        const Segments k = Segments::of_lengths({2, 70, 3, 5});
        check_example(example, everything(q, k), {2, 7, 5, 70}, rng);
    });
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
