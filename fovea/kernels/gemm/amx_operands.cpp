#include "fovea/kernels/gemm/amx_operands.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/gemm/amx_operands.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/act-inl.h"
#include "fovea/kernels/bf16-inl.h"
#include "fovea/kernels/gemm/quantise-inl.h"
#include "fovea/kernels/transpose-inl.h"

#if HWY_TARGET == HWY_AVX3
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace {

// One row of A: 32 values to the 64 bytes of each tile's row.
void Bf16Row(const float* x, std::int64_t k, std::int64_t steps, unsigned char* row,
             [[maybe_unused]] bool convert) {
    std::int64_t s = 0;
    for (; (s + 1) * 32 <= k; ++s) {
        unsigned char* to = row + s * 1024;
#if HWY_TARGET == HWY_AVX3
        if (convert) {
            const F16 low = Load16(x + s * 32), high = Load16(x + s * 32 + 16);
            _mm512_store_si512(to, ConvertToBf16(low.part[0], high.part[0]));
            continue;
        }
#endif
        ToBf16Row(x + s * 32, 32, reinterpret_cast<Bf16*>(to));
    }
    if (s == steps) return;
    std::memset(row + s * 1024, 0, 64);
    ToBf16Row(x + s * 32, k - s * 32, reinterpret_cast<Bf16*>(row + s * 1024));
}

// A [k, rows], transposed: 32 of k at a time, so that its rows are read as they lie; of each
// sixteen columns pairs of k as words, then words transposed.
void Bf16Columns(const PrepareTask& t, std::int64_t strips, std::int64_t steps, bool convert) {
    HWY_ALIGN float words[16 * 16];
    for (std::int64_t s = 0; s < steps; ++s)
        for (std::int64_t strip = 0; strip < strips; ++strip) {
            const std::int64_t n = std::min<std::int64_t>(16, t.rows - strip * 16);
            for (std::int64_t i = 0; i < 16; ++i) {
                const std::int64_t k = s * 32 + 2 * i;
                const float* at = t.a + k * t.a_stride + strip * 16;
                const F16 even = k < t.k ? LoadSome16(at, n) : Zero16();
                const F16 odd = k + 1 < t.k ? LoadSome16(at + t.a_stride, n) : Zero16();
                StoreBf16Pairs(even, odd, convert, reinterpret_cast<Bf16*>(words + i * 16));
            }
            Transpose(words, 16, 16, 16,
                      reinterpret_cast<float*>(t.out + (strip * steps + s) * 1024), 16);
        }
}

template <Format format>
void Prepare(const PrepareTask& t) {
    const std::int64_t strips = (t.rows + 15) / 16;
    const std::int64_t steps = t.padded_k / (format == Format::bf16 ? 32 : 64);
    const bool convert = has_avx512_bf16();
    if (t.a_transposed) {
        assert(format == Format::bf16);
        return Bf16Columns(t, strips, steps, convert);
    }
    for (std::int64_t s = 0; s < strips; ++s) {
        unsigned char* strip = t.out + s * steps * 1024;
        for (std::int64_t r = 0; r < 16; ++r) {
            const std::int64_t i = s * 16 + r;
            unsigned char* row = strip + r * 64;
            if (i >= t.rows) {
                for (std::int64_t step = 0; step < steps; ++step)
                    std::memset(row + step * 1024, 0, 64);
                if (format == Format::int8) t.scales[i] = 0;
            } else if (format == Format::bf16) {
                Bf16Row(t.a + i * t.a_stride, t.k, steps, row, convert);
            } else {
                const float* x = t.a + i * t.a_stride;
                const Scale scale = ScaleOf(LargestBits(x, t.k), t.levels);
                t.scales[i] = scale.scale;
                for (std::int64_t step = 0; step < steps; ++step) {
                    auto* to = reinterpret_cast<std::int8_t*>(row + step * 1024);
                    const std::int64_t n = std::clamp<std::int64_t>(t.k - step * 64, 0, 64);
                    QuantiseRow(x + step * 64, n, scale.inverse, to);
                    std::fill(to + n, to + 64, std::int8_t{0});
                }
            }
        }
    }
}

template <Format format, Act act>
void FinishRows(const FinishedTiles& t) {
    const Tag16 d;
    const hn::RebindToSigned<Tag16> di;
    const GemmBlock& g = *t.block;
    const Epilogue& e = g.epilogue;
    constexpr auto lanes = static_cast<std::int64_t>(part_lanes);
    for (std::int64_t i = t.row; i < t.row + t.rows; ++i)
        for (std::int64_t j = 0; j < t.cols; j += lanes) {
            const std::int64_t tile = i / 16 * t.panels + j / 16;
            const unsigned char* from = t.tiles + tile * 1024 + i % 16 * 64 + j % 16 * 4;
            const std::int64_t some = std::min(lanes, t.cols - j), col = t.col + j;
            hn::Vec<Tag16> v;
            if constexpr (format == Format::bf16) {
                v = hn::Load(d, reinterpret_cast<const float*>(from));
            } else {
                const auto sum = hn::Load(di, reinterpret_cast<const std::int32_t*>(from));
                const auto scale = hn::Mul(hn::Set(d, t.row_scales[i]),
                                           hn::LoadU(d, g.b->scales() + g.first_panel * 16 + col));
                v = hn::Mul(hn::ConvertTo(d, sum), scale);
            }
            float* c = g.c + i * g.c_stride + col;
            float* pre = e.pre ? e.pre + i * e.pre_stride + col : nullptr;
            if (some == lanes) {
                if (e.bias) v = hn::Add(v, hn::LoadU(d, e.bias + col));
                if (pre) hn::StoreU(v, d, pre);
                v = Activate<act>(d, v);
                if (t.stream)
                    hn::Stream(v, d, c);
                else
                    hn::StoreU(v, d, c);
            } else {
                if (e.bias) v = hn::Add(v, LoadSome(d, e.bias + col, some));
                if (pre) StoreSome(v, d, pre, some);
                StoreSome(Activate<act>(d, v), d, c, some);
            }
        }
}

template <Format format>
void FinishAny(const FinishedTiles& t) {
    switch (t.block->epilogue.act) {
        case Act::none:
            return FinishRows<format, Act::none>(t);
        case Act::relu:
            return FinishRows<format, Act::relu>(t);
        case Act::gelu:
            return FinishRows<format, Act::gelu>(t);
        case Act::gelu_tanh:
            return FinishRows<format, Act::gelu_tanh>(t);
        case Act::tanh:
            return FinishRows<format, Act::tanh>(t);
        case Act::swish:
            return FinishRows<format, Act::swish>(t);
    }
}

}  // namespace

void PrepareBf16Tiles(const PrepareTask& t) { Prepare<Format::bf16>(t); }
void PrepareInt8Tiles(const PrepareTask& t) { Prepare<Format::int8>(t); }
void FinishBf16(const FinishedTiles& t) { FinishAny<Format::bf16>(t); }
void FinishInt8(const FinishedTiles& t) { FinishAny<Format::int8>(t); }

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(PrepareBf16Tiles);
HWY_EXPORT(PrepareInt8Tiles);
HWY_EXPORT(FinishBf16);
HWY_EXPORT(FinishInt8);

PrepareTiles prepare_tiles_kernel(Format format) {
    return format == Format::bf16 ? FOVEA_DISPATCH(PrepareBf16Tiles)
                                  : FOVEA_DISPATCH(PrepareInt8Tiles);
}
FinishTiles finish_tiles_kernel(Format format) {
    return format == Format::bf16 ? FOVEA_DISPATCH(FinishBf16) : FOVEA_DISPATCH(FinishInt8);
}
}  // namespace fovea::kernels
#endif
