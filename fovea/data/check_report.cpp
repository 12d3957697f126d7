// A DataCheck for people and for programs.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/json.h"
#include "fovea/data/check.h"

namespace fovea {
namespace {

// 1234567 as 1,234,567.
std::string grouped(std::int64_t n) {
    const std::string digits = std::to_string(n);
    std::string out;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) out.push_back(',');
        out.push_back(digits[i]);
    }
    return out;
}

std::string lines_text(const std::vector<std::int64_t>& lines) {
    std::string out;
    for (const std::int64_t n : lines)
        out.append(out.empty() ? " (lines " : ", ").append(std::to_string(n));
    if (!out.empty()) out.append(lines.size() >= 10 ? ", …)" : ")");
    return out;
}

void print_side(std::string& out, const char* side, const LengthReport& r, std::int64_t pairs) {
    out += fmt::format("  {}: {} words, {:.1f} a line (from {} to {}, in line {}), {} empty\n",
                       side, grouped(r.words), r.mean_words(pairs), r.shortest, grouped(r.longest),
                       r.longest_line, grouped(r.empty));
    const std::int64_t most =
        r.histogram.empty() ? 0 : *std::max_element(r.histogram.begin(), r.histogram.end());
    for (std::size_t i = 0; i < r.histogram.size(); ++i) {
        const std::int64_t n = r.histogram[i];
        const auto width = static_cast<std::size_t>(most > 0 ? (40 * n + most - 1) / most : 0);
        std::string bar;
        for (std::size_t k = 0; k < width; ++k) bar += "▇";
        out += fmt::format("    <= {:>6} {:>11} {}\n", std::int64_t{1} << i, grouped(n), bar);
    }
}

void print_file(std::string& out, const FileCheck& f) {
    out += fmt::format("{}: {}{}{}\n", f.name, f.path, f.target_path.empty() ? "" : " + ",
                       f.target_path);
    out += fmt::format("  {} pairs, {} bytes, fingerprint {}\n", grouped(f.pairs), grouped(f.bytes),
                       f.fingerprint);
    if (f.bad_lines > 0) {
        out += fmt::format("  BAD LINES: {}\n", grouped(f.bad_lines));
        for (const std::string& m : f.bad_messages) out += "    " + m + "\n";
    }
    print_side(out, "source", f.source, f.pairs);
    print_side(out, "target", f.target, f.pairs);
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

Json side_json(const LengthReport& r, std::int64_t pairs) {
    return {
        {"words", r.words},       {"characters", r.characters}, {"mean_words", r.mean_words(pairs)},
        {"shortest", r.shortest}, {"longest", r.longest},       {"longest_line", r.longest_line},
        {"empty", r.empty},       {"histogram", r.histogram}};
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
        j["files"].push_back({{"name", f.name},
                              {"path", f.path},
                              {"target_path", f.target_path},
                              {"bytes", f.bytes},
                              {"fingerprint", f.fingerprint},
                              {"pairs", f.pairs},
                              {"bad_lines", f.bad_lines},
                              {"bad_messages", f.bad_messages},
                              {"source", side_json(f.source, f.pairs)},
                              {"target", side_json(f.target, f.pairs)},
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
