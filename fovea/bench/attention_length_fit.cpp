// How the costs of `fovea bench attention` grow with the length.
#include <fmt/core.h>

#include <cmath>
#include <map>

#include "fovea/base/error.h"
#include "fovea/bench/attention_length.h"

namespace fovea::bench {
namespace {

struct FitLine {
    double intercept, slope;
};

FitLine least_squares(const std::vector<double>& x, const std::vector<double>& y) {
    const auto n = static_cast<double>(x.size());
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        mean_x += x[i] / n;
        mean_y += y[i] / n;
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    return {mean_y - xy / xx * mean_x, xy / xx};
}

std::vector<double> logarithms(std::vector<double> values) {
    for (double& v : values) v = std::log(v);
    return values;
}

}  // namespace

LengthFit fit_of(const std::vector<double>& lengths, const std::vector<double>& costs) {
    expect(lengths.size() == costs.size() && lengths.size() >= 3, "fit: ", lengths.size(),
           " lengths and ", costs.size(), " costs");
    const FitLine line = least_squares(lengths, costs);
    double mean = 0, total = 0, left = 0;
    for (const double y : costs) mean += y / static_cast<double>(costs.size());
    for (std::size_t i = 0; i < costs.size(); ++i) {
        total += (costs[i] - mean) * (costs[i] - mean);
        left += std::pow(costs[i] - line.intercept - line.slope * lengths[i], 2);
    }
    return {line.slope, total > 0 ? 1 - left / total : 1,
            least_squares(logarithms(lengths), logarithms(costs)).slope};
}

std::vector<std::string> fit_lines(const std::vector<LengthPoint>& points) {
    struct Costs {
        std::vector<double> lengths, milliseconds, kilobytes;
        bool positive = true;
    };
    std::vector<std::string> order, lines;
    std::map<std::string, Costs> all;
    for (const LengthPoint& p : points) {
        const std::string name = p.mechanism + " " + p.work;
        if (!all.contains(name)) order.push_back(name);
        Costs& c = all[name];
        c.lengths.push_back(p.length);
        c.milliseconds.push_back(p.milliseconds);
        c.kilobytes.push_back(1e3 * p.megabytes);
        c.positive = c.positive && p.milliseconds > 0 && p.megabytes > 0;
    }
    for (const std::string& name : order) {
        const Costs& c = all[name];
        if (c.lengths.size() < 3 || !c.positive) continue;
        const LengthFit time = fit_of(c.lengths, c.milliseconds),
                        memory = fit_of(c.lengths, c.kilobytes);
        lines.push_back(fmt::format(
            "{}: {:.3g} ms a row (R\u00b2 {:.4f}, n^{:.2f}); {:.3g} kB a row (R\u00b2 {:.4f}, "
            "n^{:.2f})",
            name, time.slope, time.r_squared, time.exponent, memory.slope, memory.r_squared,
            memory.exponent));
    }
    return lines;
}

}  // namespace fovea::bench
