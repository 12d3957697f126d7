#include "fovea/kernels/ctc.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "fovea/base/threads.h"

namespace fovea::kernels {
namespace {

constexpr double impossible = -std::numeric_limits<double>::infinity();

double log_sum(double a, double b) {
    if (a < b) std::swap(a, b);
    return b == impossible ? a : a + std::log1p(std::exp(b - a));
}

// One sequence: states are blank, label₁, blank, label₂, … blank (Graves et al., §4.1).
class CtcLattice {
public:
    CtcLattice(const CtcProblem& p, std::size_t s) : blank_(p.blank), classes_(p.logits.cols) {
        const auto begin = p.label_offsets[s], end = p.label_offsets[s + 1];
        labels_ = p.labels.subspan(static_cast<std::size_t>(begin),
                                   static_cast<std::size_t>(end - begin));
        first_ = p.frames[s];
        frames_ = p.frames[s + 1] - first_;
        states_ = 2 * static_cast<std::int64_t>(labels_.size()) + 1;
        logits_ = p.logits.data + first_ * classes_;
        log_sums_.resize(static_cast<std::size_t>(frames_));
        for (std::int64_t t = 0; t < frames_; ++t) {
            const float* x = logits_ + t * classes_;
            const double top = static_cast<double>(*std::max_element(x, x + classes_));
            double sum = 0;
            for (std::int64_t k = 0; k < classes_; ++k)
                sum += std::exp(static_cast<double>(x[k]) - top);
            log_sums_[static_cast<std::size_t>(t)] = top + std::log(sum);
        }
    }

    std::int64_t first() const { return first_; }
    std::int64_t frames() const { return frames_; }

    std::int32_t label(std::int64_t state) const {
        return state % 2 == 0 ? blank_ : labels_[static_cast<std::size_t>(state / 2)];
    }
    double log_p(std::int64_t t, std::int32_t k) const {
        return static_cast<double>(logits_[t * classes_ + k]) -
               log_sums_[static_cast<std::size_t>(t)];
    }
    // A label may follow another one at once, without a blank between, unless they are the same.
    bool skips(std::int64_t state) const {
        return state % 2 == 1 && state >= 2 && label(state) != label(state - 2);
    }

    // eq. 6-7: α_t(s), all prefixes that end in state s at frame t, frame t included.
    void run_forward() {
        alpha_.assign(static_cast<std::size_t>(frames_ * states_), impossible);
        for (std::int64_t t = 0; t < frames_; ++t)
            for (std::int64_t s = 0; s < states_; ++s) {
                double before = t == 0 && s < 2 ? 0 : impossible;
                if (t > 0) {
                    before = alpha(t - 1, s);
                    if (s >= 1) before = log_sum(before, alpha(t - 1, s - 1));
                    if (skips(s)) before = log_sum(before, alpha(t - 1, s - 2));
                }
                alpha(t, s) = before + log_p(t, label(s));
            }
    }

    double loss() const {  // eq. 8
        if (frames_ == 0) return labels_.empty() ? 0 : -impossible;
        double p = alpha_[static_cast<std::size_t>(frames_ * states_ - 1)];
        if (states_ > 1) p = log_sum(p, alpha_[static_cast<std::size_t>(frames_ * states_ - 2)]);
        return -p;
    }

    // eq. 9-11, 16: dx = p − Σ over the states of a class of α β / p(labels). β without frame t.
    template <class Give>
    void run_backward(double loss, Give&& give) {
        std::vector<double> beta(static_cast<std::size_t>(states_), impossible), next(beta);
        std::vector<double> seen(static_cast<std::size_t>(classes_));
        const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
        for (std::int64_t t = frames_ - 1; t >= 0; --t) {
            for (std::int64_t s = 0; s < states_; ++s) {
                double after = t == frames_ - 1 && s >= states_ - 2 ? 0 : impossible;
                if (t < frames_ - 1) {
                    after = next[at(s)];
                    if (s + 1 < states_) after = log_sum(after, next[at(s + 1)]);
                    if (s + 2 < states_ && skips(s + 2)) after = log_sum(after, next[at(s + 2)]);
                }
                beta[at(s)] = after;
            }
            std::fill(seen.begin(), seen.end(), 0.0);
            for (std::int64_t s = 0; s < states_; ++s) {
                seen[at(label(s))] += std::exp(alpha(t, s) + beta[at(s)] + loss);
                next[at(s)] = beta[at(s)] + log_p(t, label(s));
            }
            for (std::int32_t k = 0; k < static_cast<std::int32_t>(classes_); ++k)
                give(t, k, std::exp(log_p(t, k)) - seen[at(k)]);
        }
    }

private:
    double& alpha(std::int64_t t, std::int64_t s) {
        return alpha_[static_cast<std::size_t>(t * states_ + s)];
    }

    std::int32_t blank_;
    std::int64_t classes_, first_ = 0, frames_ = 0, states_ = 1;
    std::span<const std::int32_t> labels_;
    const float* logits_ = nullptr;
    std::vector<double> log_sums_, alpha_;
};

}  // namespace

void ctc_losses(const CtcProblem& p, double* losses) {
    parallel_for(static_cast<std::int64_t>(p.frames.size()) - 1, 1, [&](auto begin, auto end) {
        for (std::int64_t s = begin; s < end; ++s) {
            CtcLattice lattice(p, static_cast<std::size_t>(s));
            lattice.run_forward();
            losses[s] = lattice.loss();
        }
    });
}

void ctc_backward(const CtcProblem& p, const double* losses, const float* factors, View to,
                  bool add) {
    parallel_for(static_cast<std::int64_t>(p.frames.size()) - 1, 1, [&](auto begin, auto end) {
        for (std::int64_t s = begin; s < end; ++s) {
            CtcLattice lattice(p, static_cast<std::size_t>(s));
            float* rows = to.data + lattice.first() * to.cols;
            if (!add) std::fill_n(rows, lattice.frames() * to.cols, 0.0f);
            if (!std::isfinite(losses[s])) continue;
            lattice.run_forward();
            const auto factor = static_cast<double>(factors[s]);
            lattice.run_backward(losses[s], [&](std::int64_t t, std::int32_t k, double d) {
                float& g = rows[t * to.cols + k];
                g += static_cast<float>(factor * d);
            });
        }
    });
}

}  // namespace fovea::kernels
