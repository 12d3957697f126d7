#include "fovea/infer/ctc_decode.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr double no_way = -std::numeric_limits<double>::infinity();

std::vector<double> log_softmax_of(ConstView logits) {
    std::vector<double> p(static_cast<std::size_t>(logits.size()));
    for (std::int64_t t = 0; t < logits.rows; ++t) {
        const float* x = logits.data + t * logits.cols;
        const auto top = static_cast<double>(*std::max_element(x, x + logits.cols));
        double sum = 0;
        for (std::int64_t k = 0; k < logits.cols; ++k)
            sum += std::exp(static_cast<double>(x[k]) - top);
        const double all = top + std::log(sum);
        for (std::int64_t k = 0; k < logits.cols; ++k)
            p[static_cast<std::size_t>(t * logits.cols + k)] = static_cast<double>(x[k]) - all;
    }
    return p;
}

double joined_log(double a, double b) {
    if (a < b) std::swap(a, b);
    return b == no_way ? a : a + std::log1p(std::exp(b - a));
}

// Paths of a prefix by what they end in.
struct PrefixScore {
    double blank = no_way, unit = no_way;
    double whole() const { return joined_log(blank, unit); }
};
using Prefixes = std::map<Ids, PrefixScore>;  // in order: ties are broken by it, the same each time

void keep_best(Prefixes& prefixes, std::size_t width) {
    if (prefixes.size() <= width) return;
    std::vector<double> scores;
    for (const auto& [prefix, score] : prefixes) scores.push_back(score.whole());
    std::nth_element(scores.begin(), scores.begin() + static_cast<std::ptrdiff_t>(width) - 1,
                     scores.end(), std::greater<>());
    const double least = scores[width - 1];
    std::erase_if(prefixes, [&](const auto& p) { return p.second.whole() < least; });
    while (prefixes.size() > width) {  // ties at the edge
        auto last = std::find_if(prefixes.rbegin(), prefixes.rend(),
                                 [&](const auto& p) { return p.second.whole() == least; });
        prefixes.erase(std::next(last).base());
    }
}

}  // namespace

CtcHypothesis ctc_greedy(ConstView logits, std::int32_t blank) {
    CtcHypothesis h;
    const std::vector<double> p = log_softmax_of(logits);
    std::int32_t before = blank;
    for (std::int64_t t = 0; t < logits.rows; ++t) {
        const float* x = logits.data + t * logits.cols;
        const auto best = static_cast<std::int32_t>(std::max_element(x, x + logits.cols) - x);
        if (best != blank && best != before) h.units.push_back(best);
        h.score += p[static_cast<std::size_t>(t * logits.cols + best)];
        before = best;
    }
    return h;
}

std::vector<CtcHypothesis> ctc_beam(ConstView logits, int width, std::int32_t blank) {
    expect(width > 0, "ctc_beam: a beam of ", width);
    const std::vector<double> p = log_softmax_of(logits);
    constexpr double unlikely = -14;  // units below e^-14 begin nothing new
    Prefixes now{{Ids{}, PrefixScore{0, no_way}}};
    for (std::int64_t t = 0; t < logits.rows; ++t) {
        const double* row = p.data() + t * logits.cols;
        Prefixes next;
        for (const auto& [prefix, score] : now) {
            const double whole = score.whole();
            PrefixScore& same = next[prefix];
            same.blank = joined_log(same.blank, whole + row[blank]);
            const std::int32_t last = prefix.empty() ? blank : prefix.back();
            if (last != blank) same.unit = joined_log(same.unit, score.unit + row[last]);
            Ids longer = prefix;
            longer.push_back(0);
            for (std::int32_t k = 0; k < static_cast<std::int32_t>(logits.cols); ++k) {
                if (k == blank || row[k] < unlikely) continue;
                longer.back() = k;
                PrefixScore& grown = next[longer];
                grown.unit = joined_log(grown.unit, (k == last ? score.blank : whole) + row[k]);
            }
        }
        keep_best(next, static_cast<std::size_t>(width));
        now = std::move(next);
    }
    std::vector<CtcHypothesis> found;
    for (const auto& [prefix, score] : now) found.push_back({prefix, score.whole()});
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.score > b.score; });
    return found;
}

std::vector<UnitFrames> ctc_align(ConstView logits, std::span<const std::int32_t> units,
                                  std::int32_t blank) {
    const std::int64_t frames = logits.rows,
                       states = 2 * static_cast<std::int64_t>(units.size()) + 1;
    if (frames == 0 || units.empty()) return {};
    const std::vector<double> p = log_softmax_of(logits);
    const auto unit = [&](std::int64_t s) {
        return s % 2 ? units[static_cast<std::size_t>(s / 2)] : blank;
    };
    const auto at = [&](std::int64_t t, std::int64_t s) {
        return static_cast<std::size_t>(t * states + s);
    };
    std::vector<double> best(static_cast<std::size_t>(frames * states), no_way);
    std::vector<std::int8_t> step(best.size(), 0);  // how many states back the path came from
    for (std::int64_t t = 0; t < frames; ++t)
        for (std::int64_t s = 0; s < states; ++s) {
            double from = t == 0 && s < 2 ? 0 : no_way;
            for (std::int64_t k = 0; t > 0 && k <= std::min<std::int64_t>(2, s); ++k) {
                if (k == 2 && (s % 2 == 0 || unit(s) == unit(s - 2))) continue;
                if (best[at(t - 1, s - k)] > from) {
                    from = best[at(t - 1, s - k)];
                    step[at(t, s)] = static_cast<std::int8_t>(k);
                }
            }
            best[at(t, s)] = from + p[static_cast<std::size_t>(t * logits.cols + unit(s))];
        }
    std::int64_t s = states - 1;
    if (best[at(frames - 1, s - 1)] > best[at(frames - 1, s)]) --s;
    if (best[at(frames - 1, s)] == no_way) return {};
    std::vector<UnitFrames> out(units.size());
    for (std::int64_t t = frames - 1; t >= 0; s -= step[at(t, s)], --t) {
        if (s % 2 == 0) continue;
        UnitFrames& u = out[static_cast<std::size_t>(s / 2)];
        if (u.end == 0) u.end = t + 1;
        u.begin = t;
        u.probability += std::exp(p[static_cast<std::size_t>(t * logits.cols + unit(s))]);
    }
    for (UnitFrames& u : out) u.probability /= static_cast<double>(u.end - u.begin);
    return out;
}

}  // namespace fovea
