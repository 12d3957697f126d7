#include "fovea/ops/conv.h"

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

using Inputs = std::vector<Tensor>;
using In = std::vector<Doubles>;

Doubles naive_conv1d(const In& v, const Segments& s, std::int64_t in, std::int64_t out,
                     std::int64_t k, const Conv1dOptions& o) {
    Doubles y;
    for (std::int64_t q = 0; q < s.count(); ++q)
        for (std::int64_t p = -o.padding; p + k <= s.length(q) + o.padding; p += o.stride)
            for (std::int64_t c = 0; c < out; ++c) {
                double sum = v[2][static_cast<std::size_t>(c)];
                for (std::int64_t i = 0; i < in; ++i)
                    for (std::int64_t t = 0; t < k; ++t)
                        if (p + t >= 0 && p + t < s.length(q))
                            sum += v[1][static_cast<std::size_t>((c * in + i) * k + t)] *
                                   v[0][static_cast<std::size_t>((s.begin(q) + p + t) * in + i)];
                y.push_back(sum);
            }
    return y;
}

TEST(Conv1d, SequencesDoNotSeeEachOther) {
    Rng rng(1);
    const Segments s = Segments::of_lengths({5, 0, 1, 9});
    const std::int64_t in = 3, out = 4;
    for (const std::int64_t k : {1, 3, 4})
        for (const Conv1dOptions& o :
             {Conv1dOptions{}, Conv1dOptions{.padding = 1},
              Conv1dOptions{.stride = 2, .padding = 2}, Conv1dOptions{.stride = 5}}) {
            SCOPED_TRACE(text_of("k ", k, " stride ", o.stride, " padding ", o.padding));
            check_op({.inputs = {random_tensor({15, in}, rng), random_tensor({out, in, k}, rng),
                                 random_tensor({out}, rng)},
                      .op =
                          [&](const Inputs& x) {
                              const Tensor y = conv1d(x[0], s, x[1], x[2], o);
                              EXPECT_EQ(y.rows(), conv1d_segments(s, k, o).total());
                              return y;
                          },
                      .reference = [&](const In& v) { return naive_conv1d(v, s, in, out, k, o); }});
        }
}

TEST(Conv1d, ASequenceAloneHasTheSameBits) {
    Rng rng(2);
    const Tensor x = random_tensor({12, 5}, rng), w = random_tensor({7, 5, 3}, rng);
    const Tensor all = conv1d(x, Segments::of_lengths({4, 8}), w, {}, {.padding = 1});
    const Tensor alone = conv1d(Tensor::of({8, 5}, x.span().subspan(20)), Segments::of_lengths({8}),
                                w, {}, {.padding = 1});
    EXPECT_EQ(std::memcmp(all.data() + 4 * 7, alone.data(), 8 * 7 * 4), 0);
}

TEST(Conv2d, PatchesAndOverlappingWindows) {
    Rng rng(3);
    const std::int64_t n = 2, in = 3, height = 7, width = 5, out = 4;
    const std::int64_t kernels[][4] = {{2, 2, 2, 0}, {3, 3, 1, 1}, {3, 2, 2, 1}, {1, 1, 1, 0}};
    for (const auto& [kh, kw, stride, padding] : kernels) {
        SCOPED_TRACE(text_of(kh, " x ", kw, " stride ", stride, " padding ", padding));
        const Conv2dOptions o{.stride = stride, .padding = padding};
        check_op({.inputs = {random_tensor({n, in, height, width}, rng),
                             random_tensor({out, in, kh, kw}, rng), random_tensor({out}, rng)},
                  .op = [&](const Inputs& x) { return conv2d(x[0], x[1], x[2], o); },
                  .reference =
                      [&, kh = kh, kw = kw](const In& v) {
                          Doubles y;
                          for (std::int64_t b = 0; b < n; ++b)
                              for (std::int64_t i = -o.padding; i + kh <= height + o.padding;
                                   i += o.stride)
                                  for (std::int64_t j = -o.padding; j + kw <= width + o.padding;
                                       j += o.stride)
                                      for (std::int64_t c = 0; c < out; ++c) {
                                          double sum = v[2][static_cast<std::size_t>(c)];
                                          for (std::int64_t a = 0; a < in; ++a)
                                              for (std::int64_t r = 0; r < kh; ++r)
                                                  for (std::int64_t q = 0; q < kw; ++q) {
                                                      const std::int64_t yy = i + r, xx = j + q;
                                                      if (yy < 0 || yy >= height || xx < 0 ||
                                                          xx >= width)
                                                          continue;
                                                      sum +=
                                                          v[1][static_cast<std::size_t>(
                                                              ((c * in + a) * kh + r) * kw + q)] *
                                                          v[0][static_cast<std::size_t>(
                                                              ((b * in + a) * height + yy) * width +
                                                              xx)];
                                                  }
                                          y.push_back(sum);
                                      }
                          return y;
                      },
                  .max_checked = 80});
    }
}

}  // namespace
}  // namespace fovea
