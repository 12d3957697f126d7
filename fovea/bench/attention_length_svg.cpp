// The picture of `fovea bench attention`: two plots side by side, and a line of text a mechanism.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "fovea/bench/attention_length.h"

namespace fovea::bench {
namespace {

constexpr double plot_top = 34, plot_bottom = 300, plot_width = 330;
constexpr const char* line_colours[] = {"#c0392b", "#2471a3", "#1e8449",
                                        "#b9770e", "#6c3483", "#555555"};

// One mechanism's points, in order of length.
struct CostLine {
    std::string name;
    std::vector<LengthPoint> points;
};

std::vector<CostLine> lines_of(const std::vector<LengthPoint>& points, const std::string& work) {
    std::vector<CostLine> lines;
    for (const LengthPoint& p : points) {
        if (p.work != work) continue;
        const auto at = std::find_if(lines.begin(), lines.end(), [&](const CostLine& line) {
            return line.name == p.mechanism;
        });
        if (at == lines.end())
            lines.push_back({p.mechanism, {p}});
        else
            at->points.push_back(p);
    }
    return lines;
}

struct Scale {
    double low, high, from, to;  // of values, and where they lie

    double at(double value) const {
        const double share = (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
        return from + share * (to - from);
    }
};

std::string power_lines(const Scale& y, double left) {
    std::string svg;
    for (int e = static_cast<int>(std::ceil(std::log10(y.low))); std::pow(10, e) <= y.high; ++e)
        svg += fmt::format(
            "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#ddd\"/>"
            "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:g}</text>\n",
            left, left + plot_width, y.at(std::pow(10, e)), left - 6, y.at(std::pow(10, e)) + 4,
            std::pow(10, e));
    return svg;
}

using Cost = double LengthPoint::*;

// One plot, `left` from the picture's edge. Costs of nothing (a bag's memory) are left out.
std::string plot_of(const std::vector<CostLine>& lines, const std::string& title, Cost cost,
                    double left) {
    double shortest = 1e300, longest = 0, least = 1e300, most = 0;
    for (const CostLine& line : lines)
        for (const LengthPoint& p : line.points) {
            shortest = std::min(shortest, p.length);
            longest = std::max(longest, p.length);
            if (p.*cost > 0) least = std::min(least, p.*cost);
            most = std::max(most, p.*cost);
        }
    const Scale x{shortest, longest, left, left + plot_width},
        y{least / 1.5, most * 1.5, plot_bottom, plot_top};
    std::string svg = fmt::format("<text x=\"{}\" y=\"20\">{}</text>\n", left, title);
    svg += power_lines(y, left);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::string path;
        for (const LengthPoint& p : lines[i].points)
            if (p.*cost > 0) path += fmt::format("{:.1f},{:.1f} ", x.at(p.length), y.at(p.*cost));
        svg += fmt::format(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path,
            line_colours[i % std::size(line_colours)]);
    }
    for (const LengthPoint& p : lines[0].points)
        svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>\n",
                           x.at(p.length), plot_bottom + 18, p.length);
    return svg;
}

}  // namespace

std::string attention_length_svg(const std::vector<LengthPoint>& points, const std::string& work) {
    const std::vector<CostLine> lines = lines_of(points, work);
    const bool two = std::any_of(lines.begin(), lines.end(), [](const CostLine& line) {
        return line.points.front().length != line.points.back().length;
    });
    if (!two) return "";
    const double height = plot_bottom + 50 + 18 * static_cast<double>(lines.size());
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 820 {0}\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"820\" height=\"{0}\" fill=\"white\"/>\n",
        height);
    svg +=
        plot_of(lines, "milliseconds by rows of the text, " + work, &LengthPoint::milliseconds, 60);
    svg += plot_of(lines, "megabytes of tensors at the peak", &LengthPoint::megabytes, 460);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::vector<std::string> fit = fit_lines(lines[i].points);
        svg += fmt::format("<text x=\"60\" y=\"{}\" fill=\"{}\">{}</text>\n",
                           plot_bottom + 46 + 18 * static_cast<double>(i),
                           line_colours[i % std::size(line_colours)],
                           fit.empty() ? lines[i].name : fit[0]);
    }
    return svg + "</svg>\n";
}

}  // namespace fovea::bench
