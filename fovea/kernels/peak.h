#pragma once
// What this machine can do at most, measured now and briefly: the limits that benchmarks and
// `fovea doctor` compare with. The host may be shared and noisy: sample often, interleaved with
// what is compared, and keep the best.
//
// `threads` must not exceed thread_count().
#include <cstdint>

#include "fovea/kernels/pack.h"

namespace fovea::kernels {

// Multiply-adds in registers at the active level, in GFLOP/s.
double peak_f32(int threads, double seconds = 0.02);

// Tile products in registers, bf16 or int8, in GFLOP/s (GOP/s); 0 where the active level is not
// amx.
double peak_amx(Format format, int threads, double seconds = 0.02);

// GB/s over a working set of `bytes` in all, split evenly over the threads. A copy counts what it
// reads and what it writes; `past_caches` writes with non-temporal stores.
double read_bandwidth(std::int64_t bytes, int threads, double seconds = 0.05);
double copy_bandwidth(std::int64_t bytes, int threads, bool past_caches = false,
                      double seconds = 0.05);

}  // namespace fovea::kernels
