#include "fovea/kernels/peak.h"

#include <atomic>

#include "fovea/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/peak.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Ten chains: two multiply-adds a cycle with a latency of four need eight, and two more hide
// jitter. Each begins with another value: of equal ones a compiler computes only the first.
std::int64_t fma_piece(std::int64_t rounds, float* keep) {
    const hn::ScalableTag<float> d;
    const auto a = hn::Set(d, 0.999999f), b = hn::Set(d, 1e-6f);
    auto c0 = hn::Set(d, 1.0f), c1 = hn::Set(d, 1.1f), c2 = hn::Set(d, 1.2f);
    auto c3 = hn::Set(d, 1.3f), c4 = hn::Set(d, 1.4f), c5 = hn::Set(d, 1.5f);
    auto c6 = hn::Set(d, 1.6f), c7 = hn::Set(d, 1.7f), c8 = hn::Set(d, 1.8f);
    auto c9 = hn::Set(d, 1.9f);
    for (std::int64_t i = 0; i < rounds; ++i) {
        c0 = Fma(c0, a, b);
        c1 = Fma(c1, a, b);
        c2 = Fma(c2, a, b);
        c3 = Fma(c3, a, b);
        c4 = Fma(c4, a, b);
        c5 = Fma(c5, a, b);
        c6 = Fma(c6, a, b);
        c7 = Fma(c7, a, b);
        c8 = Fma(c8, a, b);
        c9 = Fma(c9, a, b);
    }
    const auto sum = hn::Add(hn::Add(hn::Add(c0, c1), hn::Add(c2, c3)),
                             hn::Add(hn::Add(hn::Add(c4, c5), hn::Add(c6, c7)), hn::Add(c8, c9)));
    *keep = hn::GetLane(sum);
    return rounds * 10 * 2 * static_cast<std::int64_t>(hn::Lanes(d));
}

void copy_piece(const float* from, float* to, std::int64_t n) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = 0;
    for (; i + 4 * lanes <= n; i += 4 * lanes) {
        const auto a = hn::LoadU(d, from + i), b = hn::LoadU(d, from + i + lanes);
        const auto c = hn::LoadU(d, from + i + 2 * lanes), e = hn::LoadU(d, from + i + 3 * lanes);
        hn::StoreU(a, d, to + i);
        hn::StoreU(b, d, to + i + lanes);
        hn::StoreU(c, d, to + i + 2 * lanes);
        hn::StoreU(e, d, to + i + 3 * lanes);
    }
    for (; i < n; ++i) to[i] = from[i];
}

