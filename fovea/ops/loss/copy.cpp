#include "fovea/ops/loss/copy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "fovea/autograd/tape.h"
#include "fovea/base/threads.h"
#include "fovea/ops/arguments.h"

namespace fovea {
namespace {

constexpr double least_probability = 1e-30;

void check_copy(const char* op, const CopyChoice& c) {
    expect_f32(op, "scores", c.scores.values);
    expect(c.scores.values.size() == c.scores.segments.total(), op, ": ", c.scores.values.size(),
           " scores but their rows have ", c.scores.segments.total());
    expect(static_cast<std::int64_t>(c.tokens.size()) == c.scores.segments.total(), op, ": ",
           c.scores.segments.total(), " scores but ", c.tokens.size(), " tokens");
    expect(c.written.empty() == c.gate.empty(), op, ": written words and their gate go together");
    if (c.written.empty()) return;
    expect_f32(op, "written", c.written);
    expect_f32(op, "gate", c.gate);
    expect(c.written.rows() == c.scores.rows() && c.gate.size() == c.scores.rows(), op, ": ",
           c.scores.rows(), " rows of scores but written is ", c.written.shape(), " and gate ",
           c.gate.shape());
}

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

// softmax of a row's scores, in double, in order.
std::vector<double> weights_of(std::span<const float> scores) {
    std::vector<double> a(scores.begin(), scores.end());
    double m = -std::numeric_limits<double>::infinity(), sum = 0;
    for (const double s : a) m = std::max(m, s);
    for (double& s : a) sum += s = std::exp(s - m);
    for (double& s : a) s /= sum;
    return a;
}

std::span<const std::int32_t> tokens_of_row(const CopyChoice& c, std::int64_t row) {
    return std::span(c.tokens).subspan(static_cast<std::size_t>(c.scores.segments.begin(row)),
                                       static_cast<std::size_t>(c.scores.segments.length(row)));
}

// What backward needs of a row.
struct CopyRow {
    double gate = 0;     // g
    double written = 0;  // P_written(label)
    double copied = 0;   // Σ a_j over the places of the label
    double p = 0;
    double smooth = 0;  // −mean log P_written

    bool possible() const { return p > least_probability; }
};

CopyRow row_of(const CopyChoice& c, std::int64_t i, std::int32_t label, bool smoothed) {
    CopyRow r;
    if (!c.written.empty()) {
        r.gate = sigmoid_of(c.gate.data()[i]);
        if (label < c.written.cols()) r.written = std::exp(double{c.written.at(i, label)});
        for (std::int64_t j = 0; smoothed && j < c.written.cols(); ++j)
            r.smooth -= c.written.at(i, j) / static_cast<double>(c.written.cols());
    }
    const std::vector<double> a = weights_of(c.scores.row(i));
    const auto tokens = tokens_of_row(c, i);
    for (std::size_t j = 0; j < a.size(); ++j)
        if (tokens[j] == label) r.copied += a[j];
    r.p = r.gate * r.written + (1 - r.gate) * r.copied;
    return r;
}

template <class Body>
void each_row(std::int64_t rows, Body&& body) {
    parallel_for(rows, 16, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) body(i);
    });
}

// Where a row's gradients go; any may be missing.
struct CopyGradients {
    Tensor written, gate, scores;
};

// How much of a row's loss is the label's, and how much that of all words alike.
struct CopyShares {
    double label, all;
};

void row_backward(const CopyChoice& c, std::int64_t i, std::int32_t label, const CopyRow& r,
                  const CopyShares& dy, CopyGradients& to) {
    const double sharp = r.possible() ? -dy.label / r.p : 0;
    const std::vector<double> a = weights_of(c.scores.row(i));
    const auto tokens = tokens_of_row(c, i);
    float* ds = to.scores.write() + c.scores.segments.begin(i);
    for (std::size_t j = 0; j < a.size(); ++j)
        ds[j] = static_cast<float>(sharp * (1 - r.gate) * a[j] *
                                   ((tokens[j] == label ? 1.0 : 0.0) - r.copied));
    if (c.written.empty()) return;
    to.gate.write()[i] = static_cast<float>(sharp * (r.written - r.copied) * r.gate * (1 - r.gate));
    const std::int64_t v = c.written.cols();
    float* dw = to.written.write() + i * v;
    std::fill_n(dw, v, static_cast<float>(-dy.all / static_cast<double>(v)));
    if (label < v) dw[label] += static_cast<float>(sharp * r.gate * r.written);
}

}  // namespace

