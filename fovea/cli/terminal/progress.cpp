#include "fovea/cli/terminal/progress.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/clock.h"
#include "fovea/base/utf8.h"
#include "fovea/cli/terminal/interrupt.h"
#include "fovea/cli/terminal/terminal.h"

namespace fovea {
namespace {

constexpr double silence = 0.5;       // seconds before the first line
constexpr double redraw_every = 0.1;  // on a terminal
constexpr double log_every = 30;      // elsewhere
constexpr double log_at_least = 1;    // never two log lines within this time
constexpr double log_share = 0.05;
constexpr int bar_cells = 14;

// Eighths of a cell, so that the bar moves smoothly: ▕████████▋     ▏
std::string bar(double share) {
    static const char* const eighths[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const int filled = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * bar_cells * 8));
    std::string text = "▕";
    for (int cell = 0; cell < bar_cells; ++cell) {
        const int part = std::clamp(filled - cell * 8, 0, 8);
        text += part == 8 ? "█" : eighths[part];
    }
    return text + "▏";
}

}  // namespace

std::string duration_text(double seconds) {
    if (!(seconds >= 0) || seconds > 1e9) return "?";
    if (seconds < 9.95) return fmt::format("{:.1f}s", seconds);
    const auto s = static_cast<std::int64_t>(std::llround(seconds));
    if (s < 60) return fmt::format("{}s", s);
    if (s < 3600) return fmt::format("{}m{:02}s", s / 60, s % 60);
    return fmt::format("{}h{:02}m", s / 3600, s % 3600 / 60);
}

std::string rate_text(double r) {
    if (r >= 1e6) return fmt::format("{:.1f} M", r / 1e6);
    if (r >= 1e4) return fmt::format("{:.1f} k", r / 1e3);
    if (r >= 100) return fmt::format("{:.0f}", r);
    return fmt::format("{:.3g}", r);
}

Progress::Progress(std::string label, std::int64_t total, std::string unit, ProgressOptions options)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      options_(std::move(options)),
      terminal_(options_.terminal >= 0 ? options_.terminal == 1
                                       : takes_control_codes(options_.out)) {
    if (!options_.now) options_.now = now_seconds;
    start_ = options_.now();
    last_ = start_;
}

Progress::~Progress() { finish(); }

void Progress::update(std::int64_t done, std::string_view note) {
    done_ = done;
    if (first_ < 0) first_ = unit_.empty() ? done : 0;
    if (options_.quiet || finished_) return;
    const double now = options_.now();
    if (now - start_ < silence) {
        note_.assign(note);
        return;
    }
    const double share = total_ > 0 ? static_cast<double>(done_) / static_cast<double>(total_) : 0;
    const double waited = now - last_;
    const bool due = terminal_ ? !drawn_ || waited >= redraw_every
                               : waited >= log_every ||
                                     (share - last_share_ >= log_share && waited >= log_at_least);
    note_.assign(note);
    if (due) draw(now);
}

std::string Progress::line(double now, std::string_view note) const {
    const double took = std::max(now - start_, 1e-9);
    const double rate = static_cast<double>(done_ - std::max<std::int64_t>(0, first_)) / took;
    std::string text = label_;
    if (total_ > 0) {
        const double share =
            std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
        if (terminal_) text += "  " + bar(share);
        text += fmt::format(" {:3.0f} %", std::floor(share * 100));
        if (!terminal_ && !unit_.empty()) text += fmt::format("  {}/{}", done_, total_);
    } else {
        text += fmt::format("  {}", done_);
    }
    if (!note.empty()) text += "  " + std::string(note);
    if (!unit_.empty()) text += fmt::format("  {} {}/s", rate_text(rate), unit_);
    if (!finished_ && total_ > done_ && rate > 0)
        text += "  eta " + duration_text(static_cast<double>(total_ - done_) / rate);
    else
        text += "  took " + duration_text(took);
    return text;
}

std::string Progress::fitting_line(double now, int width) const {
    std::string_view note = note_;
    std::string text = line(now, note);
    while (display_width(text) > width && !note.empty()) {
        const std::size_t cut = note.rfind("  ");
        note = cut == std::string_view::npos ? std::string_view() : note.substr(0, cut);
        text = line(now, note);
    }
    return std::string(first_columns(text, width));
}

void Progress::hide() {
    clear_line();
    drawn_ = false;
    std::fflush(options_.out);
}

void Progress::clear_line() {
    if (!terminal_ || !drawn_) return;
    std::fputs("\r\x1b[K", options_.out);
    set_line_open(false);
}

void Progress::draw(double now) {
    if (terminal_) {
        const int width = options_.width > 0 ? options_.width : terminal_width(options_.out);
        clear_line();
        std::fputs(fitting_line(now, width - 1).c_str(), options_.out);
        set_line_open(true);
    } else {
        std::fputs((line(now, note_) + "\n").c_str(), options_.out);
    }
    std::fflush(options_.out);
    drawn_ = shown_ = true;
    last_done_ = done_;
    last_ = now;
    if (total_ > 0) last_share_ = static_cast<double>(done_) / static_cast<double>(total_);
}

void Progress::finish() {
    if (finished_) return;
    finished_ = true;
    if (options_.quiet) return;
    const double now = options_.now();
    // Work shorter than the silence leaves no trace; a log gets its last line, once.
    const bool said = !terminal_ && shown_ && last_done_ == done_ && done_ >= total_;
    if (!said && (shown_ || (!terminal_ && now - start_ >= silence))) draw(now);
    if (terminal_ && drawn_) std::fputs("\n", options_.out);
    set_line_open(false);
    std::fflush(options_.out);
}

void Progress::say(std::string_view text) {
    if (options_.quiet) return;
    clear_line();
    std::fputs((std::string(text) + "\n").c_str(), options_.out);
    if (terminal_ && drawn_ && !finished_) draw(options_.now());
    std::fflush(options_.out);
}

}  // namespace fovea
