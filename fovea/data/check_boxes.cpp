#include "fovea/data/check_boxes.h"

#include <fmt/core.h>

#include <set>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/data/split.h"

namespace fovea {
namespace {

struct CheckedBoxes {
    BoxFileCheck file;
    std::set<std::uint64_t> hashes;  // of pictures
};

void check_boxed_picture(const BoxedPicture& record, CheckedBoxes& to) {
    BoxFileCheck& f = to.file;
    try {
        load_boxed(record, 3);
    } catch (const Error& e) {
        f.bad.emplace_back(e.what());
        return;
    }
    ++f.pictures;
    ++f.sizes[fmt::format("{} x {}", record.width, record.height)];
    f.without += record.things.empty();
    for (const BoxedThing& t : record.things) {
        ++f.boxes;
        ++f.labels[t.label];
        f.crowds += t.crowd;
        f.difficult += t.difficult;
    }
    f.repeated += !to.hashes.insert(record_hash({read_file(record.path)})).second;
}

std::string counted_names(const std::map<std::string, std::int64_t>& counts) {
    std::string text;
    int shown = 0;
    for (const auto& [name, count] : counts)
        if (++shown <= 12) text += fmt::format("{}{} ({})", shown > 1 ? ", " : "", name, count);
    return text + (shown > 12 ? ", …" : "");
}

}  // namespace

bool BoxCheck::clean() const {
    for (const BoxFileCheck& f : files)
        if (!f.bad.empty() || f.boxes == 0) return false;
    for (const BoxLeakCheck& l : leaks)
        if (l.pictures > 0 || !l.unknown.empty()) return false;
    return true;
}

std::string BoxCheck::text() const {
    std::string out;
    for (const BoxFileCheck& f : files) {
        out += fmt::format("{}: {}\n  pictures {}, boxes {}\n", f.name,
                           f.paths.empty() ? "" : f.paths[0], f.pictures, f.boxes);
        out += fmt::format("  labels {}\n  sizes {}\n", counted_names(f.labels),
                           counted_names(f.sizes));
        const auto note = [&](std::int64_t count, const char* what) {
            if (count) out += fmt::format("  {} {}\n", what, count);
        };
        note(f.without, "pictures without a box");
        note(f.crowds, "boxes of crowds");
        note(f.difficult, "boxes of difficult things");
        note(f.cut, "boxes cut at the edge of their picture");
        note(static_cast<std::int64_t>(f.dropped.size()), "boxes that are none, left out");
        for (std::size_t i = 0; i < f.dropped.size() && i < 10; ++i)
            out += "    " + f.dropped[i] + "\n";
        note(f.repeated, "pictures that repeat");
        for (const std::string& bad : f.bad) out += "  bad: " + bad + "\n";
    }
    for (const BoxLeakCheck& l : leaks) {
        if (l.pictures)
            out += fmt::format("leak: {} pictures of {} are in {}\n", l.pictures, l.held_out,
                               l.training);
        for (const std::string& label : l.unknown)
            out += fmt::format("unknown: {} has the label \"{}\", {} does not\n", l.held_out, label,
                               l.training);
    }
    return out;
}

std::string BoxCheck::json() const {
    Json j{{"schema", "fovea.data_check"}, {"version", 1}, {"clean", clean()}};
    j["files"] = j["leaks"] = Json::array();
    for (const BoxFileCheck& f : files)
        j["files"].push_back({{"name", f.name},
                              {"paths", f.paths},
                              {"pictures", f.pictures},
                              {"boxes", f.boxes},
                              {"labels", f.labels},
                              {"sizes", f.sizes},
                              {"without_boxes", f.without},
                              {"crowds", f.crowds},
                              {"difficult", f.difficult},
                              {"cut", f.cut},
                              {"dropped", f.dropped},
                              {"repeated", f.repeated},
                              {"bad", f.bad}});
    for (const BoxLeakCheck& l : leaks)
        j["leaks"].push_back({{"training", l.training},
                              {"held_out", l.held_out},
                              {"pictures", l.pictures},
                              {"unknown_labels", l.unknown}});
    return to_text(j);
}

BoxCheck check_boxed(std::span<const NamedBoxed> sets) {
    std::vector<CheckedBoxes> checked;
    for (const NamedBoxed& set : sets) {
        CheckedBoxes& to = checked.emplace_back();
        to.file.name = set.name;
        to.file.paths = set.files.paths;
        const BoxedSet read = read_boxed(set.files);
        to.file.dropped = read.dropped;
        to.file.cut = read.cut;
        for (const BoxedPicture& record : read.pictures) check_boxed_picture(record, to);
    }
    BoxCheck all;
    for (std::size_t i = 0; i < checked.size(); ++i) {
        all.files.push_back(checked[i].file);
        if (i == 0) continue;
        BoxLeakCheck leak{checked[0].file.name, checked[i].file.name};
        for (const std::uint64_t h : checked[i].hashes)
            leak.pictures += checked[0].hashes.count(h) > 0;
        for (const auto& [label, count] : checked[i].file.labels)
            if (!checked[0].file.labels.contains(label)) leak.unknown.push_back(label);
        all.leaks.push_back(leak);
    }
    return all;
}

}  // namespace fovea
