// Several labels for each text; and how far probabilities are to be believed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "fovea/base/error.h"
#include "fovea/metrics/classification.h"
#include "fovea/metrics/signature.h"

namespace fovea {
namespace {

struct LabelCounts {
    std::int64_t right = 0, predicted = 0, wanted = 0;

    LabelScore score() const {
        const auto share = [](std::int64_t part, std::int64_t whole) {
            return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
        };
        return {share(right, predicted), share(right, wanted), share(2 * right, predicted + wanted),
                wanted};
    }
};

Json percents_of(const LabelScore& s) {
    return {{"precision", 100 * s.precision},
            {"recall", 100 * s.recall},
            {"f1", 100 * s.f1},
            {"support", s.support}};
}

}  // namespace

MultiLabelScore multi_label_score(std::span<const LabelSet> predicted,
                                  std::span<const LabelSet> wanted) {
    expect_input(predicted.size() == wanted.size(), "classification: ", predicted.size(),
                 " predictions but ", wanted.size(), " sets of labels");
    expect_input(!wanted.empty(), "classification: there is nothing to score");
    std::map<std::string, LabelCounts> counts;
    std::int64_t same = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const std::set<std::string> p(predicted[i].begin(), predicted[i].end());
        const std::set<std::string> w(wanted[i].begin(), wanted[i].end());
        same += p == w;
        for (const std::string& label : w) ++counts[label].wanted;
        for (const std::string& label : p) {
            ++counts[label].predicted;
            counts[label].right += static_cast<std::int64_t>(w.count(label));
        }
    }
    MultiLabelScore s;
    LabelCounts all;
    for (const auto& [label, c] : counts) {
        s.names.push_back(label);
        s.labels.push_back(c.score());
        s.macro.precision += s.labels.back().precision;
        s.macro.recall += s.labels.back().recall;
        s.macro.f1 += s.labels.back().f1;
        all.right += c.right;
        all.predicted += c.predicted;
        all.wanted += c.wanted;
    }
    const auto n = static_cast<double>(std::max<std::size_t>(1, counts.size()));
    s.macro = {s.macro.precision / n, s.macro.recall / n, s.macro.f1 / n, all.wanted};
    s.micro = all.score();
    s.accuracy = static_cast<double>(same) / static_cast<double>(wanted.size());
    return s;
}

MetricScore MultiLabelScore::score() const {
    MetricScore out{.name = "micro_f1",
                    .value = 100 * micro.f1,
                    .higher_is_better = true,
                    .signature = fmt::format("labels:{}|{}", names.size(), signature_version),
                    .figures = {{"accuracy", 100 * accuracy},
                                {"micro_f1", 100 * micro.f1},
                                {"micro_precision", 100 * micro.precision},
                                {"micro_recall", 100 * micro.recall},
                                {"macro_f1", 100 * macro.f1},
                                {"macro_precision", 100 * macro.precision},
                                {"macro_recall", 100 * macro.recall}}};
    for (std::size_t k = 0; k < names.size(); ++k)
        out.figures["labels"][names[k]] = percents_of(labels[k]);
    return out;
}

double calibration_error(std::span<const double> probabilities, const std::vector<bool>& right,
                         int bins) {
    expect(probabilities.size() == right.size() && bins > 0, "calibration: ", probabilities.size(),
           " probabilities, ", right.size(), " outcomes, ", bins, " bins");
    const auto n = static_cast<std::size_t>(bins);
    std::vector<double> sums(n), hits(n), counts(n);
    for (std::size_t i = 0; i < right.size(); ++i) {
        std::size_t bin = 0;
        while (bin + 1 < n && probabilities[i] > static_cast<double>(bin + 1) * (1.0 / bins)) ++bin;
        sums[bin] += probabilities[i];
        hits[bin] += right[i] ? 1 : 0;
        counts[bin] += 1;
    }
    double error = 0;
    for (std::size_t b = 0; b < n; ++b)
        if (counts[b] > 0)
            error += counts[b] / static_cast<double>(right.size()) *
                     std::abs(hits[b] / counts[b] - sums[b] / counts[b]);
    return error;
}

double best_threshold(std::span<const double> probabilities, const std::vector<bool>& wanted) {
    expect(probabilities.size() == wanted.size(), "threshold: ", probabilities.size(),
           " probabilities, ", wanted.size(), " labels");
    const auto total = std::count(wanted.begin(), wanted.end(), true);
    if (total == 0) return 0.5;
    std::vector<std::size_t> order(wanted.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return probabilities[a] > probabilities[b]; });
    double best = -1, threshold = 0.5;
    std::int64_t right = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
        right += wanted[order[k]] ? 1 : 0;
        const double here = probabilities[order[k]];
        const double next = k + 1 < order.size() ? probabilities[order[k + 1]] : 0;
        if (k + 1 < order.size() && here == next) continue;  // no threshold parts them
        const double f1 = 2.0 * static_cast<double>(right) /
                          static_cast<double>(static_cast<std::int64_t>(k) + 1 + total);
        if (f1 >= best) best = f1, threshold = (here + next) / 2;
    }
    return threshold;
}

}  // namespace fovea
