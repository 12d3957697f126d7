#include "fovea/kernels/negative_sampling.h"

#include <algorithm>
#include <cassert>

#include "fovea/base/checked.h"
#include "fovea/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/negative_sampling.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/simd_math-inl.h"

#ifndef FOVEA_KERNELS_NEGATIVE_SAMPLING_JOB_
#define FOVEA_KERNELS_NEGATIVE_SAMPLING_JOB_
namespace fovea::kernels {

// What a step is told, with the places for what its parts hand on.
struct SamplingJob {
    WordTables tables;
    WordRows rows;
    const WordSampler* sampler;
    NegativeSamplingWork work;
    NegativeSamplingKernel::Unit* units;
    float *sums, *hidden, *gradients, *spread;  // by position, window, window, position
    const std::int32_t* first_window;           // of those that a position may be in
    std::int32_t reach;                         // from a centre to the farthest of its window

    std::span<const std::int32_t> rows_at(std::int32_t position) const {
        const auto w = static_cast<std::size_t>(work.words[static_cast<std::size_t>(position)]);
        return rows.rows.subspan(static_cast<std::size_t>(rows.begin[w]),
                                 static_cast<std::size_t>(rows.begin[w + 1] - rows.begin[w]));
    }
};

// splitmix64 (Steele et al. 2014), begun from the seed and the window's name.
struct WindowDraws {
    std::uint64_t state;
    WindowDraws(std::uint64_t seed, std::uint64_t name)
        : state(seed * 0x9e3779b97f4a7c15u ^ (name + 1) * 0xd1342543de82ef95u) {}
    std::uint64_t next() {
        std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
};

}  // namespace fovea::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

HWY_INLINE void PrefetchRow(const float* row, std::int64_t dim) {
#if defined(__GNUC__)
    for (std::int64_t j = 0; j < dim; j += 16) __builtin_prefetch(row + j, 1, 2);
#endif
}

// y += scale · x
HWY_INLINE void AddScaledRow(const float* x, float scale, float* y, std::int64_t n) {
    const F16 s = Set16(scale);
    std::int64_t j = 0;
    for (; j + 16 <= n; j += 16) Store16(Fma16(s, Load16(x + j), Load16(y + j)), y + j);
    if (j < n)
        StoreSome16(Fma16(s, LoadSome16(x + j, n - j), LoadSome16(y + j, n - j)), y + j, n - j);
}

HWY_INLINE float DotOfRows(const float* x, const float* y, std::int64_t n) {
    F16 even = Zero16(), odd = Zero16();
    std::int64_t j = 0;
    for (; j + 32 <= n; j += 32) {
        even = Fma16(Load16(x + j), Load16(y + j), even);
        odd = Fma16(Load16(x + j + 16), Load16(y + j + 16), odd);
    }
    if (j + 16 <= n) {
        even = Fma16(Load16(x + j), Load16(y + j), even);
        j += 16;
    }
    if (j < n) odd = Fma16(LoadSome16(x + j, n - j), LoadSome16(y + j, n - j), odd);
    return Sum16(Add16(even, odd));
}

// Σ of the rows of a word.
HWY_INLINE void SumOfRows(const SamplingJob& job, std::span<const std::int32_t> rows, float* to) {
    const std::int64_t dim = job.tables.dim;
    std::fill_n(to, dim, 0.0f);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i + 4 < rows.size()) PrefetchRow(job.tables.input + rows[i + 4] * dim, dim);
        AddScaledRow(job.tables.input + rows[i] * dim, 1.0f, to, dim);
    }
}

void sampling_sums(const SamplingJob& job, std::int64_t index) {
    constexpr std::int64_t unit = NegativeSamplingKernel::unit;
    const auto positions = static_cast<std::int64_t>(job.work.words.size());
    for (std::int64_t p = index * unit; p < std::min(positions, (index + 1) * unit); ++p)
        SumOfRows(job, job.rows_at(static_cast<std::int32_t>(p)), job.sums + p * job.tables.dim);
}

