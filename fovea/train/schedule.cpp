#include "fovea/train/schedule.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr ScheduleKind kinds[] = {ScheduleKind::constant, ScheduleKind::inverse_sqrt,
                                  ScheduleKind::noam, ScheduleKind::linear, ScheduleKind::cosine};

}  // namespace

const char* name_of(ScheduleKind kind) {
    switch (kind) {
        case ScheduleKind::constant:
            return "constant";
        case ScheduleKind::inverse_sqrt:
            return "inverse-sqrt";
        case ScheduleKind::noam:
            return "noam";
        case ScheduleKind::linear:
            return "linear";
        case ScheduleKind::cosine:
            return "cosine";
    }
    return "?";
}

ScheduleKind schedule_kind_of(const std::string& name) {
    for (const ScheduleKind k : kinds)
        if (name == name_of(k)) return k;
    if (name == "inverse_sqrt") return ScheduleKind::inverse_sqrt;
    fail_with(ErrorKind::usage, "one of constant, inverse-sqrt, noam, linear, cosine",
              "no schedule \"", name, "\"");
}

void Schedule::check() const {
    const auto want = [](bool ok, const char* what) {
        if (!ok) throw Error(std::string("schedule: ") + what, ErrorKind::usage);
    };
    want(std::isfinite(peak) && peak > 0, "the learning rate (--lr) must be a number above 0");
    want(warmup >= 0, "the warm-up (--warmup) must be a number of updates from 0");
    want(floor >= 0 && floor <= 1, "the floor must lie between 0 and 1");
    want((kind != ScheduleKind::linear && kind != ScheduleKind::cosine) || total > 0,
         "linear and cosine need to know the last update");
}

double Schedule::at(std::int64_t step) const {
    const auto t = static_cast<double>(std::max<std::int64_t>(step, 1));
    const auto w = static_cast<double>(warmup);
    if (kind == ScheduleKind::noam)
        return peak / std::sqrt(static_cast<double>(d_model)) *
               std::min(1 / std::sqrt(t), t * std::pow(std::max(w, 1.0), -1.5));
    if (t < w) return peak * t / w;
    const double left =
        total > warmup
            ? std::clamp((static_cast<double>(total) - t) / (static_cast<double>(total) - w), 0.0,
                         1.0)
            : 0.0;
    switch (kind) {
        case ScheduleKind::inverse_sqrt:
            return peak * std::sqrt(std::max(w, 1.0) / t);
        case ScheduleKind::linear:
            return peak * (floor + (1 - floor) * left);
        case ScheduleKind::cosine:
            return peak * (floor + (1 - floor) * 0.5 * (1 - std::cos(3.141592653589793 * left)));
        default:
            return peak;
    }
}

}  // namespace fovea
