#include "fovea/data/check_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/data/text_stats.h"

namespace fovea {
namespace {

constexpr std::size_t bad_to_show = 100, leaks_to_show = 5;

using LabelOfPicture = std::unordered_map<std::uint64_t, std::string>;

std::string size_text(const Picture& p) {
    return fmt::format("{} × {}, {} channel{}", p.width, p.height, p.channels,
                       p.channels == 1 ? "" : "s");
}

std::string most_frequent(const std::map<std::string, std::int64_t>& counts) {
    std::vector<std::pair<std::string, std::int64_t>> all(counts.begin(), counts.end());
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string out;
    for (std::size_t i = 0; i < all.size() && i < 20; ++i)
        out += fmt::format("{}{} ({})", i ? ", " : "", all[i].first, grouped(all[i].second));
    return out + (all.size() > 20 ? fmt::format(", … ({} in all)", all.size()) : "");
}

void check_one(const LabelledText& t, const PictureReader& reader, PictureFileCheck& f,
               std::uint64_t& hash) {
    const Picture p = reader.read(t.texts, 0);
    hash = reader.content_hash(t.texts);
    ++f.pictures;
    ++f.sizes[size_text(p)];
    for (const std::string& label : t.labels) ++f.labels[label];
}

std::string picture_file_text(const PictureFileCheck& f) {
    std::string out = f.name + ":";
    for (const std::string& path : f.paths) out += " " + path;
    out += fmt::format("\n  {} pictures, {} labels\n", grouped(f.pictures), f.labels.size());
    for (const std::string& note : f.notes) out += "  " + note + "\n";
    if (f.bad_files > 0) {
        out += fmt::format("  BAD FILES: {}\n", grouped(f.bad_files));
        for (const std::string& m : f.bad_messages) out += "    " + m + "\n";
    }
    out += "  labels: " + most_frequent(f.labels) + "\n";
    out += "  sizes: " + most_frequent(f.sizes) + "\n";
    if (f.repeated > 0)
        out += fmt::format("  pictures that repeat an earlier one: {}, with another label: {}\n",
                           grouped(f.repeated), grouped(f.two_labels));
    return out;
}

}  // namespace

PictureCheck check_pictures(std::span<const NamedPictures> sets) {
    PictureCheck check;
    LabelOfPicture training;
    for (std::size_t s = 0; s < sets.size(); ++s) {
        LabelledPictures files = sets[s].files;
        files.skip_bad = INT64_MAX;  // all of them are to be counted
        files.keep_messages = static_cast<int>(bad_to_show);
        PictureFileCheck f;
        f.name = sets[s].name;
        f.paths = files.paths;
        Problems problems;
        PictureLeakCheck leak{
            .training = sets[0].name, .held_out = f.name, .names = {}, .unknown = {}};
        const PictureReader reader;
        LabelOfPicture own;
        const std::vector<LabelledText> records = read_labelled_pictures(files, &problems);
        f.bad_files = problems.skipped;
        f.bad_messages = std::move(problems.first);
        f.notes = std::move(problems.notes);
        for (const LabelledText& t : records) {
            std::uint64_t hash = 0;
            try {
                check_one(t, reader, f, hash);
            } catch (const Error& e) {  // a file at fault is what is looked for
                ++f.bad_files;
                if (f.bad_messages.size() < bad_to_show) f.bad_messages.emplace_back(e.what());
                continue;
            }
            const auto [at, is_new] = own.emplace(hash, t.labels[0]);
            f.repeated += !is_new;
            f.two_labels += !is_new && at->second != t.labels[0];
            if (training.count(hash) == 0) continue;
            ++leak.pictures;
            if (leak.names.size() < leaks_to_show) leak.names.push_back(t.texts[0]);
        }
        if (s == 0) {
            training = std::move(own);
        } else {
            for (const auto& [name, count] : f.labels)
                if (!check.files[0].labels.count(name)) leak.unknown[name] = count;
            check.leaks.push_back(std::move(leak));
        }
        check.files.push_back(std::move(f));
    }
    return check;
}

bool PictureCheck::clean() const {
    return std::all_of(files.begin(), files.end(),
                       [](const PictureFileCheck& f) { return f.bad_files == 0; }) &&
           std::all_of(leaks.begin(), leaks.end(), [](const PictureLeakCheck& l) {
               return l.unknown.empty() && l.pictures == 0;
           });
}

std::string PictureCheck::text() const {
    std::string out;
    for (const PictureFileCheck& f : files) out += picture_file_text(f);
    for (const PictureLeakCheck& l : leaks) {
        out += fmt::format("{} in {}: {} pictures\n", l.held_out, l.training, grouped(l.pictures));
        for (const std::string& name : l.names) out += "    " + name + "\n";
        if (!l.unknown.empty())
            out += fmt::format("  UNKNOWN (not in {}): {}\n", l.training, most_frequent(l.unknown));
    }
    return out + (clean() ? "clean: all can be read, nothing is shared or unknown\n"
                          : "NOT CLEAN: see bad files, shared pictures or unknown labels above\n");
}

std::string PictureCheck::json() const {
    Json j{{"clean", clean()}, {"files", Json::array()}, {"leaks", Json::array()}};
    for (const PictureFileCheck& f : files)
        j["files"].push_back({{"name", f.name},
                              {"paths", f.paths},
                              {"pictures", f.pictures},
                              {"bad_files", f.bad_files},
                              {"bad_messages", f.bad_messages},
                              {"labels", f.labels},
                              {"sizes", f.sizes},
                              {"repeated", f.repeated},
                              {"two_labels", f.two_labels}});
    for (const PictureLeakCheck& l : leaks)
        j["leaks"].push_back({{"training", l.training},
                              {"held_out", l.held_out},
                              {"pictures", l.pictures},
                              {"names", l.names},
                              {"unknown", l.unknown}});
    return to_text(j);
}

}  // namespace fovea
