#include "fovea/ops/dropout.h"

#include "fovea/kernels/dropout.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/attention/attention.h"
#include "fovea/ops/linear.h"
#include "fovea/ops/norm.h"
#include "fovea/ops/op_check.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/rows/positions.h"

namespace fovea {
namespace {

TEST(Dropout, IsNothingWithoutATapeThatHasIt) {
    Rng rng(1);
    Tensor x = random_tensor({3, 5}, rng);
    x.set_row_names(Segments::of_lengths({3}));
    EXPECT_EQ(dropout(x, 0.5f).id(), x.id());
    {
        Tape tape;
        EXPECT_EQ(dropout(x, 0.5f).id(), x.id());
    }
    Tape tape(rng);
    EXPECT_EQ(dropout(x, 0.0f).id(), x.id());
    EXPECT_NE(dropout(x, 0.5f).id(), x.id());
    EXPECT_THROW(dropout(x, 1.0f), Error);
}

// A chain of ops that nobody gave names at its beginning: everywhere dropout is, it says so.
TEST(Dropout, RowsWithoutNamesAreAnError) {
    Rng rng(2);
    const Tensor table = random_tensor({9, 8}, rng), w = random_tensor({8, 8}, rng);
    const Tensor one = Tensor::full({8}, 1.0f), zero = Tensor::zeros({8});
    const Segments s = Segments::of_lengths(std::vector<std::int64_t>{2, 3}, {7, 9});
    const auto run = [&](bool named, float p, int where) {
        Tensor x = gather_rows(table, {1, 2, 3, 4, 5});
        if (named) x.set_row_names(s);
        x = layer_norm(linear(x, w, {}, Act::gelu), one, zero);
        if (where == 0) return dropout(x, p);
        if (where == 1) return add_dropout(x, 2.0f * x, p);
        if (where == 2) return residual_layer_norm(x, linear(x, w), one, zero, {.dropout = p});
        if (where == 3) return attention(x, x, x, 2, past(s), {.dropout = p});
        return attention_hard(x, x, x, 2, past(s));
    };
    for (int where = 0; where < 5; ++where) {
        EXPECT_NO_THROW(run(false, 0.1f, where)) << where;  // no tape, nothing is drawn
        const Tape tape(rng);
        EXPECT_NO_THROW(run(true, 0.1f, where)) << where;
        if (where < 4) {
            EXPECT_NO_THROW(run(false, 0.0f, where)) << where;
        }
        try {
            run(false, 0.1f, where);
            ADD_FAILURE() << where;
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find("[5, 8] have no names"), std::string::npos)
                << e.what();
            EXPECT_NE(e.hint().find("set_row_names"), std::string::npos) << e.hint();
        }
    }
}

TEST(Dropout, FollowsItsDefinitionAndBackwardUsesTheSameMask) {
    const std::vector<std::uint64_t> samples{7, std::uint64_t{5} << 33, 1};
    const std::vector<std::int64_t> lengths{3, 0, 4};
    const Segments names = Segments::of_lengths(lengths, samples);
    for (const std::int64_t d : {1, 3, 17, 33, 128, 300}) {
        Tensor x = Tensor::full({7, d}, 2.0f);
        x.set_row_names(names);
        at_every_level([&] {
            Rng rng(9);
            Tape tape(rng);
            Tensor w = tape.watch(x);
            dropout(w, 0.3f);  // site 0
            const Tensor y = dropout(w, 0.3f);
            const auto mask = kernels::dropout_mask(tape.dropout_key(), 1, 0.3f, names.offsets(),
                                                    names.samples());
            const Tensor dx = tape.gradients(y, Tensor::full(y.shape(), 1.0f))[x];
            for (std::int64_t i = 0; i < 7; ++i) {
                const std::int64_t s = i < 3 ? 0 : 2;
                for (std::int64_t j = 0; j < d; ++j) {
                    const bool kept = kernels::keeps(mask, names.sample(s), i - names.begin(s), j);
                    ASSERT_EQ(y.at(i, j), kept ? 2.0f * (1.0f / 0.7f) : 0.0f) << i << ' ' << j;
                    ASSERT_EQ(dx.at(i, j), kept ? 1.0f / 0.7f : 0.0f);
                }
            }
        });
    }
}

TEST(Dropout, ASequenceHasItsMaskWhateverTheBatch) {
    const auto run = [](const std::vector<std::int64_t>& lengths,
                        const std::vector<std::uint64_t>& samples) {
        Rng rng(3);
        Tape tape(rng);
        const Segments s = Segments::of_lengths(lengths, samples);
        return dropout(sinusoid(s, 65), 0.4f);
    };
    const Tensor batch = run({4, 9, 2}, {10, 11, 12}), alone = run({9}, {11});
    EXPECT_EQ(std::memcmp(batch.data() + 4 * 65, alone.data(), 9 * 65 * 4), 0);
}

TEST(Dropout, DropsTheShareItWasAskedFor) {
    Rng rng(5);
    Tensor x = Tensor::full({500, 512}, 1.0f);
    x.set_row_names(Segments::of_lengths({500}));
    for (const float p : {0.1f, 0.5f, 0.9f}) {
        Tape tape(rng);
        const Tensor y = dropout(x, p);
        double dropped = 0;
        for (const float v : y.span()) dropped += v == 0;
        const double n = static_cast<double>(y.size());
        EXPECT_NEAR(dropped / n, p, 5 * std::sqrt(p * (1 - p) / n));
    }
}

TEST(Dropout, AddedToAnotherHasTheBitsOfTwoOps) {
    Rng rng(6);
    Tensor x = random_tensor({5, 130}, rng), b = random_tensor({5, 130}, rng);
    b.set_row_names(Segments::of_lengths({2, 3}));
    const auto run = [&](bool fused) {
        Rng drop(1);
        Tape tape(drop);
        const Tensor wx = tape.watch(x), wb = tape.watch(b);
        const Tensor y = fused ? add_dropout(wx, wb, 0.2f) : wx + dropout(wb, 0.2f);
        const Gradients d = tape.gradients(y, Tensor::of(y.shape(), y.span()));
        return detail::Run{y, {d[x], d[b]}};
    };
    const detail::Run one = run(true), two = run(false);
    EXPECT_TRUE(same_bits(one.y, two.y));
    EXPECT_TRUE(same_bits(one.gradients[0], two.gradients[0]));
    EXPECT_TRUE(same_bits(one.gradients[1], two.gradients[1]));
    EXPECT_TRUE(same_bits(add_dropout(x, b, 0.2f), x + b));
}

}  // namespace
}  // namespace fovea