//   P = g p_w + (1 − g) p_c      p_w = exp(written[label])   p_c = Σ_{j: token_j = label} a_j
//   loss = −(1 − ε) log P − ε mean written
//   dwritten[label] = −(1 − ε) g p_w / P      dgate = −(1 − ε)(p_w − p_c) g (1 − g) / P
//   dscores_j = −(1 − ε)(1 − g) a_j (1(token_j = label) − p_c) / P
//   written [rows, V]   gate [rows, 1]   scores, tokens: ragged by row   labels [rows]
Tensor copy_loss(const CopyChoice& choice, const Ids& labels, const CrossEntropyOptions& options) {
    check_copy("copy_loss", choice);
    const std::int64_t n = choice.scores.rows();
    const std::vector<float> factors = detail::row_factors(
        "copy_loss", n, std::numeric_limits<std::int32_t>::max(), labels, options);
    const double smoothing = choice.written.empty() ? 0 : options.smoothing;
    const auto rows = std::make_shared<std::vector<CopyRow>>(static_cast<std::size_t>(n));
    Tensor losses({n});
    float* out = losses.write();
    each_row(n, [&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        out[i] = 0;
        if (labels[at] == options.ignore) return;
        const CopyRow r = (*rows)[at] = row_of(choice, i, labels[at], smoothing > 0);
        out[i] = static_cast<float>(-(1 - smoothing) * std::log(std::max(r.p, least_probability)) +
                                    smoothing * r.smooth);
    });
    const Tensor y = detail::reduced(losses, factors, options.reduction);

    return record(
        y, {choice.written, choice.gate, choice.scores.values},
        [choice, labels, options, smoothing, rows, factors](const Tensor& dy, Gradients& d) {
            const CopyChoice& c = choice;
            CopyGradients to;
            to.scores = Tensor::zeros(c.scores.values.shape());
            if (!c.written.empty()) {
                to.written = Tensor::zeros(c.written.shape());
                to.gate = Tensor::zeros(c.gate.shape());
                to.written.write(), to.gate.write();
            }
            for (std::int64_t i = 0; i < c.scores.rows(); ++i) {
                const auto at = static_cast<std::size_t>(i);
                if (labels[at] == options.ignore) continue;
                const double dl = double{factors[at]} * dy.data()[dy.size() == 1 ? 0 : i];
                row_backward(c, i, labels[at], (*rows)[at], {dl * (1 - smoothing), dl * smoothing},
                             to);
            }
            if (d.wants(c.scores.values)) d.add(c.scores.values, to.scores);
            if (c.written.empty()) return;
            if (d.wants(c.written)) d.add(c.written, to.written);
            if (d.wants(c.gate)) d.add(c.gate, to.gate);
        });
}

Tensor copy_log_probs(const CopyChoice& choice, std::int64_t columns) {
    check_copy("copy_log_probs", choice);
    const std::int64_t v = choice.written.empty() ? 0 : choice.written.cols();
    expect(columns >= v, "copy_log_probs: ", columns, " columns for ", v, " written words");
    for (const std::int32_t t : choice.tokens)
        expect(t >= 0 && t < columns, "copy_log_probs: token ", t, " but ", columns, " columns");
    Tensor y({choice.scores.rows(), columns});
    float* out = y.write();
    each_row(choice.scores.rows(), [&](std::int64_t i) {
        float* row = out + i * columns;
        std::fill_n(row, columns, static_cast<float>(std::log(least_probability)));
        double g = 0;
        if (v > 0) {
            g = sigmoid_of(choice.gate.data()[i]);
            const auto log_g = static_cast<float>(std::log(g));
            for (std::int64_t j = 0; j < v; ++j)
                row[j] = std::max(row[j], choice.written.at(i, j) + log_g);
        }
        const std::vector<double> a = weights_of(choice.scores.row(i));
        const auto tokens = tokens_of_row(choice, i);
        for (std::size_t j = 0; j < a.size(); ++j) {
            float& p = row[tokens[j]];
            p = static_cast<float>(std::log(std::exp(double{p}) + (1 - g) * a[j]));
        }
    });
    return y;
}

}  // namespace fovea
