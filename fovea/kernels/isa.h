#pragma once
// Which instructions the kernels use. The level is found once, at the first kernel call; the
// environment variable FOVEA_ISA=scalar|avx2|avx512|amx forces a lower one (asking for what the
// machine lacks is an error that says what it has). Every kernel obeys: those written with Highway
// through FOVEA_DISPATCH (see simd_targets.h, which shows how such a file is written), the AMX
// files by asking active_isa().
//
// Matrix products give the same bits on all levels; see gemm.h.
#include <string>

namespace fovea::kernels {

// In rising order: a level includes those before it.
enum class Isa { scalar, avx2, avx512, amx };

const char* name_of(Isa isa);

Isa best_isa();    // what the CPU and the operating system offer
Isa active_isa();  // what the kernels use: best_isa(), or FOVEA_ISA

// Tests and benchmarks walk through the levels with this. Throws where the machine lacks the level.
// Not while kernels run on another thread.
void set_isa(Isa isa);

// AVX-512 dot products of bytes (vpdpbusd) at the active level.
bool has_avx512_vnni();
// The conversion of f32 to bf16 (vcvtne2ps2bf16) and dot products of pairs (vdpbf16ps); the amx
// level implies them.
bool has_avx512_bf16();

// For `fovea doctor`, e.g. "avx2 (found: scalar, avx2; AVX-512: the CPU lacks it; AMX: …)".
std::string isa_report();

// Why AMX is not used: "the CPU lacks it", "the kernel refused permission", … Empty if it is used.
std::string why_not_amx();

// Reads FOVEA_ISA and tells Highway, once. FOVEA_DISPATCH calls it; so does active_isa().
void settle_isa();

}  // namespace fovea::kernels
