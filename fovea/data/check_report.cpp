// A DataCheck for people and for programs.
#include <fmt/format.h>

#include "fovea/base/json.h"
#include "fovea/data/check.h"

namespace fovea {
namespace {

void print_file(std::string& out, const FileCheck& f) {
    out += fmt::format("{}: {}{}{}\n", f.name, f.path, f.target_path.empty() ? "" : " + ",
                       f.target_path);
    out += fmt::format("  {} pairs{}\n", grouped(f.pairs), f.on_disk.text());
    for (const std::string& n : f.notes) out += "  " + n + "\n";
    if (f.bad_lines > 0) {
        out += fmt::format("  BAD LINES: {}\n", grouped(f.bad_lines));
        for (const std::string& m : f.bad_messages) out += "    " + m + "\n";
    }
    out += f.source.text("source", f.pairs) + f.target.text("target", f.pairs);
    const auto note = [&](const char* what, std::int64_t n, const std::string& more = {}) {
        if (n > 0)
            out += fmt::format("  {}: {} ({:.2f} %){}\n", what, grouped(n),
                               100.0 * static_cast<double>(n) / static_cast<double>(f.pairs), more);
    };
    note("pairs that repeat an earlier one", f.repeated_pairs);
    note("sources that repeat an earlier one", f.repeated_sources);
    note("source and target the same", f.copies);
    note("one side more than 9 times as long", f.odd_ratios, lines_text(f.odd_lines));
    note("with control characters", f.control_characters);
    note("with U+FFFD (broken characters)", f.replacement_characters);
}

}  // namespace

std::string DataCheck::text() const {
    std::string out;
    for (const FileCheck& f : files) print_file(out, f);
    for (const LeakCheck& l : leaks) {
        out += fmt::format(
            "{} in {}: {} pairs, {} sources ({} but for case and punctuation), {} targets{}\n",
            l.held_out, l.training, grouped(l.pairs), grouped(l.sources), grouped(l.sources_nearly),
            grouped(l.targets), lines_text(l.lines));
    }
    out += clean() ? "clean: no bad lines, no empty sides, no leaked pairs\n"
                   : "NOT CLEAN: see bad lines, empty sides or leaked pairs above\n";
    return out;
}

std::string DataCheck::json() const {
    Json j{{"clean", clean()}, {"files", Json::array()}, {"leaks", Json::array()}};
    for (const FileCheck& f : files)
        j["files"].push_back(
            {{"name", f.name},
             {"path", f.path},
             {"target_path", f.target_path},
             {"bytes", f.on_disk.bytes < 0 ? Json(nullptr) : Json(f.on_disk.bytes)},
             {"fingerprint", f.on_disk.fingerprint},
             {"pairs", f.pairs},
             {"bad_lines", f.bad_lines},
             {"bad_messages", f.bad_messages},
             {"notes", f.notes},
             {"source", f.source.json(f.pairs)},
             {"target", f.target.json(f.pairs)},
             {"repeated_pairs", f.repeated_pairs},
             {"repeated_sources", f.repeated_sources},
             {"copies", f.copies},
             {"odd_ratios", f.odd_ratios},
             {"odd_lines", f.odd_lines},
             {"control_characters", f.control_characters},
             {"replacement_characters", f.replacement_characters}});
    for (const LeakCheck& l : leaks)
        j["leaks"].push_back({{"training", l.training},
                              {"held_out", l.held_out},
                              {"pairs", l.pairs},
                              {"sources", l.sources},
                              {"targets", l.targets},
                              {"sources_nearly", l.sources_nearly},
                              {"lines", l.lines}});
    return to_text(j);
}

}  // namespace fovea
