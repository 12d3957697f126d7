#include "fovea/data/check_masks.h"

#include <fmt/core.h>

#include <set>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/data/split.h"

namespace fovea {
namespace {

struct CheckedMasks {
    MaskFileCheck file;
    std::set<std::uint64_t> hashes;  // of pictures
};

void check_masked_picture(const MaskedPicture& record, CheckedMasks& to) {
    try {
        const LoadedMask m = load_masked(record, 3);
        ++to.file.pictures;
        ++to.file.sizes[fmt::format("{} x {}", m.picture.width, m.picture.height)];
        std::int64_t counts[256] = {};
        for (const std::uint8_t v : m.mask.pixels) ++counts[v];
        int different = 0;
        for (int v = 0; v < 256; ++v)
            if (counts[v]) {
                to.file.values[v] += counts[v];
                ++different;
            }
        to.file.empty += different == 1;
        to.file.repeated += !to.hashes.insert(record_hash({read_file(record.picture)})).second;
    } catch (const Error& e) {
        to.file.bad.emplace_back(e.what());
    }
}

std::string values_text(const MaskFileCheck& f) {
    if (f.values.size() > 64) return fmt::format("{} different: no masks", f.values.size());
    double all = 0;
    for (const auto& [value, count] : f.values) all += static_cast<double>(count);
    std::string text;
    for (const auto& [value, count] : f.values)
        text += fmt::format("{}{} ({:.1f} %)", text.empty() ? "" : ", ", value,
                            100 * static_cast<double>(count) / all);
    return text;
}

}  // namespace

bool MaskCheck::clean() const {
    for (const MaskFileCheck& f : files)
        if (!f.bad.empty() || f.values.size() > 64 || f.values.size() < 2) return false;
    for (const MaskLeakCheck& l : leaks)
        if (l.pictures > 0 || !l.unknown.empty()) return false;
    return true;
}

std::string MaskCheck::text() const {
    std::string out;
    for (const MaskFileCheck& f : files) {
        out += fmt::format("{}: {}\n  pictures with masks {}\n", f.name,
                           f.paths.empty() ? "" : f.paths[0], f.pictures);
        std::string sizes;
        int shown = 0;
        for (const auto& [size, count] : f.sizes)
            if (++shown <= 8) sizes += fmt::format("{}{} ({})", shown > 1 ? ", " : "", size, count);
        out += fmt::format("  sizes {}{}\n  values of masks {}\n", sizes, shown > 8 ? ", …" : "",
                           values_text(f));
        if (f.empty) out += fmt::format("  masks of one value {}\n", f.empty);
        if (f.repeated) out += fmt::format("  pictures that repeat {}\n", f.repeated);
        for (const std::string& bad : f.bad) out += "  bad: " + bad + "\n";
    }
    for (const MaskLeakCheck& l : leaks) {
        if (l.pictures)
            out += fmt::format("leak: {} pictures of {} are in {}\n", l.pictures, l.held_out,
                               l.training);
        for (const int v : l.unknown)
            out += fmt::format("unknown: masks of {} have the value {}, those of {} do not\n",
                               l.held_out, v, l.training);
    }
    return out;
}

std::string MaskCheck::json() const {
    Json j{{"schema", "fovea.data_check"}, {"version", 1}, {"clean", clean()}};
    j["files"] = j["leaks"] = Json::array();
    for (const MaskFileCheck& f : files) {
        Json values = Json::object();
        for (const auto& [value, count] : f.values) values[std::to_string(value)] = count;
        j["files"].push_back({{"name", f.name},
                              {"paths", f.paths},
                              {"pictures", f.pictures},
                              {"sizes", f.sizes},
                              {"values", values},
                              {"masks_of_one_value", f.empty},
                              {"repeated", f.repeated},
                              {"bad", f.bad}});
    }
    for (const MaskLeakCheck& l : leaks)
        j["leaks"].push_back({{"training", l.training},
                              {"held_out", l.held_out},
                              {"pictures", l.pictures},
                              {"unknown_values", l.unknown}});
    return to_text(j);
}

MaskCheck check_masked(std::span<const NamedMasked> sets) {
    std::vector<CheckedMasks> checked;
    for (const NamedMasked& set : sets) {
        CheckedMasks& to = checked.emplace_back();
        to.file.name = set.name;
        to.file.paths = set.files.paths;
        for (const MaskedPicture& record : read_masked(set.files)) check_masked_picture(record, to);
    }
    MaskCheck all;
    for (std::size_t i = 0; i < checked.size(); ++i) {
        all.files.push_back(checked[i].file);
        if (i == 0) continue;
        MaskLeakCheck leak{checked[0].file.name, checked[i].file.name};
        for (const std::uint64_t h : checked[i].hashes)
            leak.pictures += checked[0].hashes.count(h) > 0;
        for (const auto& [value, count] : checked[i].file.values)
            if (!checked[0].file.values.contains(value)) leak.unknown.push_back(value);
        all.leaks.push_back(leak);
    }
    return all;
}

}  // namespace fovea
