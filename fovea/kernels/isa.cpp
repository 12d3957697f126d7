#include "fovea/kernels/isa.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>

#include "fovea/base/error.h"
#include "hwy/targets.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace fovea::kernels {
namespace {

struct Machine {
    Isa best = Isa::scalar;
    bool avx512_vnni = false, avx512_bf16 = false;
    std::string no_avx512, no_amx;
};

#if defined(__x86_64__)

std::uint64_t enabled_states() {  // XCR0: which register files the operating system saves
    std::uint32_t low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (std::uint64_t{high} << 32) | low;
}

// Leaf 0x1D (the palette) is not read: a hypervisor may hide it while the tiles work.
std::string amx_obstacle() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return "the CPU lacks it";
    const bool tile = (d >> 24) & 1, bf16 = (d >> 22) & 1, int8 = (d >> 25) & 1;
    if (!tile) return "the CPU lacks it";
    if (!bf16 || !int8) return "the CPU has tiles but not both bf16 and int8 products";
    constexpr std::uint64_t tile_states = (1u << 17) | (1u << 18);
    if ((enabled_states() & tile_states) != tile_states)
        return "the operating system does not save the tile registers";
    // Linux asks each process to request the large tile state before its first use; the answer
    // holds for all of its threads.
    constexpr long arch_req_xcomp_perm = 0x1023, xfeature_tiledata = 18;
    if (syscall(SYS_arch_prctl, arch_req_xcomp_perm, xfeature_tiledata) != 0)
        return "the kernel refused permission (arch_prctl ARCH_REQ_XCOMP_PERM)";
    return {};
}

Machine look() {
    Machine m;
    const std::int64_t targets = hwy::SupportedTargets();
    if ((targets & HWY_AVX2) == 0) {
        m.no_avx512 = m.no_amx = "the CPU lacks it";
        return m;
    }
    m.best = Isa::avx2;
    if ((targets & HWY_AVX3) == 0) {
        m.no_avx512 = m.no_amx = "the CPU lacks it";
        return m;
    }
    m.best = Isa::avx512;
    unsigned a = 0, b = 0, c = 0, d = 0;
    m.avx512_vnni = __get_cpuid_count(7, 0, &a, &b, &c, &d) && ((c >> 11) & 1);
    m.avx512_bf16 = __get_cpuid_count(7, 1, &a, &b, &c, &d) && ((a >> 5) & 1);
    m.no_amx = m.avx512_bf16 ? amx_obstacle() : "the CPU lacks AVX512-BF16, which the tiles need";
    if (m.no_amx.empty()) m.best = Isa::amx;
    return m;
}

#else

Machine look() {
    Machine m;  // NEON goes through Highway's own choice; the x86 levels do not exist
    m.no_avx512 = m.no_amx = "not an x86 CPU";
    return m;
}

#endif

const Machine& machine() {
    static const Machine m = look();
    return m;
}

std::atomic<bool> settled{false};
std::atomic<Isa> active{Isa::scalar};
std::mutex settle_mutex;

void tell_highway(Isa isa) {
    std::int64_t off = HWY_AVX3_DL;
    if (isa < Isa::avx512) off |= HWY_AVX3;
    if (isa < Isa::avx2) off |= HWY_AVX2 | HWY_SSE4 | HWY_SSSE3;
#if defined(__x86_64__)
    hwy::DisableTargets(off);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
#else
    (void)off;
#endif
    active.store(isa, std::memory_order_relaxed);
    settled.store(true, std::memory_order_release);
}

std::string levels_found() {
    std::string text;
    for (int i = 0; i <= static_cast<int>(machine().best); ++i)
        text += (i ? ", " : "") + std::string(name_of(static_cast<Isa>(i)));
    return text;
}

Isa wanted_isa() {
    const char* text = std::getenv("FOVEA_ISA");
    if (!text || !*text) return machine().best;
    for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512, Isa::amx}) {
        if (std::string(text) != name_of(isa)) continue;
        if (isa > machine().best)
            fail_with(ErrorKind::usage, "unset FOVEA_ISA, or choose one of: " + levels_found(),
                      "FOVEA_ISA is ", text, " but this machine has ", levels_found());
        return isa;
    }
    fail_with(ErrorKind::usage, "unset FOVEA_ISA, or choose one of: " + levels_found(),
              "FOVEA_ISA is \"", text, "\" but scalar, avx2, avx512 or amx is wanted");
}

}  // namespace

const char* name_of(Isa isa) {
    switch (isa) {
        case Isa::scalar:
            return "scalar";
        case Isa::avx2:
            return "avx2";
        case Isa::avx512:
            return "avx512";
        case Isa::amx:
            return "amx";
    }
    return "?";
}

Isa best_isa() { return machine().best; }

void settle_isa() {
    if (settled.load(std::memory_order_acquire)) [[likely]]
        return;
    const std::lock_guard<std::mutex> lock(settle_mutex);
    if (!settled.load(std::memory_order_acquire)) tell_highway(wanted_isa());
}

Isa active_isa() {
    settle_isa();
    return active.load(std::memory_order_relaxed);
}

void set_isa(Isa isa) {
    const std::lock_guard<std::mutex> lock(settle_mutex);
    expect(isa <= machine().best, "set_isa: ", name_of(isa), " but this machine has ",
           levels_found());
    tell_highway(isa);
}

bool has_avx512_vnni() { return active_isa() >= Isa::avx512 && machine().avx512_vnni; }

bool has_avx512_bf16() { return active_isa() >= Isa::avx512 && machine().avx512_bf16; }

std::string why_not_amx() {
    if (active_isa() == Isa::amx) return {};
    if (!machine().no_amx.empty()) return machine().no_amx;
    return text_of("FOVEA_ISA asks for ", name_of(active_isa()));
}

std::string isa_report() {
    std::string text = text_of(name_of(active_isa()), " (found: ", levels_found());
    if (active_isa() != best_isa()) text += "; FOVEA_ISA chose the level";
    if (!machine().no_avx512.empty()) text += "; AVX-512: " + machine().no_avx512;
    if (const std::string why = why_not_amx(); !why.empty()) text += "; AMX: " + why;
    return text + ")";
}

}  // namespace fovea::kernels
