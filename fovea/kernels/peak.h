#pragma once
// What the machine could do at best, as loops that do nothing else: the limits that `fovea bench`
// holds every kernel against. The caller takes the time; all threads of the pool take part.
#include <cstdint>

namespace fovea::kernels {

// Fused multiply-adds between registers at the active level; returns the floating-point
// operations done (two for each multiply-add). About 1 ms for rounds = 100,000.
std::int64_t spin_fma(std::int64_t rounds);

// Dot products of pairs in bf16 (vdpbf16ps) between registers; 0 where AVX512-BF16 is not active.
std::int64_t spin_dot_bf16(std::int64_t rounds);

// Tile products between registers; 0 where AMX is not active.
std::int64_t spin_amx_bf16(std::int64_t rounds);
std::int64_t spin_amx_int8(std::int64_t rounds);

// A copy with plain loads and stores.
void copy_plain(const float* from, float* to, std::int64_t n);

// Reads n values; the return keeps the compiler from leaving it out.
float read_plain(const float* from, std::int64_t n);

}  // namespace fovea::kernels
