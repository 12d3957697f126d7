#include "fovea/bench/rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace fovea::bench {
namespace {

double rounded(double value, double unit) { return std::round(value / unit) * unit; }

// Four significant digits are more than the noise leaves.
double short_number(double value) {
    if (value == 0 || !std::isfinite(value)) return value;
    const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 3);
    return unit >= 1 ? rounded(value, unit)
                     : std::round(value * std::round(1 / unit)) / std::round(1 / unit);
}

}  // namespace

std::optional<double> Row::ratio() const {
    if (!peer_value || *peer_value <= 0 || value <= 0) return std::nullopt;
    return higher_is_better ? value / *peer_value : *peer_value / value;
}

Json to_json(const Row& row, bool medians) {
    Json j{{"bench", row.bench}, {"case", row.name}};
    if (!row.precision.empty()) j["precision"] = row.precision;
    j["threads"] = row.threads;
    j["value"] = short_number(row.value);
    j["unit"] = row.unit;
    j["better"] = row.higher_is_better ? "higher" : "lower";
    // A plain copy is no hard limit, and its samples may be unlucky: more than all is all.
    if (row.share) j["share"] = short_number(std::min(*row.share, 1.0));
    if (!row.peer.empty()) j["peer"] = row.peer;
    if (row.peer_value) j["peer_value"] = short_number(*row.peer_value);
    if (row.ratio()) j["ratio"] = short_number(*row.ratio());
    if (!row.note.empty()) j["note"] = row.note;
    if (medians) {
        j["median"] = short_number(row.median);
        if (row.peer_median) j["peer_median"] = short_number(*row.peer_median);
    }
    return j;
}

Json to_json(const std::vector<Row>& rows, bool medians) {
    Json array = Json::array();
    for (const Row& row : rows) array.push_back(to_json(row, medians));
    return array;
}

std::string table_header() {
    return fmt::format("{:<14} {:<20} {:<5} {:>9} {:>10}  {:<8} {:>6}  {:>9} {:>10} {:>6}  {}\n",
                       "bench", "case", "prec", "best", "(median)", "unit", "share", "peer",
                       "(median)", "ratio", "peer's name");
}

std::string table_line(const Row& row) {
    const auto number = [](const std::optional<double>& v) {
        return v ? fmt::format("{:.1f}", *v) : std::string("-");
    };
    const auto bracketed = [](const std::optional<double>& v) {
        return v ? fmt::format("({:.1f})", *v) : std::string();
    };
    std::string line =
        fmt::format("{:<14} {:<20} {:<5} {:>9.1f} {:>10}  {:<8} {:>6}  {:>9} {:>10} {:>6}  {}",
                    row.bench, row.name, row.precision, row.value, bracketed(row.median), row.unit,
                    row.share ? fmt::format("{:.0f} %", *row.share * 100) : "-",
                    number(row.peer_value), bracketed(row.peer_median),
                    row.ratio() ? fmt::format("{:.2f}", *row.ratio()) : "-", row.peer);
    if (!row.note.empty()) line += " (" + row.note + ")";
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

}  // namespace fovea::bench
