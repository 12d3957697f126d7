#include "fovea/data/check_waves.h"

#include <fmt/core.h>

#include <cmath>
#include <set>
#include <unordered_set>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/data/split.h"
#include "fovea/io/mfc.h"
#include "fovea/io/wave.h"

namespace fovea {
namespace {

constexpr std::size_t most_messages = 5;

struct Heard {
    double seconds = 0;
    std::uint64_t content = 0;
};

std::uint64_t content_of(std::span<const float> values) {
    return record_hash({std::string_view(reinterpret_cast<const char*>(values.data()),
                                         values.size() * sizeof(float))});
}

void note_wave(WaveFileCheck& f, const std::string& what) {
    if (f.messages.size() < most_messages) f.messages.push_back(what);
}

Heard hear(const SpokenClip& clip, WaveFileCheck& f) {
    if (clip.path.ends_with(".mfc")) {
        const Tensor rows = read_mfc(clip.path);
        return {static_cast<double>(rows.rows()) / 100, content_of(rows.span())};
    }
    const Wave w = read_wave(clip.path);
    ++f.rates[w.sample_rate];
    ++f.channels[w.channels];
    std::size_t full = 0;
    float top = 0;
    for (const float v : w.samples) {
        full += std::fabs(v) >= 32767 / 32768.0f;
        top = std::fmax(top, std::fabs(v));
    }
    if (full * 1000 >= w.samples.size()) {
        ++f.clipped;
        note_wave(f, clip.path + ": is cut off at full scale");
    }
    if (top < 1e-3f) {
        ++f.silent;
        note_wave(f, clip.path + ": is silent");
    }
    return {w.seconds(), content_of(w.samples)};
}

std::string counts_of(const std::map<int, std::int64_t>& counts) {
    std::string all;
    for (const auto& [value, n] : counts)
        all += (all.empty() ? "" : ", ") +
               (counts.size() == 1 ? std::to_string(value) : fmt::format("{} ({})", value, n));
    return all;
}

WaveFileCheck check_set(const NamedClips& set, std::unordered_set<std::uint64_t>& own,
                        std::set<std::string>& labels, bool& classes) {
    WaveFileCheck f;
    f.name = set.name;
    f.paths = set.files.paths;
    Problems problems;
    ClipFiles files = set.files;
    files.skip_bad = INT64_MAX;
    const ClipSet clips = read_clips(files, &problems);
    classes = clips.classes;
    f.notes = problems.notes;
    f.unreadable = problems.skipped;
    for (const std::string& m : problems.first) note_wave(f, m);
    for (const SpokenClip& clip : clips.clips) {
        ++f.clips;
        f.untold += clip.text.find_first_not_of(' ') == std::string::npos;
        labels.insert(clip.text);
        try {
            const Heard h = hear(clip, f);
            f.shortest = f.seconds == 0 ? h.seconds : std::fmin(f.shortest, h.seconds);
            f.longest = std::fmax(f.longest, h.seconds);
            f.seconds += h.seconds;
            f.repeated += !own.insert(h.content).second;
        } catch (const Error& e) {  // one line each; the check goes on
            ++f.unreadable;
            note_wave(f, e.what());
        }
    }
    return f;
}

}  // namespace

WaveCheck check_waves(std::span<const NamedClips> sets) {
    WaveCheck check;
    std::unordered_set<std::uint64_t> first;
    std::set<std::string> known;
    for (const NamedClips& set : sets) {
        std::unordered_set<std::uint64_t> own;
        std::set<std::string> labels;
        bool classes = false;
        WaveFileCheck f = check_set(set, own, labels, classes);
        if (check.files.empty()) {
            first = std::move(own);
            known = std::move(labels);
        } else {
            for (const std::uint64_t content : own)
                f.shared += static_cast<std::int64_t>(first.count(content));
            for (const std::string& label : labels) f.new_labels += classes && !known.count(label);
        }
        check.files.push_back(std::move(f));
    }
    return check;
}

bool WaveCheck::clean() const {
    for (const WaveFileCheck& f : files)
        if (f.unreadable > 0 || f.shared > 0 || f.new_labels > 0) return false;
    return true;
}

std::string WaveCheck::text() const {
    std::string out;
    for (const WaveFileCheck& f : files) {
        for (const std::string& note : f.notes) out += "note: " + note + "\n";
        out += fmt::format("{}: {} sounds, {:.1f} minutes, {:.2f} to {:.2f} s each\n", f.name,
                           f.clips, f.seconds / 60, f.shortest, f.longest);
        if (!f.rates.empty())
            out += fmt::format("  samples a second: {}; channels: {}\n", counts_of(f.rates),
                               counts_of(f.channels));
        const auto say = [&](std::int64_t n, const char* what) {
            if (n > 0) out += fmt::format("  {} {}\n", n, what);
        };
        say(f.unreadable, "cannot be read");
        say(f.clipped, "are cut off at full scale");
        say(f.silent, "are silent");
        say(f.untold, "have no transcript");
        say(f.repeated, "repeat others");
        say(f.shared, "stand in the first set too");
        say(f.new_labels, "labels are not in the first set");
        for (const std::string& m : f.messages) out += "  " + m + "\n";
    }
    return out;
}

std::string WaveCheck::json() const {
    Json j{{"schema", "fovea.data_check"}, {"version", 1}, {"files", Json::array()}};
    const auto counts = [](const std::map<int, std::int64_t>& all) {
        Json c = Json::object();
        for (const auto& [value, n] : all) c[std::to_string(value)] = n;
        return c;
    };
    for (const WaveFileCheck& f : files)
        j["files"].push_back({{"name", f.name},
                              {"paths", f.paths},
                              {"notes", f.notes},
                              {"sounds", f.clips},
                              {"seconds", f.seconds},
                              {"shortest", f.shortest},
                              {"longest", f.longest},
                              {"rates", counts(f.rates)},
                              {"channels", counts(f.channels)},
                              {"unreadable", f.unreadable},
                              {"clipped", f.clipped},
                              {"silent", f.silent},
                              {"without_transcript", f.untold},
                              {"repeated", f.repeated},
                              {"shared", f.shared},
                              {"new_labels", f.new_labels},
                              {"messages", f.messages}});
    j["clean"] = clean();
    return to_text(j);
}

}  // namespace fovea