// h of a window: the mean over all rows of its bag.
HWY_INLINE void HiddenOfWindow(const SamplingJob& job, const WordWindow& w, float* h) {
    const std::int64_t dim = job.tables.dim;
    std::size_t rows = 0;
    if (job.work.skip_gram) {
        const auto own = job.rows_at(w.center);
        SumOfRows(job, own, h);
        rows = own.size();
    } else {
        std::fill_n(h, dim, 0.0f);
        for (std::int32_t p = w.begin; p < w.end; ++p) {
            if (p == w.center) continue;
            AddScaledRow(job.sums + p * dim, 1.0f, h, dim);
            rows += job.rows_at(p).size();
        }
    }
    const F16 share = Set16(1.0f / static_cast<float>(rows));
    std::int64_t j = 0;
    for (; j + 16 <= dim; j += 16) Store16(Mul16(share, Load16(h + j)), h + j);
    if (j < dim) StoreSome16(Mul16(share, LoadSome16(h + j, dim - j)), h + j, dim - j);
}

// The words that a window tells, the true ones first, and drawn ones: for each true word as many,
// none of them that word itself.
HWY_INLINE std::size_t TargetsOfWindow(const SamplingJob& job, const WordWindow& w,
                                       std::vector<std::int32_t>& targets) {
    targets.clear();
    const auto& words = job.work.words;
    if (job.work.skip_gram) {
        for (std::int32_t p = w.begin; p < w.end; ++p)
            if (p != w.center) targets.push_back(words[static_cast<std::size_t>(p)]);
    } else {
        targets.push_back(words[static_cast<std::size_t>(w.center)]);
    }
    const std::size_t told = targets.size();
    WindowDraws draws(job.work.seed, w.name);
    for (std::size_t t = 0; t < told; ++t)
        for (int k = 0; k < job.work.negatives; ++k) {
            std::int32_t drawn = job.sampler->draw(draws.next());
            for (int again = 0; drawn == targets[t] && again < 32; ++again)
                drawn = job.sampler->draw(draws.next());
            targets.push_back(drawn);
        }
    return told;
}

// scores → α, and the loss: softplus(−s) of a true word, softplus(s) of a drawn one.
HWY_INLINE void StepsOfScores(float* scores, const float* labels, std::size_t count, float rate,
                              float* losses) {
    const hn::ScalableTag<float> d;
    const auto lanes = hn::Lanes(d);
    for (std::size_t i = 0; i < count; i += lanes) {
        const auto here = static_cast<std::int64_t>(std::min(lanes, count - i));
        const auto s = LoadSome(d, scores + i, here), y = LoadSome(d, labels + i, here);
        const auto sign = Fma(hn::Set(d, 2.0f), y, hn::Set(d, -1.0f));
        const auto right = Sigmoid(d, hn::Mul(sign, s)),
                   wrong = Sigmoid(d, hn::Neg(hn::Mul(sign, s)));
        StoreSome(hn::Mul(hn::Mul(hn::Set(d, rate), sign), wrong), d, scores + i, here);
        StoreSome(Log(d, hn::Max(right, hn::Set(d, 1e-30f))), d, losses + i, here);
    }
}

