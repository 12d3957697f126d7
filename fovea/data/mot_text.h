#pragma once
// Tracks as text, as the MOT challenge writes them, one box a line: frame,track,left,top,width,
// height and further columns (a confidence, −1, −1, −1), which are not looked at. Frames and pixels
// are counted from 1 there; boxes here from 0.
// Thread-safety: pure functions, safe from any thread.
#include <cstdint>
#include <string>
#include <vector>

namespace fovea {

struct TrackLine {
    std::int64_t frame = 0, track = 0;  // from 0; any number
    double left = 0, top = 0, width = 0, height = 0;
};

// A line that is none, a box without size or a track that is twice in a frame is an error that
// names the line.
std::vector<TrackLine> read_mot_text(const std::string& path);
std::vector<TrackLine> parse_mot_text(const std::string& text, const std::string& where);
std::string mot_text(const std::vector<TrackLine>& lines);

}  // namespace fovea
