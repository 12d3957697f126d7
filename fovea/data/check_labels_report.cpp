// A LabelCheck for people and for programs.
#include <fmt/format.h>

#include "fovea/base/json.h"
#include "fovea/data/check_labels.h"

namespace fovea {
namespace {

using CountedLabels = std::vector<std::pair<std::string, std::int64_t>>;

// At most `most` of them; how many more there are.
std::string label_list(const CountedLabels& labels, std::size_t most) {
    std::string out;
    for (std::size_t i = 0; i < std::min(labels.size(), most); ++i)
        out += fmt::format("{}{} {}", i ? ", " : "", labels[i].first, grouped(labels[i].second));
    if (labels.size() > most) out += fmt::format(", … ({} more)", labels.size() - most);
    return out;
}

std::string file_text(const LabelledFileCheck& f) {
    std::string out = f.name + ":";
    for (const std::string& path : f.paths) out += " " + path;
    out += fmt::format("\n  {} texts, {} labels{}\n", grouped(f.texts),
                       grouped(std::ssize(f.labels)), f.on_disk.text());
    for (const std::string& n : f.notes) out += "  " + n + "\n";
    if (f.bad_lines > 0) {
        out += fmt::format("  BAD LINES: {}\n", grouped(f.bad_lines));
        for (const std::string& m : f.bad_messages) out += "    " + m + "\n";
    }
    out += f.lengths.text("text", f.texts);
    out += "  labels: " + label_list(f.labels, 20) + "\n";
    const auto note = [&](const char* what, std::int64_t n, const std::string& more = {}) {
        if (n > 0) out += fmt::format("  {}: {}{}\n", what, grouped(n), more);
    };
    note("classes seen once", f.classes_seen_once());
    note("texts with several labels", f.with_many_labels);
    note("records that repeat an earlier one", f.repeated);
    note("texts that came before with another label", f.contradictions,
         lines_text(f.contradiction_lines));
    return out;
}

Json labels_json(const CountedLabels& labels) {
    Json j = Json::object();
    for (const auto& [label, count] : labels) j[label] = count;
    return j;
}

Json file_json(const LabelledFileCheck& f) {
    return {{"name", f.name},
            {"paths", f.paths},
            {"bytes", f.on_disk.bytes < 0 ? Json(nullptr) : Json(f.on_disk.bytes)},
            {"fingerprint", f.on_disk.fingerprint},
            {"texts", f.texts},
            {"bad_lines", f.bad_lines},
            {"bad_messages", f.bad_messages},
            {"notes", f.notes},
            {"text", f.lengths.json(f.texts)},
            {"labels", labels_json(f.labels)},
            {"classes_seen_once", f.classes_seen_once()},
            {"texts_with_several_labels", f.with_many_labels},
            {"repeated", f.repeated},
            {"contradictions", f.contradictions},
            {"contradiction_lines", f.contradiction_lines}};
}

}  // namespace

std::string LabelCheck::text() const {
    std::string out;
    for (const LabelledFileCheck& f : files) out += file_text(f);
    for (const LabelLeakCheck& l : leaks) {
        out += fmt::format("{} in {}: {} records, {} texts\n", l.held_out, l.training,
                           grouped(l.records), grouped(l.texts));
        if (!l.unknown_labels.empty())
            out += fmt::format("  UNKNOWN LABELS (not in {}): {}\n", l.training,
                               label_list(l.unknown_labels, 20));
        if (l.labels_not_seen > 0)
            out += fmt::format("  classes of {} that it does not have: {}\n", l.training,
                               grouped(l.labels_not_seen));
    }
    out += clean() ? "clean: no bad lines, no empty texts, no unknown labels, no leaked records\n"
                   : "NOT CLEAN: see bad lines, empty texts, unknown labels or leaks above\n";
    return out;
}

std::string LabelCheck::json() const {
    Json j{{"clean", clean()}, {"files", Json::array()}, {"leaks", Json::array()}};
    for (const LabelledFileCheck& f : files) j["files"].push_back(file_json(f));
    for (const LabelLeakCheck& l : leaks)
        j["leaks"].push_back({{"training", l.training},
                              {"held_out", l.held_out},
                              {"records", l.records},
                              {"texts", l.texts},
                              {"unknown_labels", labels_json(l.unknown_labels)},
                              {"labels_not_seen", l.labels_not_seen}});
    return to_text(j);
}

}  // namespace fovea