void sampling_windows(const SamplingJob& job, std::int64_t index) {
    using Kernel = NegativeSamplingKernel;
    Kernel::Unit& unit = job.units[index];
    const std::int64_t dim = job.tables.dim;
    const auto count = static_cast<std::int64_t>(job.work.windows.size());
    for (std::int64_t i = index * Kernel::unit; i < std::min(count, (index + 1) * Kernel::unit);
         ++i) {
        const WordWindow& w = job.work.windows[static_cast<std::size_t>(i)];
        float* h = job.hidden + i * dim;
        const std::size_t told = TargetsOfWindow(job, w, unit.targets);
        const std::size_t all = unit.targets.size();
        for (const std::int32_t t : unit.targets) PrefetchRow(job.tables.output + t * dim, dim);
        HiddenOfWindow(job, w, h);
        unit.scores.resize(2 * all);
        unit.labels.assign(all, 0.0f);
        std::fill_n(unit.labels.begin(), told, 1.0f);
        for (std::size_t t = 0; t < all; ++t)
            unit.scores[t] = DotOfRows(h, job.tables.output + unit.targets[t] * dim, dim);
        float* losses = unit.scores.data() + all;
        StepsOfScores(unit.scores.data(), unit.labels.data(), all, job.work.rate, losses);
        float* g = job.gradients + i * dim;
        std::fill_n(g, dim, 0.0f);
        for (std::size_t t = 0; t < all; ++t) {
            const std::int32_t row = unit.targets[t];
            AddScaledRow(job.tables.output + row * dim, unit.scores[t], g, dim);
            unit.output[row % Kernel::shards].push_back(
                {row, static_cast<std::int32_t>(i), unit.scores[t]});
            unit.loss.sum -= static_cast<double>(losses[t]);
        }
        unit.loss.pairs += static_cast<std::int64_t>(told);
        if (!job.work.skip_gram) continue;
        for (const std::int32_t row : job.rows_at(w.center))
            unit.input[row % Kernel::shards].push_back({row, static_cast<std::int32_t>(i), 1.0f});
    }
}

// CBOW: what a position's rows gain is the sum over the windows that it is in.
void sampling_spread(const SamplingJob& job, std::int64_t index) {
    using Kernel = NegativeSamplingKernel;
    Kernel::Unit& unit = job.units[index];
    const std::int64_t dim = job.tables.dim;
    const auto positions = static_cast<std::int64_t>(job.work.words.size());
    const auto windows = static_cast<std::int64_t>(job.work.windows.size());
    for (std::int64_t p = index * Kernel::unit; p < std::min(positions, (index + 1) * Kernel::unit);
         ++p) {
        float* g = job.spread + p * dim;
        std::fill_n(g, dim, 0.0f);
        bool any = false;
        for (std::int64_t i = job.first_window[p]; i < windows; ++i) {
            const WordWindow& w = job.work.windows[static_cast<std::size_t>(i)];
            if (w.center > p + job.reach) break;
            if (w.begin > p || w.end <= p || w.center == p) continue;
            AddScaledRow(job.gradients + i * dim, 1.0f, g, dim);
            any = true;
        }
        if (!any) continue;
        for (const std::int32_t row : job.rows_at(static_cast<std::int32_t>(p)))
            unit.input[row % Kernel::shards].push_back({row, static_cast<std::int32_t>(p), 1.0f});
    }
}

void sampling_apply(const std::vector<NegativeSamplingKernel::Entry>& entries, const float* sources,
                    float* table, std::int64_t dim) {
    const std::size_t ahead = 8;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (i + ahead < entries.size()) PrefetchRow(table + entries[i + ahead].row * dim, dim);
        const auto& e = entries[i];
        AddScaledRow(sources + e.source * dim, e.scale, table + e.row * dim, dim);
    }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {
HWY_EXPORT(sampling_sums);
HWY_EXPORT(sampling_windows);
HWY_EXPORT(sampling_spread);
HWY_EXPORT(sampling_apply);

}  // namespace

WordSampler::WordSampler(std::span<const double> weights)
    : keep_(weights.size()), other_(weights.size()) {
    double sum = 0;
    for (const double w : weights) sum += w;
    const auto n = static_cast<double>(weights.size());
    std::vector<double> share(weights.size());
    std::vector<std::size_t> small, large;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        share[i] = weights[i] * n / sum;
        (share[i] < 1 ? small : large).push_back(i);
    }
    const auto set = [&](std::size_t i, double part, std::size_t other) {
        keep_[i] = static_cast<std::uint32_t>(std::min(part, 1.0) * 4294967295.0);
        other_[i] = static_cast<std::uint32_t>(other);
    };
    while (!small.empty() && !large.empty()) {
        const std::size_t s = small.back(), l = large.back();
        small.pop_back();
        set(s, share[s], l);
        share[l] -= 1 - share[s];
        if (share[l] >= 1) continue;
        large.pop_back();
        small.push_back(l);
    }
    for (const std::size_t i : large) set(i, 1, i);
    for (const std::size_t i : small) set(i, 1, i);  // left by rounding
}

