#pragma once
// The learning rate as a pure function of the update number (from 1): nothing to save, nothing to
// drift on resume.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <cstdint>
#include <string>

namespace fovea {

enum class ScheduleKind {
    constant,      // peak after warm-up
    inverse_sqrt,  // peak · √(warmup / t): the shape of Vaswani et al. 2017, eq. 3, with a free
                   // peak
    noam,          // eq. 3 itself: peak · d_model^-½ · min(t^-½, t · warmup^-3/2)
    linear,        // down to `floor` · peak at the last step
    cosine,        // likewise along a half cosine
};
const char* name_of(ScheduleKind kind);
ScheduleKind schedule_kind_of(const std::string& name);

// What is left open (peak 0, warmup -1, total 0) is filled in before a run begins: the peak by the
// task, warm-up and end by the run's plan.
//
// Linear is the default since a budget is always known beforehand and a rate that falls to zero at
// its end loses least: Bergsma et al. 2025, "Straight to zero", found it ahead of cosine and of
// schedules that end high, at every length of run. The inverse square root would still be at a
// third of its peak after ten times its warm-up.
struct Schedule {
    ScheduleKind kind = ScheduleKind::linear;
    double peak = 0;           // noam: the factor
    std::int64_t warmup = -1;  // updates of linear rise from 0
    std::int64_t total = 0;    // linear and cosine: where the fall ends
    double floor = 0;          // linear and cosine: share of the peak that remains
    int d_model = 512;         // noam

    double at(std::int64_t step) const;  // step >= 1
    void check() const;                  // that nothing is left open, and numbers are sound
};

}  // namespace fovea
