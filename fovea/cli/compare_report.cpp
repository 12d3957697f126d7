#include "fovea/cli/compare_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "fovea/base/html.h"

namespace fovea {
namespace {

double mean_of(const std::vector<double>& values) {
    return values.empty() ? 0
                          : std::accumulate(values.begin(), values.end(), 0.0) /
                                static_cast<double>(values.size());
}

// 97.5 % points of Student's t for 1 … 10 degrees of freedom, then the normal one.
double student(std::size_t freedom) {
    constexpr std::array<double, 10> table = {12.706, 4.303, 3.182, 2.776, 2.571,
                                              2.447,  2.365, 2.306, 2.262, 2.228};
    return freedom == 0 ? 0 : freedom <= table.size() ? table[freedom - 1] : 1.96;
}

double half_width(const std::vector<double>& values) {
    if (values.size() < 2) return 0;
    const double mean = mean_of(values);
    double squares = 0;
    for (const double v : values) squares += (v - mean) * (v - mean);
    const auto n = static_cast<double>(values.size());
    return student(values.size() - 1) * std::sqrt(squares / (n - 1) / n);
}

std::vector<double> numbers_of(const ComparedModel& m, const char* key) {
    std::vector<double> all;
    for (const Json& run : m.runs)
        if (run.contains(key) && run[key].is_number()) all.push_back(run[key].get<double>());
    return all;
}

std::string figure(const ComparedModel& m, const char* key, const char* unit, double scale = 1) {
    const std::vector<double> all = numbers_of(m, key);
    if (all.empty()) return "-";
    const double v = mean_of(all) * scale;
    return fmt::format("{:.{}f}{}", v, v >= 100 ? 0 : v >= 10 ? 1 : 2, unit);
}

std::vector<std::string> length_names(const Comparison& c) {
    std::vector<std::string> names;
    for (const ComparedModel& m : c.models)
        for (const Json& run : m.runs) {
            const Json by = run.value("by_length", Json::object());
            for (const auto& [name, score] : by.items())
                if (std::find(names.begin(), names.end(), name) == names.end())
                    names.push_back(name);
        }
    return names;
}

// The mean of a figure that stands inside an object of each run.
std::string inner_figure(const ComparedModel& m, const char* object, const std::string& name,
                         int digits) {
    std::vector<double> all;
    for (const Json& run : m.runs) {
        const Json inside = run.value(object, Json::object());
        if (inside.contains(name) && inside[name].is_number())
            all.push_back(inside[name].get<double>());
    }
    return all.empty() ? "-" : fmt::format("{:.{}f}", mean_of(all), digits);
}

using Table = std::vector<std::vector<std::string>>;  // the first row names the columns

Table table_of(const Comparison& c) {
    const std::vector<std::string> lengths = length_names(c);
    Table t{{"model", c.metric}};
    const auto named = [&](const std::vector<std::string>& names) {
        t[0].insert(t[0].end(), names.begin(), names.end());
    };
    named(c.columns);
    named(c.also_test);
    named({"seeds", "parameters", "updates", "train", "processor", "train tokens/s", "memory",
           "test tokens/s", "test records/s", "latency"});
    named(lengths);
    named({"typing errors"});
    for (const ComparedModel& m : c.models) {
        const ScoreRange r = score_range(m);
        std::vector<std::string> row{m.name, r.text()};
        for (const std::string& name : c.columns)
            row.push_back(inner_figure(m, "figures", name, 2));
        for (const std::string& name : c.also_test)
            row.push_back(inner_figure(m, "also_test", name, 2));
        row.push_back(std::to_string(m.runs.size()));
        row.push_back(figure(m, "parameters", " M", 1e-6));
        row.push_back(figure(m, "updates", ""));
        row.push_back(figure(m, "train_seconds", " min", 1.0 / 60));
        row.push_back(figure(m, "processor_seconds", " min", 1.0 / 60));
        row.push_back(figure(m, "tokens_per_second", ""));
        row.push_back(figure(m, "memory", " MB", 1e-6));
        row.push_back(figure(m, "test_tokens_per_second", ""));
        row.push_back(figure(m, "records_per_second", ""));
        row.push_back(figure(m, "latency_ms", " ms"));
        for (const std::string& name : lengths)
            row.push_back(inner_figure(m, "by_length", name, 1));
        row.push_back(figure(m, "noisy", ""));
        t.push_back(std::move(row));
    }
    return t;
}

std::string how_measured(const Comparison& c) {
    bool seeds = false, parts = false;
    for (const ComparedModel& m : c.models)
        if (const ScoreRange r = score_range(m); r.half) (r.of_seeds ? seeds : parts) = true;
    if (!seeds && !parts) return fmt::format("{} on {}.", c.metric, c.test);
    const std::string by_seeds = "over the seeds (Student's t)",
                      by_parts = "from ten disjoint parts of the test set";
    return fmt::format("{} on {}; ± is a 95 % interval {}.", c.metric, c.test,
                       seeds && parts ? by_seeds + ", of a single seed " + by_parts
                       : seeds        ? by_seeds
                                      : by_parts);
}

Json curve_of_first(const ComparedModel& m) {
    return m.runs.empty() ? Json::array() : m.runs[0].value("curve", Json::array());
}

// Learning curves: one line a model (its first seed), dev score against updates.
std::string curves_svg(const Comparison& c) {
    double most = 1, low = 1e300, high = -1e300;
    for (const ComparedModel& m : c.models) {
        const Json curve = curve_of_first(m);
        for (const Json& p : curve) {
            most = std::max(most, p[0].get<double>());
            low = std::min(low, p[1].get<double>());
            high = std::max(high, p[1].get<double>());
        }
    }
    if (high <= low) return "";
    constexpr double width = 640, height = 300, left = 60, top = 10;
    std::string svg = fmt::format(
        "<svg viewBox='0 0 {} {}' role='img' aria-label='learning curves'>"
        "<rect x='{}' y='{}' width='{}' height='{}' class='frame'/>",
        width + left + 170, height + 50, left, top, width, height);
    for (int k = 0; k <= 4; ++k) {
        const double y = top + height * k / 4.0;
        svg += fmt::format("<text x='{}' y='{}' class='axis' text-anchor='end'>{:.2f}</text>",
                           left - 6, y + 4, high - (high - low) * k / 4.0);
    }
    svg += fmt::format("<text x='{}' y='{}' class='axis' text-anchor='end'>{:.0f} updates</text>",
                       left + width, top + height + 18, most);
    for (std::size_t i = 0; i < c.models.size(); ++i) {
        const Json curve = curve_of_first(c.models[i]);
        std::string points;
        for (const Json& p : curve)
            points += fmt::format("{:.1f},{:.1f} ", left + width * p[0].get<double>() / most,
                                  top + height * (high - p[1].get<double>()) / (high - low));
        svg += fmt::format(
            "<polyline points='{}' class='c{}'{}/><text x='{}' y='{}' class='l{}'>{}</text>",
            points, i % 8, i < 8 ? "" : " stroke-dasharray='6 4'", left + width + 10,
            top + 16 + 18 * static_cast<double>(i), i % 8,
            html_escaped(c.models[i].name) + (i < 8 ? "" : " (dashed)"));
    }
    return svg + "</svg>";
}

constexpr const char* style =
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:1100px;padding:0 1em;"
    "background:#fff;color:#222}table{border-collapse:collapse;font-size:13px}.wide{overflow-x:"
    "auto}td,th{white-space:nowrap;padding:.3em "
    ".7em;border-bottom:1px solid #ccc;text-align:right}td:first-child,th:first-child{text-align:"
    "left}.frame{fill:none;stroke:#999}.axis{font-size:11px;fill:#777}polyline{fill:none;stroke-"
    "width:2}svg{max-width:100%}.maps{display:flex;flex-wrap:wrap;gap:1.5em}.maps figure{margin:0}"
    "figcaption{font-size:13px}svg text{font-size:12px}"
    ".c0{stroke:#1b6ca8}.c1{stroke:#d1495b}.c2{stroke:#2e8b57}.c3{stroke:#e08e0b}.c4{stroke:#"
    "6a4c93}"
    ".c5{stroke:#00798c}.c6{stroke:#8d5524}.c7{stroke:#777}"
    ".l0{fill:#1b6ca8}.l1{fill:#d1495b}.l2{fill:#2e8b57}.l3{fill:#e08e0b}.l4{fill:#6a4c93}"
    ".l5{fill:#00798c}.l6{fill:#8d5524}.l7{fill:#777}"
    "@media(prefers-color-scheme:dark){body{background:#16181c;color:#ddd}td,th{border-color:#444}"
    "}";

}  // namespace

ScoreRange score_range(const ComparedModel& m) {
    const std::vector<double> scores = numbers_of(m, "score");
    if (scores.size() > 1) return {mean_of(scores), half_width(scores), true};
    std::vector<double> parts;
    const Json told = m.runs.empty() ? Json::array() : m.runs[0].value("parts", Json::array());
    for (const Json& p : told) parts.push_back(p.get<double>());
    if (parts.size() < 2) return {mean_of(scores)};
    return {mean_of(scores), half_width(parts), false};
}

std::string ScoreRange::text() const {
    return half ? fmt::format("{:.2f} ± {:.2f}", mean, *half) : fmt::format("{:.2f}", mean);
}

std::string Comparison::markdown() const {
    std::string text;
    const Table t = table_of(*this);
    for (std::size_t r = 0; r < t.size(); ++r) {
        for (const std::string& cell : t[r]) text += "| " + cell + " ";
        text += "|\n";
        if (r > 0) continue;
        for (std::size_t k = 0; k < t[0].size(); ++k) text += k == 0 ? "|---" : "|---:";
        text += "|\n";
    }
    return text + "\n" + how_measured(*this) + "\n";
}

std::string Comparison::json() const {
    Json all = Json::array();
    for (const ComparedModel& m : models) {
        const ScoreRange r = score_range(m);
        all.push_back({{"name", m.name},
                       {"score", r.mean},
                       {"interval", r.half ? Json{r.mean - *r.half, r.mean + *r.half} : Json()},
                       {"runs", m.runs}});
    }
    return to_text(Json{{"schema", "fovea.compare"},
                        {"version", 1},
                        {"task", task},
                        {"test", test},
                        {"metric", metric},
                        {"higher_is_better", higher_is_better},
                        {"settings", settings},
                        {"models", all}},
                   1) +
           "\n";
}

std::string Comparison::html() const {
    std::string page = fmt::format(
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>fovea compare: {}"
        "</title><style>{}</style></head><body><h1>{}</h1><p>{}</p><div class='wide'><table>",
        html_escaped(task), style, html_escaped(task), html_escaped(how_measured(*this)));
    const Table t = table_of(*this);
    for (std::size_t r = 0; r < t.size(); ++r) {
        page += "<tr>";
        for (const std::string& cell : t[r])
            page += fmt::format("<{0}>{1}</{0}>", r ? "td" : "th", html_escaped(cell));
        page += "</tr>";
    }
    page += fmt::format(
        "</table></div><h2>Learning curves</h2><p>{}, first seed.</p>{}",
        html_escaped(dev_metric + (dev_metric == "loss in training" ? "" : " of the dev set")),
        curves_svg(*this));
    std::string maps;
    for (const ComparedModel& m : models) maps += m.maps;
    if (!maps.empty()) page += "<h2>Where they look</h2><div class='maps'>" + maps + "</div>";
    return page + "</body></html>\n";
}

}  // namespace fovea
