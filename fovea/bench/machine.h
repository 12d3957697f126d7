#pragma once
// What this machine is and what Fovea makes of it: the facts behind `fovea doctor`.
#include <string>
#include <utility>
#include <vector>

namespace fovea::bench {

struct Machine {
    std::string cpu, system, kernel;
    std::vector<std::string> isa_found;  // scalar, avx2, …
    std::string isa_used, isa_note;      // and why not more
    std::string bf16_way;                // how bf16 products are computed here
    int cores_online = 0, cores_allowed = 0, threads = 0;
    double memory_total = 0, memory_allowed = 0, memory_free = 0;  // bytes
    std::vector<std::pair<std::string, std::string>> versions;     // library, version
};

Machine look_at_machine();

// What matrix products reach here, best of about two seconds of samples.
struct GemmFigure {
    std::string precision;
    double gflops = 0, share = 0;  // of the limit sampled in the same run
};
std::vector<GemmFigure> gemm_figures(double seconds = 2);

}  // namespace fovea::bench
