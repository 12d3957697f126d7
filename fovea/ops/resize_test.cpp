#include "fovea/ops/resize.h"

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

// PyTorch's rule, written out: the centre of an output pixel, measured in input pixels.
Doubles naive_resize(const Doubles& x, const Grid& g, std::int64_t d, std::int64_t height,
                     std::int64_t width) {
    const auto place = [](std::int64_t o, std::int64_t in, std::int64_t out) {
        const double at = std::max(0.0, (static_cast<double>(o) + 0.5) * static_cast<double>(in) /
                                                static_cast<double>(out) -
                                            0.5);
        const auto low = static_cast<std::int64_t>(at);
        return std::tuple{low, std::min(low + 1, in - 1), at - static_cast<double>(low)};
    };
    Doubles y;
    for (std::int64_t n = 0; n < g.images; ++n)
        for (std::int64_t i = 0; i < height; ++i)
            for (std::int64_t j = 0; j < width; ++j)
                for (std::int64_t c = 0; c < d; ++c) {
                    const auto [r0, r1, fr] = place(i, g.height, height);
                    const auto [c0, c1, fc] = place(j, g.width, width);
                    const auto at = [&](std::int64_t r, std::int64_t q) {
                        return x[static_cast<std::size_t>(((n * g.height + r) * g.width + q) * d +
                                                          c)];
                    };
                    y.push_back((1 - fr) * ((1 - fc) * at(r0, c0) + fc * at(r0, c1)) +
                                fr * ((1 - fc) * at(r1, c0) + fc * at(r1, c1)));
                }
    return y;
}

TEST(ResizeBilinear, UpAndDownAsPyTorchDoes) {
    Rng rng(1);
    const Grid grid{2, 4, 3};
    const std::int64_t sizes[][2] = {{8, 6}, {16, 12}, {7, 5}, {2, 2}, {1, 1}, {4, 9}};
    for (const auto& [h, w] : sizes)
        for (const std::int64_t d : {1, 3, 17, 33}) {
            SCOPED_TRACE(text_of(h, " x ", w, " of ", d));
            check_op({.inputs = {random_tensor({grid.rows(), d}, rng)},
                      .op =
                          [&, h = h, w = w](const std::vector<Tensor>& x) {
                              return resize_bilinear(x[0], grid, h, w);
                          },
                      .reference =
                          [&, h = h, w = w](const std::vector<Doubles>& v) {
                              return naive_resize(v[0], grid, d, h, w);
                          },
                      .max_checked = 60});
        }
}

// torch.nn.functional.interpolate(torch.tensor([[[[1., 2.], [4., 8.]]]]), size=(3, 4),
// mode="bilinear", align_corners=False)
TEST(ResizeBilinear, NumbersOfPyTorch) {
    const Tensor y = resize_bilinear(Tensor::of({4, 1}, {1, 2, 4, 8}), {1, 2, 2}, 3, 4);
    const float want[] = {1, 1.25f, 1.75f, 2, 2.5f, 3.125f, 4.375f, 5, 4, 5, 7, 8};
    for (int i = 0; i < 12; ++i) EXPECT_FLOAT_EQ(y.data()[i], want[i]) << i;
}

TEST(ResizeBilinear, TheSameSizeIsTheSameTensor) {
    const Tensor x = Tensor::zeros({12, 2});
    EXPECT_EQ(resize_bilinear(x, {1, 4, 3}, 4, 3).id(), x.id());
}

}  // namespace
}  // namespace fovea
