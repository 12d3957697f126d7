#pragma once
// The precision of matrix products and attention is a property of the run, not of a tensor: f32, or
// bf16 operands with f32 sums. Ops read it when they call a kernel; the command line sets it once.

namespace fovea {

enum class Precision { f32, bf16 };

const char* name_of(Precision precision);

// The calling thread's precision: that of the innermost PrecisionScope on this thread, else the
// process-wide one (f32 until set).
Precision compute_precision();
void set_compute_precision(Precision precision);  // process-wide

class PrecisionScope {
public:
    explicit PrecisionScope(Precision precision);
    ~PrecisionScope();
    PrecisionScope(const PrecisionScope&) = delete;
    PrecisionScope& operator=(const PrecisionScope&) = delete;

private:
    int before_;
};

}  // namespace fovea
