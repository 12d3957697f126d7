#include "fovea/ops/attention/score_example.h"

namespace fovea {
namespace {

const ExampleOf<Additive> example({
    .name = "Additive",
    .rounds = false,
    .parameters =
        [](const ScoreSizes& s, const RowNumbers&) {
            Rng rng(3);
            return std::vector<Tensor>{random_tensor({s.heads * s.dk}, rng)};
        },
    .make = [](const std::vector<Tensor>& p, const ScoreSizes&, const RowNumbers&) -> Score {
        return Additive{.w = p[0]};
    },
    .formula =
        [](NaiveAttention& naive, const ScoreSizes&, const RowNumbers&) {
            naive.score = [naive](const std::vector<Doubles>& x, int h, std::int64_t i,
                                  std::int64_t j, std::int64_t) {
                double sum = 0;
                for (std::int64_t e = 0; e < naive.dk; ++e) {
                    const auto at = [&](std::int64_t row) {
                        return static_cast<std::size_t>((row * naive.heads + h) * naive.dk + e);
                    };
                    sum += x[3][at(0)] * std::tanh(x[0][at(i)] + x[1][at(j)]);
                }
                return sum;
            };
        },
});

}  // namespace
}  // namespace fovea
