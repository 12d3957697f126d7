#include "fovea/infer/ensemble_stepper.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// log of the mean of the models' probabilities, row by row, in double.
Tensor mean_of_probabilities(const std::vector<Tensor>& logits) {
    if (logits.size() == 1) return logits[0];
    Tensor y(logits[0].shape());
    float* out = y.write();
    const std::int64_t cols = y.cols();
    for (const Tensor& t : logits)
        expect_input(t.shape() == y.shape(), "ensemble: the models give scores of ", y.shape(),
                     " and ", t.shape(), "; they must have one vocabulary");
    for (std::int64_t r = 0; r < y.rows(); ++r) {
        std::vector<double> sum(static_cast<std::size_t>(cols), 0.0);
        for (const Tensor& t : logits) {
            const float* row = t.data() + r * cols;
            const double largest = *std::max_element(row, row + cols);
            double total = 0;
            for (std::int64_t c = 0; c < cols; ++c) total += std::exp(row[c] - largest);
            for (std::int64_t c = 0; c < cols; ++c)
                sum[static_cast<std::size_t>(c)] += std::exp(row[c] - largest) / total;
        }
        for (std::int64_t c = 0; c < cols; ++c)
            out[r * cols + c] = static_cast<float>(
                std::log(sum[static_cast<std::size_t>(c)] / static_cast<double>(logits.size())));
    }
    return y;
}

}  // namespace

EnsembleStepper::EnsembleStepper(std::vector<std::unique_ptr<Stepper>> members)
    : members_(std::move(members)) {
    expect(!members_.empty(), "ensemble: no model");
    const auto ends = members_[0]->end_tokens();
    for (const auto& m : members_) {
        const auto others = m->end_tokens();
        expect_input(std::equal(ends.begin(), ends.end(), others.begin(), others.end()),
                     "ensemble: the models end a text by different tokens");
    }
}

Tensor EnsembleStepper::start(std::span<const Ids> prompts) {
    std::vector<Tensor> logits;
    for (const auto& m : members_) logits.push_back(m->start(prompts));
    return mean_of_probabilities(logits);
}

Tensor EnsembleStepper::step(const Ids& tokens, std::span<const std::int64_t> parents) {
    std::vector<Tensor> logits;
    for (const auto& m : members_) logits.push_back(m->step(tokens, parents));
    return mean_of_probabilities(logits);
}

}  // namespace fovea
