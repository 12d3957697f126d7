#include "fovea/ops/conv2d.h"

#include "fovea/ops/linear.h"
#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

using Inputs = std::vector<Tensor>;
using In = std::vector<Doubles>;

double value(const Doubles& v, std::int64_t i) { return v[static_cast<std::size_t>(i)]; }

// groups = channels (depthwise) where w has one input channel and x has several.
struct Naive {
    Grid in;
    std::int64_t channels, out, h, w;
    Conv2dOptions o;
    bool depthwise = false;

    double window(const In& v, std::int64_t image, std::int64_t i, std::int64_t j,
                  std::int64_t c) const {
        double sum = v.size() > 2 ? value(v[2], c) : 0;
        for (std::int64_t a = 0; a < channels; ++a) {
            if (depthwise && a != c) continue;
            const std::int64_t weights = depthwise ? c : c * channels + a;
            for (std::int64_t r = 0; r < h; ++r)
                for (std::int64_t q = 0; q < w; ++q) {
                    const std::int64_t y = i + r, x = j + q;
                    if (y < 0 || y >= in.height || x < 0 || x >= in.width) continue;
                    sum += value(v[1], (weights * h + r) * w + q) *
                           value(v[0], ((image * in.height + y) * in.width + x) * channels + a);
                }
        }
        return sum;
    }
    Doubles operator()(const In& v) const {
        Doubles y;
        for (std::int64_t b = 0; b < in.images; ++b)
            for (std::int64_t i = -o.padding; i + h <= in.height + o.padding; i += o.stride)
                for (std::int64_t j = -o.padding; j + w <= in.width + o.padding; j += o.stride)
                    for (std::int64_t c = 0; c < out; ++c) {
                        const double z = window(v, b, i, j, c);
                        y.push_back(o.act == Act::tanh ? std::tanh(z) : z);
                    }
        return y;
    }
};

TEST(Conv2dRows, PatchesAndOverlappingWindows) {
    Rng rng(3);
    const Grid grid{2, 7, 5};
    const std::int64_t kernels[][5] = {{3, 2, 2, 2, 0}, {3, 3, 3, 1, 1}, {4, 3, 2, 2, 1},
                                       {1, 1, 1, 1, 0}, {2, 7, 7, 4, 3}, {3, 3, 3, 5, 2},
                                       {2, 2, 3, 3, 0}};
    for (const auto& [in, kh, kw, stride, padding] : kernels)
        for (const Act act : {Act::none, Act::tanh}) {
            SCOPED_TRACE(text_of(in, ": ", kh, " x ", kw, " stride ", stride, " pad ", padding));
            const Conv2dOptions o{.stride = stride, .padding = padding, .act = act};
            const std::int64_t out = 4;
            check_op(
                {.inputs = {random_tensor({grid.rows(), in}, rng, 0.5),
                            random_tensor({out, in, kh, kw}, rng, 0.5), random_tensor({out}, rng)},
                 .op =
                     [&](const Inputs& x) {
                         const Tensor y = conv2d(x[0], grid, x[1], x[2], o);
                         EXPECT_EQ(y.rows(),
                                   conv2d_grid(grid, x[1].shape()[2], x[1].shape()[3], o).rows());
                         return y;
                     },
                 .reference = Naive{grid, in, out, kh, kw, o},
                 .max_checked = 60});
        }
}

// More lines than fit into one block of windows: the blocks' seams change nothing.
TEST(Conv2dRows, ManyBlocksOfLines) {
    Rng rng(4);
    const Grid grid{2, 40, 64};
    const Conv2dOptions o{.padding = 1};
    check_op(
        {.inputs = {random_tensor({grid.rows(), 16}, rng), random_tensor({3, 16, 3, 3}, rng, 0.1)},
         .op = [&](const Inputs& x) { return conv2d(x[0], grid, x[1], {}, o); },
         .reference = Naive{grid, 16, 3, 3, 3, o},
         .max_checked = 2});
}

