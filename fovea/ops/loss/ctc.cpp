#include "fovea/ops/loss/ctc.h"

#include <algorithm>
#include <cmath>

#include "fovea/autograd/tape.h"
#include "fovea/kernels/ctc.h"
#include "fovea/ops/arguments.h"

namespace fovea {
namespace {

kernels::CtcProblem ctc_problem(const Tensor& logits, const Segments& frames, const Ids& labels,
                                const Segments& targets, std::int32_t blank) {
    return {.logits = logits,
            .frames = frames.offsets(),
            .labels = labels,
            .label_offsets = targets.offsets(),
            .blank = blank};
}

void check_ctc(const Tensor& logits, const Segments& frames, const Ids& labels,
               const Segments& targets, std::int32_t blank) {
    expect_f32("ctc_loss", "logits", logits);
    expect(logits.cols() > 0, "ctc_loss: there are no classes");
    expect(logits.rows() == frames.total(), "ctc_loss: logits are ", logits.shape(),
           " but the segments have ", frames.total(), " frames");
    expect(static_cast<std::int64_t>(labels.size()) == targets.total(), "ctc_loss: ", labels.size(),
           " labels but segments for ", targets.total());
    expect(frames.count() == targets.count(), "ctc_loss: ", frames.count(),
           " sequences of frames but ", targets.count(), " of labels");
    expect(blank >= 0 && blank < logits.cols(), "ctc_loss: the blank is class ", blank, " of ",
           logits.cols());
    for (std::size_t i = 0; i < labels.size(); ++i)
        expect(labels[i] >= 0 && labels[i] < logits.cols() && labels[i] != blank,
               "ctc_loss: label ", labels[i], " at ", i, " is the blank or none of the ",
               logits.cols(), " classes");
}

std::vector<float> ctc_factors(const Segments& targets, Reduction reduction) {
    std::vector<float> factors(static_cast<std::size_t>(targets.count()), 1.0f);
    if (reduction != Reduction::mean) return factors;
    for (std::int64_t s = 0; s < targets.count(); ++s)
        factors[static_cast<std::size_t>(s)] = static_cast<float>(
            1.0 / (static_cast<double>(std::max<std::int64_t>(1, targets.length(s))) *
                   static_cast<double>(targets.count())));
    return factors;
}

}  // namespace

//   p(labels) = Σ over paths that become the labels when repeats and then blanks are removed,
//               of Π_t softmax(x_t)[path_t]        loss = −log p(labels)
//   dx_t[k] = softmax(x_t)[k] − p(path_t = k | labels)
//   x [frames, classes]   y [1] or [sequences]
Tensor ctc_loss(const Tensor& logits, const Segments& frames, const Ids& labels,
                const Segments& targets, const CtcOptions& options) {
    check_ctc(logits, frames, labels, targets, options.blank);

    std::vector<double> losses(static_cast<std::size_t>(frames.count()));
    kernels::ctc_losses(ctc_problem(logits, frames, labels, targets, options.blank), losses.data());
    const std::vector<float> factors = ctc_factors(targets, options.reduction);
    Tensor each({frames.count()});
    float* to = each.write();
    for (std::size_t s = 0; s < losses.size(); ++s)
        to[s] = std::isinf(losses[s]) ? 0.0f : static_cast<float>(losses[s]);
    const Tensor y = detail::reduced(each, factors, options.reduction);

    return record(y, {logits}, [=](const Tensor& dy, Gradients& d) {
        if (!d.wants(logits)) return;
        std::vector<float> f = factors;
        for (std::size_t s = 0; s < f.size(); ++s) f[s] *= dy.data()[dy.size() == 1 ? 0 : s];
        const Into dx = d.into(logits);
        kernels::ctc_backward(ctc_problem(logits, frames, labels, targets, options.blank),
                              losses.data(), f.data(), dx.view, dx.add);
    });
}

std::int64_t ctc_frames_needed(std::span<const std::int32_t> labels) {
    auto needed = static_cast<std::int64_t>(labels.size());
    for (std::size_t i = 1; i < labels.size(); ++i) needed += labels[i] == labels[i - 1];
    return needed;
}

}  // namespace fovea
