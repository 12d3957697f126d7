#pragma once
// The progress line of anything that takes time, on standard error.
//
//   train  ▕████████▋     ▏ 62 %  loss 0.412  18.4 k tok/s  eta 2m41s
//
// Nothing for the first half second. On a terminal: one line, rewritten at most ten times a second.
// Elsewhere (a log, a pipe): a plain line every 30 seconds or 5 %, whichever comes first, but never
// two within a second. Quiet mode: nothing.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

namespace fovea {

struct ProgressOptions {
    std::FILE* out = stderr;
    bool quiet = false;
    // For tests; the real ones where left empty.
    std::function<double()> now{};  // seconds
    int terminal = -1;              // 1 a terminal, 0 not, -1 ask
    int width = 0;                  // columns, 0 ask
};

class Progress {
public:
    // `total` units of work (0: not known), e.g. Progress("train", 1000, "steps"). Without a unit
    // the numbers are a share of the work (which may have begun in an earlier sitting): only per
    // cents and the time to come are shown.
    Progress(std::string label, std::int64_t total, std::string unit, ProgressOptions options = {});
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // `done` units are done. `note` stands in the line ("loss 0.412  acc 0.871"), its fields two
    // spaces apart, the most important first: the last ones go where the line is too short for
    // them, so that the time to come is always there. Cheap: call it after every step.
    void update(std::int64_t done, std::string_view note = {});

    // Takes the line away until the next update, so that answers can be printed.
    void hide();

    // Draws the last state and ends the line, if there was one. The destructor does it too.
    void finish();

    // A line for the reader above the progress line (nothing in quiet mode).
    void say(std::string_view text);

private:
    std::string line(double now, std::string_view note) const;
    std::string fitting_line(double now, int width) const;
    void draw(double now);
    void clear_line();

    std::string label_, unit_, note_;
    std::int64_t total_, done_ = 0;
    ProgressOptions options_;
    bool terminal_;
    bool drawn_ = false;  // the line is on the terminal now
    bool shown_ = false;  // it was, at least once
    bool finished_ = false;
    double start_, last_ = 0;
    double last_share_ = 0;
    std::int64_t last_done_ = -1;  // as drawn last
    std::int64_t first_ = -1;      // done at the first update
};

std::string duration_text(double seconds);  // 0.4s 12s 2m41s 3h05m
std::string rate_text(double per_second);   // 3.21  845  18.4 k  2.1 M

}  // namespace fovea
