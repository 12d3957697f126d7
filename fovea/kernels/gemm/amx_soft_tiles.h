#pragma once
// A stand-in for the tile instructions, for tests on machines without AMX: palette 1 as Intel's
// manual describes it, all tiles of 16 rows x 64 bytes, with the bf16 order of operations that was
// measured on the hardware (see gemm.h). Instructions outside configure … release are an error.
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "fovea/kernels/bf16.h"

namespace fovea::kernels {

struct SoftTiles {
    struct Tile {
        alignas(64) unsigned char bytes[16][64];
    };
    struct State {
        Tile tile[8];
        bool configured = false;
    };
    static State& state() {
        thread_local State s;
        return s;
    }
    static Tile& tile_at(int t) {
        assert(state().configured);
        return state().tile[t];
    }

    static void configure() {
        assert(!state().configured);
        std::memset(state().tile, 0, sizeof state().tile);
        state().configured = true;
    }
    static void release() {
        assert(state().configured);
        state().configured = false;
    }
    static void fence() {
#if defined(__x86_64__)
        __builtin_ia32_sfence();
#endif
    }
    template <int tile>
    static void load(const void* from, std::int64_t stride) {
        for (int r = 0; r < 16; ++r)
            std::memcpy(tile_at(tile).bytes[r], static_cast<const char*>(from) + r * stride, 64);
    }
    template <int tile>
    static void store(void* to, std::int64_t stride) {
        for (int r = 0; r < 16; ++r)
            std::memcpy(static_cast<char*>(to) + r * stride, tile_at(tile).bytes[r], 64);
    }
    template <int tile>
    static void zero() {
        std::memset(&tile_at(tile), 0, sizeof(Tile));
    }

    template <int c, int a, int b>
    static void dot_bf16() {
        const auto at = [](int t, int row, int i) {
            Bf16 x;
            std::memcpy(&x, &tile_at(t).bytes[row][i * 2], 2);
            return from_bf16(x);
        };
        for (int m = 0; m < 16; ++m)
            for (int n = 0; n < 16; ++n) {
                float even = 0, odd = 0, sum;
                for (int k = 0; k < 16; ++k) {
                    even = std::fma(at(a, m, 2 * k), at(b, k, 2 * n), even);
                    odd = std::fma(at(a, m, 2 * k + 1), at(b, k, 2 * n + 1), odd);
                }
                std::memcpy(&sum, &tile_at(c).bytes[m][n * 4], 4);
                sum += even + odd;
                std::memcpy(&tile_at(c).bytes[m][n * 4], &sum, 4);
            }
    }
    template <int c, int a, int b>
    static void dot_int8() {
        const auto at = [](int t, int row, int i) {
            return std::int32_t{static_cast<std::int8_t>(tile_at(t).bytes[row][i])};
        };
        for (int m = 0; m < 16; ++m)
            for (int n = 0; n < 16; ++n) {
                std::int32_t sum;
                std::memcpy(&sum, &tile_at(c).bytes[m][n * 4], 4);
                for (int k = 0; k < 64; ++k) sum += at(a, m, k) * at(b, k / 4, n * 4 + k % 4);
                std::memcpy(&tile_at(c).bytes[m][n * 4], &sum, 4);
            }
    }
};

}  // namespace fovea::kernels
