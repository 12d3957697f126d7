#include "fovea/nn/reinforce.h"

#include "fovea/base/philox.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/ops/softmax.h"
#include "fovea/ops/without_gradient.h"

namespace fovea {

Ids draw_places(const Tensor& scores, std::uint64_t key) {
    Tensor p;
    without_gradient([&] { p = softmax(scores); });
    Ids drawn;
    for (std::int64_t r = 0; r < p.rows(); ++r) {
        const PhiloxBlock block =
            philox({static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(r >> 32), 0, 0}, key);
        double left = (block[0] + 0.5) * 0x1p-32;
        std::int32_t j = 0;
        for (; j + 1 < p.cols() && left >= p.at(r, j); ++j) left -= p.at(r, j);
        drawn.push_back(j);
    }
    return drawn;
}

// cross_entropy is −log p_j, so that its gradient times −(f_j − b) is ĝ.
Tensor Reinforce::surrogate(const Tensor& scores, const Ids& drawn,
                            std::span<const double> judged) {
    expect(!judged.empty() && judged.size() == drawn.size() &&
               static_cast<std::int64_t>(drawn.size()) == scores.rows(),
           "reinforce: ", judged.size(), " judgements and ", drawn.size(), " draws for ",
           scores.rows(), " rows");
    std::vector<float> advantage;
    double mean = 0;
    for (const double f : judged) {
        advantage.push_back(static_cast<float>(f - baseline_));
        mean += f / static_cast<double>(judged.size());
    }
    if (with_baseline_) baseline_ = begun_ ? beta_ * baseline_ + (1 - beta_) * mean : mean;
    begun_ = true;
    return (-1.0f / static_cast<float>(judged.size())) *
           cross_entropy(scores, drawn, {.weights = advantage, .reduction = Reduction::sum});
}

}  // namespace fovea
