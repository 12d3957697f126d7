#include "fovea/kernels/crf.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/base/threads.h"

namespace fovea::kernels {
namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

std::size_t crf_index(std::int64_t i) { return static_cast<std::size_t>(i); }

double highest_of(const double* x, std::int64_t n) {
    double m = never;
    for (std::int64_t i = 0; i < n; ++i)
        if (!(x[i] <= m)) m = x[i];
    return m;
}

double log_sum_of(const double* x, std::int64_t n) {
    const double m = highest_of(x, n);
    if (m == never) return never;
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += std::exp(x[i] - m);
    return m + std::log(sum);
}

// y_j = log Σ_i exp(x_i + scores_ij), as a product of exp(x − max) and exp(scores − max): 2 n
// exponentials and logarithms instead of n².
class LogProduct {
public:
    LogProduct(std::vector<double> scores, std::int64_t n)
        : n_(n), scores_(std::move(scores)), highest_(highest_of(scores_.data(), n * n)) {
        for (const double x : scores_) weights_.push_back(std::exp(x - highest_));
        for (auto* v : {&scaled, &sums, &terms_}) v->resize(crf_index(n));
    }

    void operator()(const double* x, double* y) {
        const double m = highest_of(x, n_);
        for (std::int64_t i = 0; i < n_; ++i) scaled[crf_index(i)] = std::exp(x[i] - m);
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::int64_t i = 0; i < n_; ++i) {
            const double s = scaled[crf_index(i)], *w = row(i);
            for (std::int64_t j = 0; j < n_; ++j) sums[crf_index(j)] += s * w[j];
        }
        for (std::int64_t j = 0; j < n_; ++j)
            y[j] = is_exact(j) ? m + highest_ + std::log(sums[crf_index(j)]) : term_by_term(x, j);
    }

    // Has sum j kept all its terms? So small a one may have lost some to underflow.
    bool is_exact(std::int64_t j) const { return sums[crf_index(j)] > 1e-250; }
    const double* row(std::int64_t i) const { return weights_.data() + i * n_; }

    std::vector<double> scaled, sums;  // of the last call: exp(x − max), Σ_i scaled_i weights_ij

private:
    double term_by_term(const double* x, std::int64_t j) {
        for (std::int64_t i = 0; i < n_; ++i)
            terms_[crf_index(i)] = x[i] + scores_[crf_index(i * n_ + j)];
        return log_sum_of(terms_.data(), n_);
    }

    std::int64_t n_;
    std::vector<double> scores_, weights_, terms_;
    double highest_;
};

std::vector<double> transposed(const std::vector<double>& x, std::int64_t n) {
    std::vector<double> y(x.size());
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) y[crf_index(j * n + i)] = x[crf_index(i * n + j)];
    return y;
}

// Sequences in at most so many runs, by their number alone: each run has sums of its own, which
// are added in order. body(run, first sequence, last).
constexpr std::int64_t most_runs = 16;

std::int64_t sequences_of(const CrfChain& c) {
    return static_cast<std::int64_t>(c.offsets.size()) - 1;
}
std::int64_t runs_of(const CrfChain& c) { return std::min(sequences_of(c), most_runs); }

template <class Body>
void for_each_run(const CrfChain& c, Body&& body) {
    const std::int64_t n = sequences_of(c), runs = runs_of(c);
    parallel_for(runs, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) body(r, n * r / runs, n * (r + 1) / runs);
    });
}

struct CrfSequence {
    std::int64_t begin, end;   // rows
    const double* prefixes;    // [rows, tags] of the whole chain
    const std::int32_t* tags;  // of the whole chain, or null
    double log_sum, factor;
};

// One sequence from its last row to its first.
//   b_t[i] = log Σ exp(score of what follows tag i at row t)
//   p_t[i] = exp(a_t[i] + b_t[i] − log Z)
//   p(i at t, j at t+1) = p_t[i] exp(pairs_ij + e_{t+1}[j] + b_{t+1}[j] − b_t[i])
class BackwardWalk {
public:
    BackwardWalk(const CrfChain& c, const CrfGradients& to)
        : c_(c),
          to_(to),
          n_(c.tags()),
          before_(transposed(c.pairs, n_), n_),
          suffix_(crf_index(n_)),
          next_(crf_index(n_)),
          share_(crf_index(n_)) {}

