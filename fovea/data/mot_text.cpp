#include "fovea/data/mot_text.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea {
namespace {

constexpr const char* mot_hint =
    "a line is frame,track,left,top,width,height, counted from 1, as the MOT challenge has it";

// The first six numbers of a line; false where they are not there.
bool six_numbers(std::string_view line, double (&to)[6]) {
    const char *at = line.data(), *end = at + line.size();
    for (int i = 0; i < 6; ++i) {
        while (at < end && (*at == ' ' || *at == '\t')) ++at;
        const auto read = std::from_chars(at, end, to[i]);
        if (read.ec != std::errc() || !std::isfinite(to[i]) || std::fabs(to[i]) > 1e9) return false;
        at = read.ptr;
        while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) ++at;
        if (i < 5 && (at == end || *at++ != ',')) return false;
    }
    return at == end || *at == ',';
}

}  // namespace

std::vector<TrackLine> parse_mot_text(const std::string& text, const std::string& where) {
    std::vector<TrackLine> all;
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    std::int64_t number = 0;
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t end = std::min(text.find('\n', from), text.size());
        const std::string_view line(text.data() + from, end - from);
        from = end + 1;
        ++number;
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
        double n[6];
        const auto bad = [&](const auto&... what) {
            fail_with(ErrorKind::bad_input, mot_hint, where, ":", number, ": ", what...);
        };
        if (!six_numbers(line, n)) bad("is not a box of a track");
        if (n[0] < 1 || n[0] > 1e6 || n[0] != std::floor(n[0]) || n[1] != std::floor(n[1]))
            bad("frame ", n[0], " and track ", n[1], " must be whole numbers, frames from 1");
        if (n[4] <= 0 || n[5] <= 0) bad("a box of ", n[4], " × ", n[5], " pixels");
        const TrackLine t{static_cast<std::int64_t>(n[0]) - 1,
                          static_cast<std::int64_t>(n[1]),
                          n[2] - 1,
                          n[3] - 1,
                          n[4],
                          n[5]};
        if (!seen.emplace(t.frame, t.track).second)
            bad("track ", t.track, " is twice in frame ", t.frame + 1);
        all.push_back(t);
    }
    return all;
}

std::vector<TrackLine> read_mot_text(const std::string& path) {
    return parse_mot_text(read_file(path), path);
}

std::string mot_text(const std::vector<TrackLine>& lines) {
    std::string text;
    for (const TrackLine& t : lines)
        text += fmt::format("{},{},{},{},{},{},1,-1,-1,-1\n", t.frame + 1, t.track, t.left + 1,
                            t.top + 1, t.width, t.height);
    return text;
}

}  // namespace fovea
