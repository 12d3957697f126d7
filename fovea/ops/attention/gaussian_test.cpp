#include "fovea/ops/attention/score_example.h"

namespace fovea {
namespace {

constexpr float kSigma = 2.5f;

// A row's centre lies somewhere in the first fifty keys, by its number.
const ExampleOf<Gaussian> example({
    .name = "Gaussian",
    .rounds = false,
    .gradient_tolerance = 5e-4,  // dp and its mean meet g at different places of their sums
    .parameters =
        [](const ScoreSizes& s, const RowNumbers& rows) {
            std::vector<float> centres;
            for (const std::int64_t row : rows.q)
                for (int h = 0; h < s.heads; ++h)
                    centres.push_back(static_cast<float>((row * 7 + h * 3) % 50) * 0.83f);
            return std::vector<Tensor>{
                Tensor::of({static_cast<std::int64_t>(rows.q.size()), s.heads}, centres)};
        },
    .make = [](const std::vector<Tensor>& p, const ScoreSizes&, const RowNumbers&) -> Score {
        return Gaussian{.centres = p[0], .sigma = kSigma};
    },
    .formula =
        [](NaiveAttention& naive, const ScoreSizes& s, const RowNumbers&) {
            naive.factor = [s](const std::vector<Doubles>& x, int h, std::int64_t i,
                               std::int64_t index) {
                const double u =
                    (static_cast<double>(index) - x[3][static_cast<std::size_t>(i * s.heads + h)]) /
                    static_cast<double>(kSigma);
                return std::exp(-0.5 * u * u);
            };
        },
});

TEST(Gaussian, AroundPredictedCentres) {
    Rng rng(11);
    const Segments q = Segments::of_lengths({1, 3, 0, 50}), k = Segments::of_lengths({2, 70, 3, 5});
    check_example(example,
                  around(q, k, std::vector<float>(static_cast<std::size_t>(q.total()), 2.3f), 4),
                  {}, rng);
}

}  // namespace
}  // namespace fovea
