#include "fovea/ops/attention.h"

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

// The formula, head by head and pair by pair.
Doubles naive(const std::vector<Doubles>& x, int heads, std::int64_t dk, std::int64_t dv,
              const Visibility& sees) {
    const Doubles &q = x[0], &k = x[1], &v = x[2];
    const VisibilityView view = sees.view();
    Doubles y(static_cast<std::size_t>(sees.queries() * heads * dv));
    for (const VisibleGroup& g : view.groups)
        for (std::int64_t i = g.q_begin; i < g.q_end; ++i)
            for (int h = 0; h < heads; ++h) {
                std::vector<std::int64_t> keys;
                for (const KeyInterval& n : view.of_row(i))
                    for (std::int64_t j = n.begin; j < n.end; ++j)
                        keys.push_back(packed_row(view.runs_of(g), j));
                Doubles w;
                double sum = 0;
                for (const std::int64_t j : keys) {
                    double s = 0;
                    for (std::int64_t e = 0; e < dk; ++e)
                        s += q[static_cast<std::size_t>((i * heads + h) * dk + e)] *
                             k[static_cast<std::size_t>((j * heads + h) * dk + e)];
                    w.push_back(std::exp(s / std::sqrt(static_cast<double>(dk))));
                    sum += w.back();
                }
                for (std::size_t n = 0; n < keys.size(); ++n)
                    for (std::int64_t e = 0; e < dv; ++e)
                        y[static_cast<std::size_t>((i * heads + h) * dv + e)] +=
                            w[n] / sum *
                            v[static_cast<std::size_t>((keys[n] * heads + h) * dv + e)];
            }
    return y;
}

TEST(Attention, ForwardAndGradient) {
    Rng rng(3);
    for (const auto& lengths : std::vector<std::vector<std::int64_t>>{{1}, {3, 0, 17}, {33}}) {
        const Segments s = Segments::of_lengths(lengths);
        for (const Visibility& sees : {everything(s, s), past(s), before(s), window(s, 2, 1)}) {
            const int heads = 3;
            const std::int64_t dk = 8, dv = 5;
            OpCase c;
            c.inputs = {random_tensor({s.total(), heads * dk}, rng),
                        random_tensor({s.total(), heads * dk}, rng),
                        random_tensor({s.total(), heads * dv}, rng)};
            c.op = [&](const std::vector<Tensor>& x) {
                return attention(x[0], x[1], x[2], heads, sees);
            };
            c.reference = [&](const std::vector<Doubles>& x) {
                return naive(x, heads, dk, dv, sees);
            };
            c.max_checked = 60;
            check_op(c);
        }
    }
}

TEST(Attention, BadCalls) {
    const Segments s = Segments::uniform(2, 3);
    const Tensor x = Tensor::zeros({6, 8});
    EXPECT_THROW(attention(x, x, x, 0, past(s)), Error);
    EXPECT_THROW(attention(x, x, x, 3, past(s)), Error);
    EXPECT_THROW(attention(x, Tensor::zeros({6, 4}), x, 2, past(s)), Error);
    EXPECT_THROW(attention(x, x, Tensor::zeros({5, 8}), 2, past(s)), Error);
    EXPECT_THROW(attention(x, x, x, 2, past(Segments::uniform(1, 5))), Error);
    EXPECT_THROW(attention(x, x, x, 2, past(s), {.dropout = 1.0f}), Error);
    EXPECT_THROW(attention(x, x, x, 2, past(s), {.per_head = {past(s)}}), Error);
    EXPECT_THROW(attention(Tensor(), x, x, 2, past(s)), Error);
}

}  // namespace
}  // namespace fovea
