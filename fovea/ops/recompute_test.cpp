#include "fovea/ops/recompute.h"

#include "fovea/ops/activation.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/linear.h"
#include "fovea/ops/norm.h"
#include "fovea/ops/op_check.h"
#include "fovea/tensor/memory.h"

namespace fovea {
namespace {

Tensor parameter(const Shape& shape, Rng& rng) {
    Tensor t = random_tensor(shape, rng, 0.3);
    t.set_trainable(true);
    return t;
}

struct Block {
    Tensor w1, w2, gamma;
    Tensor operator()(const Tensor& x, const Tensor& y) const {
        const Tensor h = dropout(linear(x, w1, {}, Act::gelu), 0.2f);
        return rms_norm(x + dropout(linear(h, w2), 0.2f), gamma) + y;
    }
};

TEST(Recompute, HasTheBitsOfTheDirectWay) {
    Rng rng(1);
    std::vector<Block> blocks;
    for (int i = 0; i < 3; ++i)
        blocks.push_back(
            {parameter({32, 16}, rng), parameter({16, 32}, rng), parameter({16}, rng)});
    const Tensor x = random_tensor({5, 16}, rng), y = random_tensor({5, 16}, rng);
    const auto run = [&](bool again, bool track_input) {
        Rng drop(4);
        Tape tape(drop);
        Tensor in = Tensor::of(x.shape(), x.span());
        in.set_row_names(Segments::of_lengths({2, 3}));
        if (track_input) in = tape.watch(in);
        Tensor h = in;
        for (const Block& b : blocks) {
            h = again ? recompute([b](const std::vector<Tensor>& v) { return b(v[0], v[1]); },
                                  {h, in})
                      : b(h, in);
            h = dropout(h, 0.1f);  // sites must go on where the block ended
        }
        const Gradients g = tape.gradients(h, y);
        detail::Run r{h, {}};
        if (track_input) r.gradients.push_back(g[in]);
        for (const Block& b : blocks)
            for (const Tensor& p : {b.w1, b.w2, b.gamma}) r.gradients.push_back(g[p]);
        return r;
    };
    for (const bool track : {false, true}) {
        const detail::Run direct = run(false, track), again = run(true, track);
        EXPECT_TRUE(same_bits(direct.y, again.y));
        for (std::size_t i = 0; i < direct.gradients.size(); ++i)
            EXPECT_TRUE(same_bits(direct.gradients[i], again.gradients[i])) << i;
    }
}

TEST(Recompute, NestedAndWithoutATape) {
    Rng rng(2);
    const auto twice = [](const std::vector<Tensor>& v) { return mul(v[0], v[0]); };
    check_op({.inputs = {random_tensor({3, 5}, rng)},
              .op =
                  [&](const std::vector<Tensor>& x) {
                      return recompute(
                          [&](const std::vector<Tensor>& v) { return recompute(twice, v); }, x);
                  },
              .reference =
                  [](const std::vector<Doubles>& v) {
                      Doubles y;
                      for (const double a : v[0]) y.push_back(a * a);
                      return y;
                  }});
    const Tensor x = random_tensor({2, 2}, rng);
    EXPECT_TRUE(same_bits(recompute(twice, {x}), mul(x, x)));
}

TEST(Recompute, HoldsLessMemory) {
    Rng rng(3);
    const auto peak = [&](bool again) {
        Tape tape;
        Tensor h = tape.watch(random_tensor({256, 256}, rng));
        const std::int64_t before = memory_stats().in_use;
        const auto block = [](const std::vector<Tensor>& v) {
            Tensor t = v[0];
            for (int i = 0; i < 16; ++i) t = gelu(1.1f * t);  // each keeps what it reads
            return t;
        };
        for (int i = 0; i < 4; ++i) h = again ? recompute(block, {h}) : block({h});
        const std::int64_t held = memory_stats().in_use - before;
        tape.gradients(h, Tensor::full(h.shape(), 1));
        return held;
    };
    EXPECT_LT(peak(true) * 10, peak(false));
}

TEST(Recompute, ATensorThatIsNotHandedInIsAnError) {
    Rng rng(4);
    Tape tape;
    const Tensor x = tape.watch(random_tensor({2, 3}, rng));
    const Tensor outside = 2.0f * x;
    const Tensor y =
        recompute([&](const std::vector<Tensor>& v) { return mul(v[0], outside); }, {x});
    EXPECT_THROW(tape.gradients(y, y), Error);
}

}  // namespace
}  // namespace fovea
