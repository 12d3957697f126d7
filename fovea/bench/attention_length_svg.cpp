// The picture of `fovea bench attention`.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "fovea/bench/attention_length.h"

namespace fovea::bench {
namespace {

constexpr double plot_left = 60, plot_right = 520, plot_top = 30, plot_bottom = 330;
constexpr const char* line_colours[] = {"#c0392b", "#2471a3", "#1e8449",
                                        "#b9770e", "#6c3483", "#555555"};

struct Point {
    double length, milliseconds;
};

// "window:128 fwd 16384" -> its mechanism, where the work is the one wanted.
std::map<std::string, std::vector<Point>> lines_of(const std::vector<Row>& rows,
                                                   const std::string& work) {
    std::map<std::string, std::vector<Point>> lines;
    for (const Row& row : rows) {
        const std::size_t first = row.name.find(' '), last = row.name.rfind(' ');
        if (row.name.substr(first + 1, last - first - 1) != work) continue;
        lines[row.name.substr(0, first)].push_back(
            {std::stod(row.name.substr(last + 1)), row.value});
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

std::string power_lines(const Scale& y) {
    std::string svg;
    for (int e = static_cast<int>(std::ceil(std::log10(y.low))); std::pow(10, e) <= y.high; ++e)
        svg += fmt::format(
            "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#ddd\"/>"
            "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:g}</text>\n",
            plot_left, plot_right, y.at(std::pow(10, e)), plot_left - 6, y.at(std::pow(10, e)) + 4,
            std::pow(10, e));
    return svg;
}

}  // namespace

std::string attention_length_svg(const std::vector<Row>& rows, const std::string& work) {
    const auto lines = lines_of(rows, work);
    double shortest = 1e300, longest = 0, least = 1e300, most = 0;
    for (const auto& [name, points] : lines)
        for (const Point& p : points) {
            shortest = std::min(shortest, p.length);
            longest = std::max(longest, p.length);
            least = std::min(least, p.milliseconds);
            most = std::max(most, p.milliseconds);
        }
    if (lines.empty() || shortest == longest) return "";
    const Scale x{shortest, longest, plot_left, plot_right},
        y{least / 1.5, most * 1.5, plot_bottom, plot_top};
    std::string svg =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 680 380\" "
        "font-family=\"sans-serif\" "
        "font-size=\"12\">\n<rect width=\"680\" height=\"380\" fill=\"white\"/>\n";
    svg += fmt::format("<text x=\"{}\" y=\"18\">milliseconds, {}</text>\n", plot_left, work);
    svg += power_lines(y);
    std::size_t colour = 0;
    for (const auto& [name, points] : lines) {
        std::string path;
        for (const Point& p : points)
            path += fmt::format("{:.1f},{:.1f} ", x.at(p.length), y.at(p.milliseconds));
        const char* c = line_colours[colour++ % std::size(line_colours)];
        svg += fmt::format(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>"
            "<text x=\"{}\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n",
            path, c, plot_right + 8, y.at(points.back().milliseconds) + 4, c, name);
    }
    for (const Point& p : lines.begin()->second)
        svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>\n",
                           x.at(p.length), plot_bottom + 18, p.length);
    svg +=
        fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">rows of the text</text>\n</svg>\n",
                    plot_right, plot_bottom + 38);
    return svg;
}

}  // namespace fovea::bench
