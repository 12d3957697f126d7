#include "fovea/ops/max_pool2d.h"

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

Doubles naive_pool(const Doubles& x, const Grid& g, std::int64_t d, const PoolOptions& o) {
    Doubles y;
    for (std::int64_t n = 0; n < g.images; ++n)
        for (std::int64_t i = -o.padding; i + o.size <= g.height + o.padding; i += o.stride)
            for (std::int64_t j = -o.padding; j + o.size <= g.width + o.padding; j += o.stride)
                for (std::int64_t c = 0; c < d; ++c) {
                    double most = -1e300;
                    for (std::int64_t a = std::max<std::int64_t>(0, i);
                         a < std::min(i + o.size, g.height); ++a)
                        for (std::int64_t b = std::max<std::int64_t>(0, j);
                             b < std::min(j + o.size, g.width); ++b)
                            most = std::max(most, x[static_cast<std::size_t>(
                                                      ((n * g.height + a) * g.width + b) * d + c)]);
                    y.push_back(most);
                }
    return y;
}

TEST(MaxPool2d, WindowsOfManyKinds) {
    Rng rng(1);
    const PoolOptions kinds[] = {{3, 2, 1}, {2, 2, 0}, {3, 1, 1}, {2, 3, 1}, {5, 2, 2}, {1, 1, 0}};
    for (const Grid& grid : {Grid{2, 7, 5}, Grid{1, 6, 8}, Grid{3, 3, 3}})
        for (const PoolOptions& o : kinds)
            for (const std::int64_t d : {1, 3, 17}) {
                SCOPED_TRACE(text_of(grid.height, " x ", grid.width, " of ", d, ": ", o.size, ", ",
                                     o.stride, ", ", o.padding));
                check_op(
                    {.inputs = {random_tensor({grid.rows(), d}, rng)},
                     .op = [&](const std::vector<Tensor>& x) { return max_pool2d(x[0], grid, o); },
                     .reference =
                         [&](const std::vector<Doubles>& v) {
                             return naive_pool(v[0], grid, d, o);
                         },
                     .max_checked = 60});
            }
}

// torch.nn.functional.max_pool2d(x, 3, 2, 1) of x = [[1, 5, 5, 2], [5, 5, 0, 7], [3, 5, 7, 7]],
// and the gradient of (y · [1, 2, 4, 8]).sum(): equal values go to the first of a window.
TEST(MaxPool2d, NumbersOfPyTorch) {
    const Tensor x = Tensor::of({12, 1}, {1, 5, 5, 2, 5, 5, 0, 7, 3, 5, 7, 7});
    Tape tape;
    const Tensor watched = tape.watch(x), y = max_pool2d(watched, {1, 3, 4}, {3, 2, 1});
    EXPECT_EQ(y.values(), (std::vector<float>{5, 7, 5, 7}));
    const Gradients d = tape.gradients(y, Tensor::of({4, 1}, {1, 2, 4, 8}));
    EXPECT_EQ(d[watched].values(), (std::vector<float>{0, 1, 0, 0, 4, 0, 0, 10, 0, 0, 0, 0}));
}

TEST(MaxPool2d, PackedEqualsAlone) {
    Rng rng(2);
    const Grid grid{3, 5, 4}, one{1, 5, 4};
    const Tensor x = random_tensor({grid.rows(), 6}, rng);
    const Tensor all = max_pool2d(x, grid, {3, 2, 1});
    for (std::int64_t i = 0; i < 3; ++i) {
        const auto part = [&](const Tensor& t, std::int64_t rows) {
            return Tensor::of({rows, 6}, t.span().subspan(static_cast<std::size_t>(i * rows * 6),
                                                          static_cast<std::size_t>(rows * 6)));
        };
        EXPECT_TRUE(same_bits(part(all, 6), max_pool2d(part(x, 20), one, {3, 2, 1}))) << i;
    }
}

TEST(MaxPool2d, KeepsWhatIsNoNumberAndTheLowest) {
    const float low = -INFINITY;
    const Tensor y =
        max_pool2d(Tensor::of({4, 2}, {low, 1, low, std::nanf(""), low, 3, low, 4}), {1, 2, 2}, {});
    EXPECT_EQ(y.data()[0], low);
    EXPECT_TRUE(std::isnan(y.data()[1]));
}

TEST(MaxPool2d, RefusesWindowsThatSeeNothing) {
    const Tensor x = Tensor::zeros({12, 1});
    EXPECT_THROW(max_pool2d(x, {1, 3, 4}, {3, 2, 2}), Error);
    EXPECT_THROW(max_pool2d(x, {1, 3, 4}, {17, 1, 0}), Error);
    EXPECT_THROW(max_pool2d(x, {1, 3, 4}, {2, 0, 0}), Error);
    EXPECT_THROW(max_pool2d(x, {1, 4, 4}, {2, 2, 0}), Error);
    EXPECT_EQ(max_pool2d(x, {1, 3, 4}, {8, 1, 0}).rows(), 0);  // larger than the picture
}

}  // namespace
}  // namespace fovea
