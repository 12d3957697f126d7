#include "fovea/ops/run_precision.h"

#include "fovea/kernels/precision.h"

namespace fovea {

void set_run_precision(const std::string& name) {
    if (name == "f32")
        set_compute_precision(Precision::f32);
    else if (name == "bf16")
        set_compute_precision(Precision::bf16);
    else
        fail_with(ErrorKind::usage, "f32 or bf16", "no precision \"", name, "\"");
}

std::string run_precision() { return name_of(compute_precision()); }

}  // namespace fovea
