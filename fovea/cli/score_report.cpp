#include "fovea/cli/score_report.h"

#include <fmt/format.h>

#include "fovea/base/utf8.h"

namespace fovea {
namespace {

// The signature with the resampling behind the number of references, where sacreBLEU has it:
// "nrefs:1|bs:1000|seed:12345|case:…".
std::string full_signature(const ScoreReport& r, const std::string& signature) {
    std::string extra;
    if (r.resamples > 0) extra += fmt::format("|bs:{}", r.resamples);
    if (r.trials > 0) extra += fmt::format("|ar:{}", r.trials);
    if (!extra.empty()) extra += fmt::format("|seed:{}", r.seed);
    const std::size_t first_field = signature.find('|');
    return std::string(signature).insert(first_field, extra);
}

std::string value_text(const ReportedScore& s) {
    std::string text = fmt::format("{:.2f}", s.score.value);
    if (s.interval)
        text += fmt::format(" (μ = {:.2f} ± {:.2f})", s.interval->mean, s.interval->half_width);
    return text;
}

std::string details_of(const ReportedScore& s) {
    return s.score.figures.contains("details") ? " " + s.score.figures["details"].get<std::string>()
                                               : "";
}

std::string padded(const std::string& text, int width) {
    const int missing = width - display_width(text);
    return missing > 0 ? text + std::string(static_cast<std::size_t>(missing), ' ') : text;
}

// One metric of several systems: its signature, then a line for each.
std::string comparison(const ScoreReport& r, std::size_t metric) {
    const ReportedScore& first = r.systems[0].scores[metric];
    std::string text =
        fmt::format("{}|{}\n", first.score.name, full_signature(r, first.score.signature));
    int file_width = 0, value_width = 0;
    for (const ScoredSystem& s : r.systems) {
        file_width = std::max(file_width, display_width(s.file));
        value_width = std::max(value_width, display_width(value_text(s.scores[metric])));
    }
    for (const ScoredSystem& system : r.systems) {
        const ReportedScore& s = system.scores[metric];
        text += fmt::format("  {}  ", padded(system.file, file_width));
        if (!s.paired) {
            text += value_text(s) + "\n";
            continue;
        }
        text += fmt::format("{}  {:+.2f}  p = {:.4f}{}\n", padded(value_text(s), value_width),
                            s.paired->system - s.paired->baseline, s.paired->p_value,
                            s.paired->p_value < 0.05 ? " *" : "");
    }
    return text;
}

Json json_of(const ScoreReport& r, const ReportedScore& s) {
    Json j = json_of(s.score);
    j["signature"] = full_signature(r, s.score.signature);
    if (s.interval)
        j["confidence"] = {
            {"mean", s.interval->mean}, {"half_width", s.interval->half_width}, {"level", 0.95}};
    if (s.paired)
        j["paired"] = {{"difference", s.paired->system - s.paired->baseline},
                       {"p_value", s.paired->p_value}};
    return j;
}

}  // namespace

std::string ScoreReport::text() const {
    std::string text;
    for (std::size_t m = 0; m < systems[0].scores.size(); ++m) {
        const ReportedScore& s = systems[0].scores[m];
        text += systems.size() > 1 ? comparison(*this, m)
                                   : fmt::format("{}|{} = {}{}\n", s.score.name,
                                                 full_signature(*this, s.score.signature),
                                                 value_text(s), details_of(s));
    }
    return text;
}

Json ScoreReport::json() const {
    Json j{{"schema", "fovea.score"}, {"version", 1}, {"lines", lines}, {"references", references}};
    if (!tokenizer.empty())
        j["tokenizer"] = {{"name", tokenizer}, {"chosen", tokenizer_fitted ? "auto" : "by flag"}};
    if (!paired.empty())
        j["paired"] = {{"test", paired}, {"resamples", trials > 0 ? trials : resamples}};
    if (resamples > 0 || trials > 0) j["seed"] = seed;
    j["systems"] = Json::array();
    for (const ScoredSystem& system : systems) {
        Json scores = Json::object();
        for (const ReportedScore& s : system.scores) scores[s.key] = json_of(*this, s);
        j["systems"].push_back({{"file", system.file}, {"scores", scores}});
    }
    return j;
}

}  // namespace fovea
