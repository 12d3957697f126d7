#include "fovea/ops/loss/coverage.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "fovea/autograd/tape.h"
#include "fovea/base/threads.h"
#include "fovea/ops/arguments.h"

namespace fovea {
namespace {

// Softmax of n scores, in double, in order.
void soften_row(const float* s, std::int64_t n, double* a) {
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::int64_t j = 0; j < n; ++j) most = std::max(most, double{s[j]});
    for (std::int64_t j = 0; j < n; ++j) sum += a[j] = std::exp(s[j] - most);
    for (std::int64_t j = 0; j < n; ++j) a[j] /= sum;
}

void check_ragged(const char* op, const Ragged& scores) {
    expect_f32(op, "scores", scores.values);
    expect(scores.values.size() == scores.segments.total(), op, ": ", scores.values.size(),
           " scores but their rows have ", scores.segments.total());
}

// The weights of one target [rows, places], row after row.
struct TargetWeights {
    TargetWeights(const Ragged& scores, const Segments& targets, std::int64_t target)
        : rows(targets.length(target)),
          places(rows == 0 ? 0 : scores.segments.length(targets.begin(target))),
          a(static_cast<std::size_t>(rows * places)) {
        for (std::int64_t t = 0; t < rows; ++t)
            soften_row(scores.row(targets.begin(target) + t).data(), places, row(t));
    }
    double* row(std::int64_t t) { return a.data() + t * places; }

    std::int64_t rows, places;
    std::vector<double> a;
};

// c^t is what the rows before had: adds row t to c afterwards.
template <class Visit>
void for_rows_covered(TargetWeights& w, Visit&& visit) {
    std::vector<double> c(static_cast<std::size_t>(w.places), 0.0);
    for (std::int64_t t = 0; t < w.rows; ++t) {
        visit(t, c);
        for (std::int64_t j = 0; j < w.places; ++j) c[static_cast<std::size_t>(j)] += w.row(t)[j];
    }
}

double covered_again(TargetWeights& w) {
    double sum = 0;
    for_rows_covered(w, [&](std::int64_t t, const std::vector<double>& c) {
        for (std::int64_t j = 0; j < w.places; ++j)
            sum += std::min(w.row(t)[j], c[static_cast<std::size_t>(j)]);
    });
    return sum;
}

// da_j^t = 1(a_j^t < c_j^t) + Σ_{t' > t} 1(c_j^{t'} ≤ a_j^{t'}), times dy; and through the softmax.
void covered_backward(TargetWeights& w, double dy, float* ds) {
    const auto at = [&](std::int64_t t, std::int64_t j) {
        return static_cast<std::size_t>(t * w.places + j);
    };
    std::vector<double> da(w.a.size());
    for_rows_covered(w, [&](std::int64_t t, const std::vector<double>& c) {
        for (std::int64_t j = 0; j < w.places; ++j)
            da[at(t, j)] = w.row(t)[j] < c[static_cast<std::size_t>(j)] ? 1 : 0;
    });
    std::vector<double> later(static_cast<std::size_t>(w.places), 0.0);
    for (std::int64_t t = w.rows; t-- > 0;) {
        double mean = 0;
        for (std::int64_t j = 0; j < w.places; ++j) {
            double& d = da[at(t, j)];
            const bool own = d > 0;
            d = dy * (d + later[static_cast<std::size_t>(j)]);
            if (!own) later[static_cast<std::size_t>(j)] += 1;
            mean += w.row(t)[j] * d;
        }
        for (std::int64_t j = 0; j < w.places; ++j)
            ds[at(t, j)] = static_cast<float>(w.row(t)[j] * (da[at(t, j)] - mean));
    }
}

}  // namespace

//   a = exp(s) / Σ exp(s) in each row      ds = a ∘ (da − Σ a∘da)
Ragged ragged_softmax(const Ragged& scores) {
    check_ragged("ragged_softmax", scores);
    Tensor y(scores.values.shape());
    float* out = y.write();
    const auto for_rows = [](const Segments& rows, const auto& body) {
        parallel_for(rows.count(), 16, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) body(rows.begin(i), rows.length(i));
        });
    };
    for_rows(scores.segments, [&](std::int64_t first, std::int64_t n) {
        std::vector<double> a(static_cast<std::size_t>(n));
        soften_row(scores.values.data() + first, n, a.data());
        for (std::int64_t j = 0; j < n; ++j)
            out[first + j] = static_cast<float>(a[static_cast<std::size_t>(j)]);
    });
    const Tensor x = scores.values, weights = y;
    y = record(y, {x},
               [x, weights, rows = scores.segments, for_rows](const Tensor& dy, Gradients& d) {
                   Tensor ds(x.shape());
                   float* to = ds.write();
                   for_rows(rows, [&](std::int64_t first, std::int64_t n) {
                       const float *a = weights.data() + first, *g = dy.data() + first;
                       double mean = 0;
                       for (std::int64_t j = 0; j < n; ++j) mean += double{a[j]} * g[j];
                       for (std::int64_t j = 0; j < n; ++j)
                           to[first + j] = static_cast<float>(a[j] * (g[j] - mean));
                   });
                   d.add(x, ds);
               });
    return {y, scores.segments};
}

//   loss = 1/rows Σ_t Σ_j min(a_j^t, c_j^t)      c^t = Σ_{t'<t} a^{t'}
//   da_j^t = [a_j^t < c_j^t] + Σ_{t'>t} [c_j^{t'} ≤ a_j^{t'}]      ds = a ∘ (da − Σ a∘da)
Tensor coverage_loss(const Ragged& scores, const Segments& targets) {
    check_ragged("coverage_loss", scores);
    expect(scores.rows() == targets.total(), "coverage_loss: ", scores.rows(),
           " rows of scores but targets of ", targets.total());
    for (std::int64_t i = 0; i < targets.count(); ++i)
        for (std::int64_t r = targets.begin(i); r < targets.end(i); ++r)
            expect(scores.segments.length(r) == scores.segments.length(targets.begin(i)),
                   "coverage_loss: row ", r, " sees ", scores.segments.length(r),
                   " places, but the first of its target ",
                   scores.segments.length(targets.begin(i)));
    std::vector<double> sums(static_cast<std::size_t>(targets.count()));
    parallel_for(targets.count(), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            TargetWeights w(scores, targets, i);
            sums[static_cast<std::size_t>(i)] = covered_again(w);
        }
    });
    const double rows = static_cast<double>(std::max<std::int64_t>(1, targets.total()));
    double sum = 0;
    for (const double s : sums) sum += s;
    Tensor y({1});
    y.write()[0] = static_cast<float>(sum / rows);
    return record(y, {scores.values}, [scores, targets, rows](const Tensor& dy, Gradients& d) {
        Tensor ds(scores.values.shape());
        float* to = ds.write();
        parallel_for(targets.count(), 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                if (targets.length(i) == 0) continue;
                TargetWeights w(scores, targets, i);
                covered_backward(w, dy.item() / rows, to + scores.segments.begin(targets.begin(i)));
            }
        });
        d.add(scores.values, ds);
    });
}

}  // namespace fovea