    // `sums`: pairs, start, end of a run; null where they are not wanted.
    void operator()(const CrfSequence& s, double* sums) {
        suffix_ = c_.end;
        for (std::int64_t t = s.end - 1; t >= s.begin; --t) {
            const bool last = t + 1 == s.end;
            if (!last) {
                for (std::int64_t j = 0; j < n_; ++j)
                    next_[crf_index(j)] = suffix_[crf_index(j)] + c_.emissions.row(t + 1)[j];
                before_(next_.data(), suffix_.data());
            }
            const double* a = s.prefixes + t * n_;
            for (std::int64_t j = 0; j < n_; ++j)
                share_[crf_index(j)] =
                    s.factor * std::exp(a[j] + suffix_[crf_index(j)] - s.log_sum);
            if (sums && t == s.begin) add_end(s, t, sums + n_ * n_);
            if (sums && last) add_end(s, t, sums + n_ * n_ + n_);
            if (sums && !last) add_pairs(s, t, sums);
            if (to_.emissions.data) write_row(s, t);
        }
    }

private:
    void add_end(const CrfSequence& s, std::int64_t t, double* sums) {
        for (std::int64_t j = 0; j < n_; ++j) sums[j] += share_[crf_index(j)];
        if (s.tags) sums[s.tags[t]] -= s.factor;
    }

    void add_pairs(const CrfSequence& s, std::int64_t t, double* sums) {
        for (std::int64_t i = 0; i < n_; ++i) {
            const double share = share_[crf_index(i)];
            if (share == 0) continue;
            double* to = sums + i * n_;
            const double* pairs = c_.pairs.data() + i * n_;
            if (before_.is_exact(i)) {
                const double unit = share / before_.sums[crf_index(i)];
                for (std::int64_t j = 0; j < n_; ++j)
                    to[j] += unit * before_.row(j)[i] * before_.scaled[crf_index(j)];
            } else {
                for (std::int64_t j = 0; j < n_; ++j)
                    to[j] +=
                        share * std::exp(pairs[j] + next_[crf_index(j)] - suffix_[crf_index(i)]);
            }
        }
        if (s.tags) sums[s.tags[t] * n_ + s.tags[t + 1]] -= s.factor;
    }

    void write_row(const CrfSequence& s, std::int64_t t) {
        float* row = to_.emissions.row(t);
        for (std::int64_t j = 0; j < n_; ++j) {
            const bool gold = s.tags && s.tags[t] == j;
            const auto g = static_cast<float>(share_[crf_index(j)] - (gold ? s.factor : 0.0));
            row[j] = to_.add ? row[j] + g : g;
        }
    }

    const CrfChain& c_;
    const CrfGradients& to_;
    std::int64_t n_;
    LogProduct before_;
    std::vector<double> suffix_, next_, share_;
};

}  // namespace

//   a_0 = start + e_0      a_t[j] = e_t[j] + log Σ_i exp(a_{t−1}[i] + pairs_ij)
//   log Z = log Σ_j exp(a_last[j] + end_j)
void crf_forward(const CrfChain& c, double* prefixes, double* log_sums) {
    const std::int64_t n = c.tags();
    for_each_run(c, [&](std::int64_t, std::int64_t first, std::int64_t last) {
        LogProduct after(c.pairs, n);
        std::vector<double> ends(crf_index(n));
        for (std::int64_t s = first; s < last; ++s) {
            const std::int64_t begin = c.offsets[crf_index(s)], end = c.offsets[crf_index(s + 1)];
            log_sums[s] = 0;
            if (begin == end) continue;
            for (std::int64_t t = begin; t < end; ++t) {
                double* a = prefixes + t * n;
                if (t == begin)
                    std::copy(c.start.begin(), c.start.end(), a);
                else
                    after(a - n, a);
                for (std::int64_t j = 0; j < n; ++j) a[j] += c.emissions.row(t)[j];
            }
            const double* a = prefixes + (end - 1) * n;
            for (std::int64_t j = 0; j < n; ++j) ends[crf_index(j)] = a[j] + c.end[crf_index(j)];
            log_sums[s] = log_sum_of(ends.data(), n);
        }
    });
}