float read_piece(const float* from, std::int64_t n) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    std::int64_t i = 0;
    for (; i + 4 * lanes <= n; i += 4 * lanes) {
        s0 = hn::Add(s0, hn::LoadU(d, from + i));
        s1 = hn::Add(s1, hn::LoadU(d, from + i + lanes));
        s2 = hn::Add(s2, hn::LoadU(d, from + i + 2 * lanes));
        s3 = hn::Add(s3, hn::LoadU(d, from + i + 3 * lanes));
    }
    float sum = hn::GetLane(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)));
    for (; i < n; ++i) sum += from[i];
    return sum;
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {

constexpr std::int64_t piece_values = 1 << 14;  // 64 KB: a share small enough to balance

#if defined(__x86_64__)

struct alignas(64) TileConfig {
    std::uint8_t palette = 1;  // never trust CPUID leaf 0x1D: some hypervisors hide it
    std::uint8_t start_row = 0;
    std::uint8_t reserved[14] = {};
    std::uint16_t columns[16] = {64, 64, 64, 64, 64, 64, 64, 64};  // bytes per row
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// Four accumulators (tmm0-3) from two by two operands (tmm4-7): 16 cycles a product against a
// latency of 52.
// The compiler holds nothing in tiles, so that no register needs to be named as clobbered.
__attribute__((target("amx-tile,amx-bf16,amx-int8"))) void amx_piece(std::int64_t rounds,
                                                                     bool bf16) {
    const TileConfig config;
    __asm__ volatile("ldtilecfg %0" : : "m"(config));
    __asm__ volatile(
        "tilezero %%tmm0\n\ttilezero %%tmm1\n\ttilezero %%tmm2\n\ttilezero %%tmm3\n\t"
        "tilezero %%tmm4\n\ttilezero %%tmm5\n\ttilezero %%tmm6\n\ttilezero %%tmm7" ::
            : "memory");
    for (std::int64_t i = 0; i < rounds; ++i) {
        if (bf16)
            __asm__ volatile(
                "tdpbf16ps %%tmm6, %%tmm4, %%tmm0\n\ttdpbf16ps %%tmm7, %%tmm4, %%tmm1\n\t"
                "tdpbf16ps %%tmm6, %%tmm5, %%tmm2\n\ttdpbf16ps %%tmm7, %%tmm5, %%tmm3" ::
                    : "memory");
        else
            __asm__ volatile(
                "tdpbssd %%tmm6, %%tmm4, %%tmm0\n\ttdpbssd %%tmm7, %%tmm4, %%tmm1\n\t"
                "tdpbssd %%tmm6, %%tmm5, %%tmm2\n\ttdpbssd %%tmm7, %%tmm5, %%tmm3" ::
                    : "memory");
    }
    __asm__ volatile("tilerelease" ::: "memory");
}

std::int64_t spin_amx(std::int64_t rounds, bool bf16) {
    if (active_isa() != Isa::amx) return 0;
    const int threads = thread_count();
    parallel_for(threads, 1, [&](std::int64_t, std::int64_t) { amx_piece(rounds, bf16); });
    const std::int64_t operations = 2 * 16 * 16 * (bf16 ? 32 : 64);
    return threads * rounds * 4 * operations;
}

// Twelve chains, more than its latency of six.
__attribute__((target("avx512f"))) void dot_bf16_piece(std::int64_t rounds) {
    __asm__ volatile(
        "vpxord %%zmm31, %%zmm31, %%zmm31\n\tvpxord %%zmm0, %%zmm0, %%zmm0\n\t"
        "vpxord %%zmm1, %%zmm1, %%zmm1\n\tvpxord %%zmm2, %%zmm2, %%zmm2\n\t"
        "vpxord %%zmm3, %%zmm3, %%zmm3\n\tvpxord %%zmm4, %%zmm4, %%zmm4\n\t"
        "vpxord %%zmm5, %%zmm5, %%zmm5\n\tvpxord %%zmm6, %%zmm6, %%zmm6\n\t"
        "vpxord %%zmm7, %%zmm7, %%zmm7\n\tvpxord %%zmm8, %%zmm8, %%zmm8\n\t"
        "vpxord %%zmm9, %%zmm9, %%zmm9\n\tvpxord %%zmm10, %%zmm10, %%zmm10\n\t"
        "vpxord %%zmm11, %%zmm11, %%zmm11\n"
        "1:\n\t"
        "vdpbf16ps %%zmm31, %%zmm31, %%zmm0\n\tvdpbf16ps %%zmm31, %%zmm31, %%zmm1\n\t"
        "vdpbf16ps %%zmm31, %%zmm31, %%zmm2\n\tvdpbf16ps %%zmm31, %%zmm31, %%zmm3\n\t"
        "vdpbf16ps %%zmm31, %%zmm31, %%zmm4\n\tvdpbf16ps %%zmm31, %%zmm31, %%zmm5\n\t"
        "vdpbf16ps %%zmm31, %%zmm31, %%zmm6\n\tvdpbf16ps %%zmm31, %%zmm31, %%zmm7\n\t"
        "vdpbf16ps %%zmm31, %%zmm31, %%zmm8\n\tvdpbf16ps %%zmm31, %%zmm31, %%zmm9\n\t"
        "vdpbf16ps %%zmm31, %%zmm31, %%zmm10\n\tvdpbf16ps %%zmm31, %%zmm31, %%zmm11\n\t"
        "dec %0\n\tjnz 1b"
        : "+r"(rounds)
        :
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
          "xmm11", "xmm31", "cc");
}

#else

std::int64_t spin_amx(std::int64_t, bool) { return 0; }
void dot_bf16_piece(std::int64_t) {}

#endif

HWY_EXPORT(fma_piece);
HWY_EXPORT(copy_piece);
HWY_EXPORT(read_piece);

}  // namespace

std::int64_t spin_fma(std::int64_t rounds) {
    const auto piece = FOVEA_DISPATCH(fma_piece);
    std::atomic<std::int64_t> done{0};
    std::atomic<float> keep{0};
    parallel_for(thread_count(), 1, [&](std::int64_t, std::int64_t) {
        float sum = 0;
        done += piece(rounds, &sum);
        keep.store(sum, std::memory_order_relaxed);
    });
    return done;
}

std::int64_t spin_dot_bf16(std::int64_t rounds) {
    if (!has_avx512_bf16() || rounds <= 0) return 0;
    const int threads = thread_count();
    parallel_for(threads, 1, [&](std::int64_t, std::int64_t) { dot_bf16_piece(rounds); });
    return threads * rounds * 12 * 16 * 2 * 2;  // chains, lanes, pairs
}

std::int64_t spin_amx_bf16(std::int64_t rounds) { return spin_amx(rounds, true); }
std::int64_t spin_amx_int8(std::int64_t rounds) { return spin_amx(rounds, false); }

void copy_plain(const float* from, float* to, std::int64_t n) {
    const auto piece = FOVEA_DISPATCH(copy_piece);
    parallel_for(n, piece_values, [&](std::int64_t begin, std::int64_t end) {
        piece(from + begin, to + begin, end - begin);
    });
}

float read_plain(const float* from, std::int64_t n) {
    const auto piece = FOVEA_DISPATCH(read_piece);
    std::atomic<float> keep{0};
    parallel_for(n, piece_values, [&](std::int64_t begin, std::int64_t end) {
        keep.store(piece(from + begin, end - begin), std::memory_order_relaxed);
    });
    return keep;
}

}  // namespace fovea::kernels
#endif
