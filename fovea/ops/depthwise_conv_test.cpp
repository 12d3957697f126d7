#include "fovea/ops/depthwise_conv.h"

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

using Inputs = std::vector<Tensor>;
using In = std::vector<Doubles>;

Doubles naive_depthwise(const In& v, const Segments& s, std::int64_t d, std::int64_t k) {
    Doubles y;
    for (std::int64_t q = 0; q < s.count(); ++q)
        for (std::int64_t i = 0; i < s.length(q); ++i)
            for (std::int64_t c = 0; c < d; ++c) {
                double sum = v.size() > 2 ? v[2][static_cast<std::size_t>(c)] : 0;
                for (std::int64_t t = 0; t < k; ++t) {
                    const std::int64_t at = i + t - k / 2;
                    if (at >= 0 && at < s.length(q))
                        sum += v[1][static_cast<std::size_t>(c * k + t)] *
                               v[0][static_cast<std::size_t>((s.begin(q) + at) * d + c)];
                }
                y.push_back(sum);
            }
    return y;
}

TEST(DepthwiseConv1d, SequencesKeepTheirLengthAndDoNotSeeEachOther) {
    Rng rng(1);
    const Segments s = Segments::of_lengths({5, 0, 1, 9, 2});
    for (const std::int64_t d : {1, 3, 17, 33})
        for (const std::int64_t k : {1, 3, 7}) {
            SCOPED_TRACE(text_of("d ", d, " k ", k));
            check_op({.inputs = {random_tensor({17, d}, rng), random_tensor({d, 1, k}, rng),
                                 random_tensor({d}, rng)},
                      .op = [&](const Inputs& x) { return depthwise_conv1d(x[0], s, x[1], x[2]); },
                      .reference = [&](const In& v) { return naive_depthwise(v, s, d, k); }});
        }
}

TEST(DepthwiseConv1d, WithoutABias) {
    Rng rng(2);
    const Segments s = Segments::of_lengths({6, 3});
    check_op({.inputs = {random_tensor({9, 16}, rng), random_tensor({16, 1, 5}, rng)},
              .op = [&](const Inputs& x) { return depthwise_conv1d(x[0], s, x[1], {}); },
              .reference = [&](const In& v) { return naive_depthwise(v, s, 16, 5); }});
}

TEST(DepthwiseConv1d, ASequenceAloneHasTheSameBits) {
    Rng rng(3);
    const Tensor x = random_tensor({12, 21}, rng), w = random_tensor({21, 1, 5}, rng),
                 b = random_tensor({21}, rng);
    const Tensor all = depthwise_conv1d(x, Segments::of_lengths({4, 8}), w, b);
    const Tensor alone = depthwise_conv1d(Tensor::of({8, 21}, x.span().subspan(4 * 21)),
                                          Segments::of_lengths({8}), w, b);
    EXPECT_EQ(std::memcmp(all.data() + 4 * 21, alone.data(), 8 * 21 * 4), 0);
}

}  // namespace
}  // namespace fovea
