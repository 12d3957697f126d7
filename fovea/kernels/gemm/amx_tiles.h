#pragma once
// The AMX instructions we use, as assembly: no compiler flags, no target attributes, so nothing of
// this file can leak into code that runs on other CPUs. Only amx_block.cpp and peak.cpp include
// it, and they run it only where active_isa() is Isa::amx.
//
// Every wrapper clobbers memory: the compiler may move no load or store across a tile instruction
// (GCC's own intrinsics leave that out, and declare 8 of the configuration's 64 bytes).
#include <cstdint>
#include <cstring>

namespace fovea::kernels {

// All eight tiles have 16 rows of 64 bytes: 16 x 16 sums of 32 bits, 16 x 32 bf16 or 16 x 64 int8.
// Blocks are padded to whole tiles instead of changing the configuration.
inline constexpr std::int64_t tile_rows = 16, tile_row_bytes = 64, tile_bytes = 1024;

#if defined(__x86_64__)

struct HardwareTiles {
    static void configure() {
        struct alignas(64) {
            std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
            std::uint16_t row_bytes[16] = {};
            std::uint8_t rows[16] = {};
        } config;
        static_assert(sizeof config == 64);
        for (int t = 0; t < 8; ++t) {
            config.row_bytes[t] = tile_row_bytes;
            config.rows[t] = tile_rows;
        }
        __asm__ volatile("ldtilecfg %0" : : "m"(config) : "memory");
    }
    static void release() { __asm__ volatile("tilerelease" : : : "memory"); }
    // Stores past the caches become visible before whatever tells others that they are done.
    static void fence() { __asm__ volatile("sfence" : : : "memory"); }

    template <int tile>
    static void load(const void* from, std::int64_t stride) {
        __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2"
                         :
                         : "r"(from), "r"(stride), "i"(tile)
                         : "memory");
    }
    template <int tile>
    static void store(void* to, std::int64_t stride) {
        __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)"
                         :
                         : "r"(to), "r"(stride), "i"(tile)
                         : "memory");
    }
    template <int tile>
    static void zero() {
        __asm__ volatile("tilezero %%tmm%c0" : : "i"(tile) : "memory");
    }
    // c += a b, of bf16 into f32.
    template <int c, int a, int b>
    static void dot_bf16() {
        __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0"
                         :
                         : "i"(c), "i"(a), "i"(b)
                         : "memory");
    }
    // c += a b, of signed bytes into 32-bit integers.
    template <int c, int a, int b>
    static void dot_int8() {
        __asm__ volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0"
                         :
                         : "i"(c), "i"(a), "i"(b)
                         : "memory");
    }
};

#endif

}  // namespace fovea::kernels