void NegativeSamplingKernel::make_room(std::int64_t count) {
    if (units_.size() < static_cast<std::size_t>(count))
        units_.resize(static_cast<std::size_t>(count));
    for (Unit& one : units_) {
        for (auto& list : one.output) list.clear();
        for (auto& list : one.input) list.clear();
        one.loss = {};
    }
}

// Which windows a position may be in: their centres rise.
std::int32_t NegativeSamplingKernel::find_windows(const NegativeSamplingWork& work) {
    std::int32_t reach = 0;
    for (const WordWindow& w : work.windows)
        reach = std::max({reach, w.center - w.begin, w.end - 1 - w.center});
    first_window_.resize(work.words.size());
    std::size_t next = 0;
    for (std::size_t p = 0; p < work.words.size(); ++p) {
        while (next < work.windows.size() &&
               work.windows[next].center + reach < static_cast<std::int32_t>(p))
            ++next;
        first_window_[p] = static_cast<std::int32_t>(next);
    }
    return reach;
}

NegativeSamplingLoss NegativeSamplingKernel::step(const WordTables& tables, const WordRows& rows,
                                                  const WordSampler& sampler,
                                                  const NegativeSamplingWork& work) {
    const auto positions = static_cast<std::int64_t>(work.words.size());
    const auto windows = static_cast<std::int64_t>(work.windows.size());
    const std::int64_t count = ceil_div(std::max(windows, work.skip_gram ? 0 : positions), unit);
    make_room(count);
    const auto room = [&](std::vector<float>& v, std::int64_t n) {
        v.resize(std::max(v.size(), static_cast<std::size_t>(n * tables.dim)));
        return v.data();
    };
    SamplingJob job{tables,  rows,    &sampler, work, units_.data(), nullptr, nullptr,
                    nullptr, nullptr, nullptr,  0};
    job.hidden = room(hidden_, windows);
    job.gradients = room(gradients_, windows);
    const auto each_unit = [&](std::int64_t n, auto piece) {
        parallel_for(ceil_div(n, unit), 1, [&](std::int64_t b, std::int64_t e) {
            for (; b < e; ++b) piece(job, b);
        });
    };
    if (!work.skip_gram) {
        job.sums = room(sums_, positions);
        job.spread = room(spread_, positions);
        job.reach = find_windows(work);
        job.first_window = first_window_.data();
        each_unit(positions, FOVEA_DISPATCH(sampling_sums));
    }
    each_unit(windows, FOVEA_DISPATCH(sampling_windows));
    if (!work.skip_gram) each_unit(positions, FOVEA_DISPATCH(sampling_spread));

    const float* gained = work.skip_gram ? job.gradients : job.spread;
    const auto apply = FOVEA_DISPATCH(sampling_apply);
    parallel_for(2 * shards, 1, [&](std::int64_t b, std::int64_t e) {
        for (; b < e; ++b)
            for (std::int64_t u = 0; u < count; ++u) {
                const Unit& one = units_[static_cast<std::size_t>(u)];
                if (b < shards)
                    apply(one.output[b], job.hidden, tables.output, tables.dim);
                else
                    apply(one.input[b - shards], gained, tables.input, tables.dim);
            }
    });
    NegativeSamplingLoss loss;
    for (const Unit& one : units_) {
        loss.sum += one.loss.sum;
        loss.pairs += one.loss.pairs;
    }
    return loss;
}

}  // namespace fovea::kernels
#endif
