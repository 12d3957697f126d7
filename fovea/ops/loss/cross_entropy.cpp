#include "fovea/ops/loss/cross_entropy.h"

#include "fovea/autograd/tape.h"
#include "fovea/kernels/rows/loss.h"
#include "fovea/ops/arguments.h"

namespace fovea {
namespace detail {

std::vector<float> row_factors(const char* op, std::int64_t rows, std::int64_t classes,
                               const Ids& labels, const CrossEntropyOptions& options) {
    const auto n = static_cast<std::size_t>(rows);
    expect(classes > 0, op, ": there are no classes");
    expect(labels.size() == n, op, ": ", rows, " rows of logits but ", labels.size(), " labels");
    expect(options.weights.empty() || options.weights.size() == n, op, ": ", rows,
           " rows of logits but ", options.weights.size(), " weights");
    expect(options.smoothing >= 0 && options.smoothing < 1, op, ": smoothing is ",
           options.smoothing, " but must be in [0, 1)");
    std::vector<float> factors(n);
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (labels[i] == options.ignore) continue;
        expect(labels[i] >= 0 && labels[i] < classes, op, ": label ", labels[i], " of row ", i,
               " is outside of the ", classes, " classes");
        factors[i] = options.weights.empty() ? 1.0f : options.weights[i];
        total += factors[i];
    }
    if (options.reduction == Reduction::mean && total != 0)
        for (float& f : factors) f = static_cast<float>(f / total);
    return factors;
}

Tensor reduced(const Tensor& row_losses, const std::vector<float>& factors, Reduction reduction) {
    const float* loss = row_losses.data();
    if (reduction == Reduction::none) {
        Tensor y({row_losses.size()});
        float* to = y.write();
        for (std::size_t i = 0; i < factors.size(); ++i) to[i] = factors[i] * loss[i];
        return y;
    }
    double sum = 0;
    for (std::size_t i = 0; i < factors.size(); ++i)
        if (factors[i] != 0) sum += static_cast<double>(factors[i]) * loss[i];
    return Tensor::scalar(static_cast<float>(sum));
}

}  // namespace detail

//   p = softmax(x)   l = −Σ_c t_c log p_c,  t = (1 − ε) onehot(label) + ε / classes
//   y = Σ f l  (f = weight / Σ weight, or weight)      dx = dy f (p − t)
//   x [n, classes]   labels [n]   y [1] or [n]
Tensor cross_entropy(const Tensor& logits, const Ids& labels, const CrossEntropyOptions& options) {
    expect_f32("cross_entropy", "logits", logits);
    const std::vector<float> factors =
        detail::row_factors("cross_entropy", logits.rows(), logits.cols(), labels, options);

    const std::int64_t n = logits.rows();
    Tensor stats({n, 2}), losses({n});
    kernels::cross_entropy(logits, labels.data(), options.ignore, options.smoothing,
                           reinterpret_cast<kernels::SoftmaxStats*>(stats.write()), losses.write());
    const Tensor y = detail::reduced(losses, factors, options.reduction);

    return record(y, {logits},
                  [logits, labels, stats, factors, ignore = options.ignore,
                   smoothing = options.smoothing](const Tensor& dy, Gradients& d) {
                      if (!d.wants(logits)) return;
                      std::vector<float> f = factors;  // one dy for all rows, or one for each
                      for (std::size_t i = 0; i < f.size(); ++i)
                          f[i] *= dy.data()[dy.size() == 1 ? 0 : i];
                      const Into dx = d.into(logits);
                      kernels::cross_entropy_backward(
                          logits, labels.data(), ignore, smoothing,
                          reinterpret_cast<const kernels::SoftmaxStats*>(stats.data()), f.data(),
                          dx.view, dx.add);
                  });
}

}  // namespace fovea
