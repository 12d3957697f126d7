#include "fovea/cli/terminal/train_display.h"

#include <fmt/core.h>

#include "fovea/cli/terminal/interrupt.h"

namespace fovea {
namespace {

constexpr std::int64_t whole = 10000;  // the line counts in hundredths of a per cent

std::string memory_text(double bytes) {
    return bytes < 1e9 ? fmt::format("{:.0f} MB", bytes / 1e6)
                       : fmt::format("{:.1f} GB", bytes / 1e9);
}

}  // namespace

TrainDisplay::TrainDisplay(bool quiet)
    : line_("train", whole, "", {.quiet = quiet}), quiet_(quiet) {}

TrainEvents TrainDisplay::events() {
    TrainEvents e;
    e.step = [this](const StepReport& r) { step(r); };
    e.epoch = [this](std::int64_t epoch, double loss, double seconds) {
        line_.say(fmt::format("epoch {:>3}   mean loss {:.4f}   {}", epoch, loss,
                              duration_text(seconds)));
    };
    e.evaluation = [this](const EvaluationReport& r) {
        const Evaluation& v = r.evaluation;
        const std::string score =
            v.name == "loss" ? "" : fmt::format("   {} {:.2f}", v.name, v.value);
        line_.say(fmt::format("step {:>6}   dev loss {:.4f}{}{}", r.step, v.loss, score,
                              r.best && !v.rough ? "   best" : ""));  // rough: the last is kept
    };
    e.message = [this](const std::string& m) { line_.say(m); };
    e.stop = &stop_;
    return e;
}

void TrainDisplay::step(const StepReport& r) {
    if (interrupted()) stop_ = interrupt_signal();
    line_.update(static_cast<std::int64_t>(r.progress * whole),
                 fmt::format("step {}  ep {}  loss {:.3f}  {} {}/s  lr {:.2e}  |g| {:.2f}  {}",
                             r.step, r.epoch, r.smooth_loss, rate_text(r.tokens_per_second), r.unit,
                             r.rate, r.gradient_norm, memory_text(static_cast<double>(r.memory))));
}

}  // namespace fovea
