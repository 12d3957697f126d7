#include "fovea/ops/loss/segment_cross_entropy.h"

#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

using Inputs = std::vector<Tensor>;
using In = std::vector<Doubles>;

Doubles naive_choice(const Doubles& x, const Segments& s, std::int64_t columns, const Ids& labels) {
    double sum = 0;
    int counted = 0;
    for (std::int64_t q = 0; q < s.count(); ++q)
        for (std::int64_t j = 0; j < columns; ++j) {
            const auto at = [&](std::int64_t i) {
                return x[static_cast<std::size_t>((s.begin(q) + i) * columns + j)];
            };
            const std::int32_t label = labels[static_cast<std::size_t>(q * columns + j)];
            if (label < 0) continue;
            double z = 0;
            for (std::int64_t i = 0; i < s.length(q); ++i) z += std::exp(at(i));
            sum += std::log(z) - at(label);
            ++counted;
        }
    return {counted > 0 ? sum / counted : 0};
}

TEST(SegmentCrossEntropy, ARowOfEachSegmentForEachColumn) {
    Rng rng(1);
    const Segments s = Segments::of_lengths({5, 1, 0, 33});
    for (const std::int64_t columns : {1, 2, 3}) {
        Ids labels;
        for (const std::int64_t n : {5, 1, 0, 33})
            for (std::int64_t j = 0; j < columns; ++j)
                labels.push_back(n == 0 ? -1 : static_cast<std::int32_t>((7 * j + 3) % n));
        labels[0] = -100;
        check_op(
            {.inputs = {random_tensor({39, columns}, rng, 3)},
             .op = [&](const Inputs& x) { return segment_cross_entropy(x[0], s, labels); },
             .reference = [&](const In& v) { return naive_choice(v[0], s, columns, labels); }});
    }
}

TEST(SegmentCrossEntropy, SegmentsOfOneLengthAreTheUsualLoss) {
    Rng rng(2);
    const Tensor x = random_tensor({12, 1}, rng);
    const float usual = cross_entropy(x.reshaped({3, 4}), {0, 3, 2}).item();
    EXPECT_NEAR(segment_cross_entropy(x, Segments::uniform(3, 4), {0, 3, 2}).item(), usual, 1e-6);
}

TEST(SegmentCrossEntropy, LargeScoresStayFinite) {
    const Tensor x = Tensor::of({3, 1}, {3e38f, -3e38f, 0});
    EXPECT_EQ(segment_cross_entropy(x, Segments::of_lengths({3}), {0}).item(), 0);
    EXPECT_EQ(segment_cross_entropy(x, Segments::of_lengths({3}), {-1}).item(), 0);
}

}  // namespace
}  // namespace fovea
