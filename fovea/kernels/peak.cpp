#include "fovea/kernels/peak.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <vector>

#include "fovea/base/clock.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/aligned_buffer.h"
#include "fovea/kernels/peak_amx.h"
#include "hwy/cache_control.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/peak.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

// Twelve chains: more than latency times units on every core we know. Returns the operations done.
double FmaLoop(std::int64_t rounds, float* sink) {
    const hn::ScalableTag<float> d;
    using V = hn::Vec<decltype(d)>;
    constexpr int chains = HWY_TARGET == HWY_SCALAR ? 4 : 12;
    const V m = hn::Set(d, 0.999f), a = hn::Set(d, 1e-3f);
    V x[chains];
    HWY_UNROLL(16)
    for (int c = 0; c < chains; ++c) x[c] = hn::Set(d, static_cast<float>(c));
    for (std::int64_t i = 0; i < rounds; ++i) {
        HWY_UNROLL(16)
        for (int c = 0; c < chains; ++c) x[c] = Fma(x[c], m, a);
    }
    V sum = x[0];
    HWY_UNROLL(16)
    for (int c = 1; c < chains; ++c) sum = hn::Add(sum, x[c]);
    *sink = hn::GetLane(sum);
    return 2.0 * chains * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
}

// n is a multiple of 8 vectors of 16.
void ReadLoop(const float* x, std::int64_t n, float* sink) {
    F16 s[4] = {Zero16(), Zero16(), Zero16(), Zero16()};
    for (std::int64_t i = 0; i < n; i += 64) {
        HWY_UNROLL(4)
        for (int j = 0; j < 4; ++j) s[j] = Add16(s[j], Load16(x + i + j * 16));
    }
    *sink = Sum16(Add16(Add16(s[0], s[1]), Add16(s[2], s[3])));
}

void CopyLoop(const float* from, float* to, std::int64_t n, bool past_caches) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    if (past_caches) {
        for (std::int64_t i = 0; i < n; i += lanes) hn::Stream(hn::Load(d, from + i), d, to + i);
        hwy::FlushStream();
    } else {
        for (std::int64_t i = 0; i < n; i += lanes) hn::Store(hn::Load(d, from + i), d, to + i);
    }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {

HWY_EXPORT(FmaLoop);
HWY_EXPORT(ReadLoop);
HWY_EXPORT(CopyLoop);

// Results the compiler must believe someone reads.
void keep(float value) { __asm__ volatile("" : : "g"(value) : "memory"); }

// The sum of what the threads do a second while all of them are at it: each repeats work(thread)
// for `seconds`, after all have arrived. work returns its amount.
template <class Work>
double rate_of(int threads, double seconds, const Work& work) {
    assert(threads >= 1 && threads <= thread_count());
    std::atomic<int> arrived{0};
    std::vector<double> rates(static_cast<std::size_t>(threads), 0.0);
    parallel_for(threads, 1, [&](std::int64_t thread, std::int64_t) {
        arrived.fetch_add(1);
        // A pool that is in use elsewhere runs the pieces one by one: then nobody comes.
        const Stopwatch patience;
        while (arrived.load() < threads && patience.seconds() < 0.05) {
        }
        const Stopwatch watch;
        double done = 0, elapsed = 0;
        do {
            done += work(thread);
            elapsed = watch.seconds();
        } while (elapsed < seconds);
        rates[static_cast<std::size_t>(thread)] = done / elapsed;
    });
    double sum = 0;
    for (const double r : rates) sum += r;
    return sum;
}

// Memory that has been touched: an array a thread.
std::vector<AlignedBuffer> arrays(int threads, std::int64_t floats) {
    std::vector<AlignedBuffer> all(static_cast<std::size_t>(threads));
    for (AlignedBuffer& b : all) std::fill_n(b.reserve<float>(floats), floats, 1.0f);
    return all;
}

std::int64_t floats_each(std::int64_t bytes, int threads) {
    return std::max<std::int64_t>(64, bytes / 4 / threads / 64 * 64);
}

// Repeats small sets often enough that the clock does not matter.
std::int64_t repeats(std::int64_t floats) { return std::max<std::int64_t>(1, (1 << 18) / floats); }

}  // namespace

double peak_f32(int threads, double seconds) {
    const auto loop = FOVEA_DISPATCH(FmaLoop);
    return 1e-9 * rate_of(threads, seconds, [&](std::int64_t) {
               float sink = 0;
               const double done = loop(20000, &sink);
               keep(sink);
               return done;
           });
}

double peak_amx(Format format, int threads, double seconds) {
    if (active_isa() != Isa::amx || format == Format::f32) return 0;
    return 1e-9 *
           rate_of(threads, seconds, [&](std::int64_t) { return amx_register_loop(format, 2000); });
}

double read_bandwidth(std::int64_t bytes, int threads, double seconds) {
    const std::int64_t n = floats_each(bytes, threads), times = repeats(n);
    const auto memory = arrays(threads, n);
    const auto loop = FOVEA_DISPATCH(ReadLoop);
    return 1e-9 * rate_of(threads, seconds, [&](std::int64_t thread) {
               float sink = 0;
               for (std::int64_t i = 0; i < times; ++i)
                   loop(memory[static_cast<std::size_t>(thread)].as<const float>(), n, &sink);
               keep(sink);
               return 4.0 * static_cast<double>(n * times);
           });
}

double copy_bandwidth(std::int64_t bytes, int threads, bool past_caches, double seconds) {
    const std::int64_t n = floats_each(bytes / 2, threads), times = repeats(n);
    const auto from = arrays(threads, n), to = arrays(threads, n);
    const auto loop = FOVEA_DISPATCH(CopyLoop);
    return 1e-9 * rate_of(threads, seconds, [&](std::int64_t thread) {
               const auto t = static_cast<std::size_t>(thread);
               for (std::int64_t i = 0; i < times; ++i)
                   loop(from[t].as<const float>(), to[t].as<float>(), n, past_caches);
               return 8.0 * static_cast<double>(n * times);
           });
}

}  // namespace fovea::kernels
#endif
