// What a recorded op keeps alive until backward: the inputs it reads again, no others.
#include <functional>

#include "fovea/autograd/tape.h"
#include "fovea/ops/activation.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/loss/linear_cross_entropy.h"
#include "fovea/ops/norm.h"
#include "fovea/ops/op_check.h"
#include "fovea/ops/recurrent.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/ops/rows/pooling.h"
#include "fovea/ops/rows/positions.h"
#include "fovea/ops/softmax.h"

namespace fovea {
namespace {

int released = 0;

TEST(HeldMemory, AnInputThatBackwardDoesNotReadIsFreedAtOnce) {
    Rng rng(3);
    const Tensor p = random_tensor({6, 8}, rng), gamma = Tensor::full({8}, 1.0f),
                 beta = Tensor::zeros({8});
    const Segments two = Segments::of_lengths(std::vector<std::int64_t>{4, 2});
    using Op = std::function<Tensor(const Tensor& x)>;
    struct Case {
        const char* name;
        Op op;
        bool reads;
    };
    const std::vector<Case> cases = {
        {"+", [&](const Tensor& x) { return x + p; }, false},
        {"-", [&](const Tensor& x) { return p - x; }, false},
        {"scale", [&](const Tensor& x) { return 2.0f * x; }, false},
        {"dropout", [&](const Tensor& x) { return dropout(x, 0.3f); }, false},
        {"add_dropout", [&](const Tensor& x) { return add_dropout(p, x, 0.3f); }, false},
        {"residual_layer_norm",
         [&](const Tensor& x) { return residual_layer_norm(p, x, gamma, beta, {.dropout = 0.3f}); },
         false},
        {"softmax", [&](const Tensor& x) { return softmax(x); }, false},
        {"relu", [&](const Tensor& x) { return relu(x); }, false},
        {"segment_mean", [&](const Tensor& x) { return segment_mean(x, two); }, false},
        {"segment_sum",
         [&](const Tensor& x) {
             return segment_sum(x, {1, 2, 3, 4, 5, 6}, two);
         },
         false},
        {"concat_cols",
         [&](const Tensor& x) {
             return concat_cols({p, x});
         },
         false},
        {"slice_rows", [&](const Tensor& x) { return slice_rows(x, 1, 3); }, false},
        {"rotary", [&](const Tensor& x) { return rotary(x, 2, two); }, false},
        {"linear_cross_entropy",
         [&](const Tensor& x) {
             return linear_cross_entropy(x, p, {}, {0, 1, 2, 3, 4, 5});
         },
         false},
        {"lstm",
         [&](const Tensor& x) {
             return lstm(x, two, {Tensor::full({8, 2}, 0.1f), {}});
         },
         false},
        {"gelu", [&](const Tensor& x) { return gelu(x); }, true},
        {"mul", [&](const Tensor& x) { return mul(x, x); }, true},
        {"layer_norm", [&](const Tensor& x) { return layer_norm(x, gamma, beta); }, true}};
    for (const Case& c : cases) {
        Rng dropping(9);
        Tape tape(dropping);
        Tensor x = tape.watch(random_tensor({6, 8}, rng));
        x.set_row_names(two);
        const std::uint64_t id = x.id();
        released = 0;
        x.on_release([](std::uint64_t) { ++released; });
        const Tensor y = c.op(x);
        x = Tensor();
        EXPECT_EQ(released, c.reads ? 0 : 1) << c.name;
        Gradients d = tape.gradients(y, Tensor::full(y.shape(), 1.0f));
        EXPECT_EQ(d.take(id).size(), 48) << c.name << ": the gradient is there all the same";
    }
}

}  // namespace
}  // namespace fovea