void crf_backward(const CrfChain& c, const double* prefixes, const double* log_sums,
                  const std::int32_t* tags, const float* factors, const CrfGradients& to) {
    const std::size_t n = crf_index(c.tags()), wanted = to.pairs ? n * n + 2 * n : 0;
    std::vector<std::vector<double>> sums(crf_index(runs_of(c)), std::vector<double>(wanted));
    for_each_run(c, [&](std::int64_t run, std::int64_t first, std::int64_t last) {
        BackwardWalk walk(c, to);
        for (std::int64_t s = first; s < last; ++s)
            walk({c.offsets[crf_index(s)], c.offsets[crf_index(s + 1)], prefixes, tags, log_sums[s],
                  factors[s]},
                 wanted ? sums[crf_index(run)].data() : nullptr);
    });
    for (const std::vector<double>& run : sums)
        for (std::size_t i = 0; i < wanted; ++i)
            (i < n * n       ? to.pairs[i]
             : i < n * n + n ? to.start[i - n * n]
                             : to.end[i - n * n - n]) += run[i];
}

//   v_0 = start + e_0      v_t[j] = e_t[j] + max_i (v_{t−1}[i] + pairs_ij)
void crf_best_paths(const CrfChain& c, std::int32_t* tags, double* scores) {
    const std::int64_t n = c.tags();
    for_each_run(c, [&](std::int64_t, std::int64_t first, std::int64_t last) {
        std::vector<double> best(crf_index(n)), before;
        std::vector<std::int32_t> from;  // [rows of the sequence, tags]
        for (std::int64_t s = first; s < last; ++s) {
            const std::int64_t begin = c.offsets[crf_index(s)], end = c.offsets[crf_index(s + 1)];
            scores[s] = 0;
            if (begin == end) continue;
            from.assign(crf_index((end - begin) * n), 0);
            best = c.start;
            for (std::int64_t t = begin; t < end; ++t) {
                std::int32_t* back = from.data() + (t - begin) * n;
                if (t > begin) {
                    before = best;
                    std::fill(best.begin(), best.end(), never);
                    for (std::int64_t i = 0; i < n; ++i)
                        for (std::int64_t j = 0; j < n; ++j) {
                            const double x = before[crf_index(i)] + c.pairs[crf_index(i * n + j)];
                            if (x > best[crf_index(j)])
                                best[crf_index(j)] = x, back[j] = static_cast<std::int32_t>(i);
                        }
                }
                for (std::int64_t j = 0; j < n; ++j) best[crf_index(j)] += c.emissions.row(t)[j];
            }
            for (std::int64_t j = 0; j < n; ++j) best[crf_index(j)] += c.end[crf_index(j)];
            const auto top = std::max_element(best.begin(), best.end());
            scores[s] = *top;
            tags[end - 1] = static_cast<std::int32_t>(top - best.begin());
            for (std::int64_t t = end - 1; t > begin; --t)
                tags[t - 1] = from[crf_index((t - begin) * n + tags[t])];
        }
    });
}

void crf_path_scores(const CrfChain& c, const std::int32_t* tags, double* scores) {
    const std::int64_t n = c.tags();
    for (std::int64_t s = 0; s < sequences_of(c); ++s) {
        const std::int64_t begin = c.offsets[crf_index(s)], end = c.offsets[crf_index(s + 1)];
        scores[s] = 0;
        if (begin == end) continue;
        double sum = c.start[crf_index(tags[begin])] + c.end[crf_index(tags[end - 1])];
        for (std::int64_t t = begin; t < end; ++t) {
            sum += c.emissions.row(t)[tags[t]];
            if (t > begin) sum += c.pairs[crf_index(tags[t - 1] * n + tags[t])];
        }
        scores[s] = sum;
    }
}

}  // namespace fovea::kernels
