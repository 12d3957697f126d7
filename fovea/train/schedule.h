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

struct Schedule {
    ScheduleKind kind = ScheduleKind::inverse_sqrt;
    double peak = 5e-4;          // noam: the factor
    std::int64_t warmup = 4000;  // updates of linear rise from 0
    std::int64_t total = 0;      // linear and cosine: where the fall ends
    double floor = 0;            // linear and cosine: share of the peak that remains
    int d_model = 512;           // noam

    double at(std::int64_t step) const;  // step >= 1
    void check() const;
};

}  // namespace fovea
