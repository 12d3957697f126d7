#include "fovea/kernels/precision.h"

#include <atomic>

namespace fovea {
namespace {

std::atomic<Precision> of_process{Precision::f32};
thread_local int of_scope = -1;  // -1: no scope on this thread

}  // namespace

const char* name_of(Precision precision) { return precision == Precision::f32 ? "f32" : "bf16"; }

Precision compute_precision() {
    return of_scope >= 0 ? static_cast<Precision>(of_scope)
                         : of_process.load(std::memory_order_relaxed);
}

void set_compute_precision(Precision precision) { of_process.store(precision); }

PrecisionScope::PrecisionScope(Precision precision) : before_(of_scope) {
    of_scope = static_cast<int>(precision);
}
PrecisionScope::~PrecisionScope() { of_scope = before_; }

}  // namespace fovea
