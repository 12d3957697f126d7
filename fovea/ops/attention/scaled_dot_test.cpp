#include "fovea/ops/attention/score_example.h"

namespace fovea {
namespace {

AttentionOptions plain(const std::vector<Tensor>&) { return {}; }

const ExampleOf<ScaledDot> example({
    .name = "ScaledDot",
    .parameters = [](const ScoreSizes&, const RowNumbers&) { return std::vector<Tensor>{}; },
    .make = [](const std::vector<Tensor>&, const ScoreSizes&, const RowNumbers&) -> Score {
        return ScaledDot{};
    },
});

TEST(ScaledDot, CrossAttentionAndManyHeads) {
    Rng rng(4);
    const Segments q = Segments::of_lengths({2, 49, 0, 5}), k = Segments::of_lengths({7, 66, 3, 0});
    for (const ScoreSizes& s :
         {ScoreSizes{16, 8, 8}, ScoreSizes{2, 64, 32}, ScoreSizes{1, 256, 200}}) {
        const Visibility sees = everything(q, k);
        check_attention(random_qkv(sees, s, rng), example.naive(sees, s, {}), plain);
    }
}

TEST(ScaledDot, ScaleAndVisibilityPerHead) {
    Rng rng(5);
    const Segments seg = Segments::of_lengths({9, 14});
    const std::vector<Visibility> sees{past(seg), past(seg), window(seg, 1, 1),
                                       everything(seg, seg)};
    const ScoreSizes s{4, 8, 6};
    NaiveAttention naive = example.naive(sees[0], s, {});
    naive.sees = sees;
    naive.scale = 0.7;
    check_attention(random_qkv(sees[0], s, rng), naive, [&](const std::vector<Tensor>&) {
        return AttentionOptions{.scale = 0.7f, .per_head = sees};
    });
}

// Beams share a prefix: two groups read the same key rows, whose gradients add up.
TEST(ScaledDot, SharedKeys) {
    Rng rng(6);
    const std::vector<KeyList> lists{{{2, 40}, {50, 3}}, {{2, 40}, {60, 5}}, {{0, 2}}};
    const Visibility sees = past(lists, Segments::of_lengths({2, 5, 1}), 70);
    const ScoreSizes s{2, 8, 8};
    check_attention(random_qkv(sees, s, rng), example.naive(sees, s, {}), plain);
}

}  // namespace
}  // namespace fovea
