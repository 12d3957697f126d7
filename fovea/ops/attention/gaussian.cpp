#include <cmath>

#include "fovea/kernels/attention/attention_gaussian.h"
#include "fovea/ops/arguments.h"
#include "fovea/ops/attention/bound_score.h"

namespace fovea {
namespace {

class BoundGaussian final : public BoundScore {
public:
    BoundGaussian(const Tensor& centres, float sigma)
        : BoundScore({centres}), kernel_{.centres = centres, .sigma = sigma} {}

    kernels::AttentionScore kernel() const override { return kernel_; }
    kernels::GradientView row_gradient(Gradients& d) const override {
        const Into into = d.into(parameters().front());
        return {into.view, into.add};
    }
    bool has_factor() const override { return true; }
    float factor(int head, std::int64_t row, std::int64_t index) const override {
        const double x =
            (static_cast<double>(index) - kernel_.centres.row(row)[head]) / kernel_.sigma;
        return static_cast<float>(std::exp(-0.5 * x * x));
    }

private:
    kernels::Gaussian kernel_;
};

}  // namespace

ScoreBinding Gaussian::bind(const ScoreCall& call) const {
    expect_f32(call.where, "centres", centres);
    expect(centres.rows() == call.q.rows() && centres.cols() == call.heads, call.where,
           ": centres are ", centres.shape(), " but must be [", call.q.rows(), ", ", call.heads,
           "]");
    expect(sigma > 0, call.where, ": sigma is ", sigma, " but must be positive");
    return std::make_shared<BoundGaussian>(centres, sigma);
}

}  // namespace fovea