TEST(Conv2dRows, APictureAloneHasTheSameBits) {
    Rng rng(5);
    const Tensor x = random_tensor({2 * 30, 7}, rng), w = random_tensor({9, 7, 3, 3}, rng);
    const Conv2dOptions o{.stride = 2, .padding = 1};
    const Tensor all = conv2d(x, {2, 6, 5}, w, {}, o);
    const Tensor second =
        conv2d(Tensor::of({30, 7}, x.span().subspan(30 * 7)), {1, 6, 5}, w, {}, o);
    EXPECT_EQ(std::memcmp(all.data() + 9 * 9, second.data(), 9 * 9 * 4), 0);
}

TEST(Conv2dRows, NamesGoWithThePictures) {
    Tensor x = Tensor::zeros({2 * 16, 3});
    x.set_row_names(Segments::of_lengths(std::vector<std::int64_t>{16, 16}, {7, 9}));
    const Tensor y = conv2d(x, {2, 4, 4}, Tensor::zeros({2, 3, 2, 2}), {}, {.stride = 2});
    ASSERT_TRUE(y.row_names());
    EXPECT_EQ(y.row_names()->length(1), 4);
    EXPECT_EQ(y.row_names()->sample(1), 9u);
}

TEST(DepthwiseConv2d, EachChannelByItself) {
    Rng rng(6);
    for (const std::int64_t d : {1, 3, 17, 33})
        for (const std::int64_t k : {1, 3, 5}) {
            SCOPED_TRACE(text_of("d ", d, " k ", k));
            const Grid grid{2, 4, 3};
            check_op(
                {.inputs = {random_tensor({grid.rows(), d}, rng), random_tensor({d, 1, k, k}, rng),
                            random_tensor({d}, rng)},
                 .op = [&](const Inputs& x) { return depthwise_conv2d(x[0], grid, x[1], x[2]); },
                 .reference = Naive{grid, d, d, k, k, {.padding = k / 2}, true},
                 .max_checked = 60});
        }
}

TEST(DepthwiseConv2d, APictureAloneHasTheSameBits) {
    Rng rng(7);
    const Tensor x = random_tensor({2 * 30, 21}, rng), w = random_tensor({21, 1, 3, 3}, rng);
    const Tensor all = depthwise_conv2d(x, {2, 6, 5}, w, {});
    const Tensor second =
        depthwise_conv2d(Tensor::of({30, 21}, x.span().subspan(30 * 21)), {1, 6, 5}, w, {});
    EXPECT_EQ(std::memcmp(all.data() + 30 * 21, second.data(), 30 * 21 * 4), 0);
}

// Without a tape the packed weight is kept: another version, or the same tensor as a plain matrix,
// must not be taken for it.
TEST(Conv2d, AKeptWeightIsThatOfItsVersionAndShape) {
    Rng rng(21);
    Tensor w = random_tensor({5, 4, 3, 3}, rng);
    const Tensor x = random_tensor({2 * 6 * 7, 4}, rng), rows = random_tensor({3, 36}, rng);
    const Grid grid{2, 6, 7};
    const Tensor first = conv2d(x, grid, w, {}, {.padding = 1});
    const Tensor matrix = linear(rows, w.reshaped({5, 36}));
    EXPECT_TRUE(same_bits(conv2d(x, grid, w, {}, {.padding = 1}), first));
    EXPECT_TRUE(same_bits(linear(rows, Tensor::of({5, 36}, w.span())), matrix));
    w.write()[7] += 1;
    const Tensor fresh = Tensor::of(w.shape(), w.span());
    const Tensor second = conv2d(x, grid, w, {}, {.padding = 1});
    EXPECT_FALSE(same_bits(second, first));
    EXPECT_TRUE(same_bits(second, conv2d(x, grid, fresh, {}, {.padding = 1})));
}

}  // namespace
}  // namespace fovea
