#include "fovea/kernels/gemm/pack_panels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/gemm/pack_panels.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/bf16-inl.h"
#include "fovea/kernels/gemm/quantise-inl.h"
#include "fovea/kernels/simd_math-inl.h"
#include "fovea/kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

void PackF32(const PanelTask& t, float* out) {
    if (t.trans == Trans::no) {
        for (std::int64_t k = t.first_k; k < t.last_k; ++k)
            for (std::int64_t p = t.begin; p < t.end; ++p) {
                const std::int64_t cols = std::min<std::int64_t>(16, t.n - p * 16);
                const float* from = t.w.row(k) + p * 16;
                Store16(cols == 16 ? Load16(from) : LoadSome16(from, cols),
                        out + p * t.padded_k * 16 + k * 16);
            }
        return;
    }
    for (std::int64_t p = t.begin; p < t.end; ++p) {
        float* panel = out + p * t.padded_k * 16;
        const std::int64_t cols = std::min<std::int64_t>(16, t.n - p * 16);
        if (cols < 16) std::fill_n(panel, t.padded_k * 16, 0.0f);
        Transpose(t.w.row(p * 16), t.w.stride, cols, t.k, panel, 16);
    }
}

// Sixteen rows of wᵀ at a time, converted to `Value` and transposed as words of 32 bits: a word
// holds 4 / sizeof(Value) neighbours along k, which is what the panel wants. convert(row, k0,
// count, to) writes `count` values of one column of W'.
template <class Value, class Convert>
HWY_INLINE void PackWords(const PanelTask& t, std::int64_t panel, Value* out,
                          const Convert& convert) {
    constexpr std::int64_t chunk = 256, per_word = 4 / static_cast<std::int64_t>(sizeof(Value));
    constexpr std::int64_t words = chunk / per_word;
    HWY_ALIGN float rows[16 * words];  // words of bits, moved as floats
    const std::int64_t cols = std::min<std::int64_t>(16, t.n - panel * 16);
    for (std::int64_t k0 = 0; k0 < t.padded_k; k0 += chunk) {
        const std::int64_t padded = std::min(chunk, t.padded_k - k0);
        const std::int64_t count = std::max<std::int64_t>(0, std::min(padded, t.k - k0));
        for (std::int64_t j = 0; j < 16; ++j) {
            auto* row = reinterpret_cast<Value*>(rows + j * words);
            if (j < cols) convert(j, k0, count, row);
            std::fill(row + (j < cols ? count : 0), row + padded, Value{});
        }
        Transpose(rows, words, 16, padded / per_word, reinterpret_cast<float*>(out + k0 * 16), 16);
    }
}

void PackBf16(const PanelTask& t, Bf16* out) {
    if (t.trans == Trans::yes) {
        for (std::int64_t p = t.begin; p < t.end; ++p)
            PackWords(t, p, out + p * t.padded_k * 16,
                      [&](std::int64_t j, std::int64_t k0, std::int64_t n, Bf16* to)
                          HWY_ATTR { ToBf16Row(t.w.row(p * 16 + j) + k0, n, to); });
        return;
    }
    const bool convert = has_avx512_bf16();
    for (std::int64_t k = t.first_k; k < t.last_k; k += 2)
        for (std::int64_t p = t.begin; p < t.end; ++p) {
            const std::int64_t cols = std::min<std::int64_t>(16, t.n - p * 16);
            const float* from = t.w.row(k) + p * 16;
            const F16 even = k < t.k ? LoadSome16(from, cols) : Zero16();
            const F16 odd = k + 1 < t.k ? LoadSome16(from + t.w.stride, cols) : Zero16();
            StoreBf16Pairs(even, odd, convert, out + (p * t.padded_k + k) * 16);
        }
}

void PackInt8(const PanelTask& t, std::int8_t* out, float* scales, std::int32_t* sums) {
    const Tag16 d;
    const hn::RebindToSigned<Tag16> di;
    for (std::int64_t p = t.begin; p < t.end; ++p) {
        std::int8_t* panel = out + p * t.padded_k * 16;
        const std::int64_t cols = std::min<std::int64_t>(16, t.n - p * 16);
        float inverse[16] = {};
        std::int32_t largest[16] = {};
        if (t.trans == Trans::yes) {
            for (std::int64_t j = 0; j < cols; ++j)
                largest[j] = LargestBits(t.w.row(p * 16 + j), t.k);
        } else {
            for (std::size_t i = 0; i < parts16; ++i) {
                auto most = hn::Zero(di);
                for (std::int64_t k = 0; k < t.k; ++k) {
                    const F16 row = LoadSome16(t.w.row(k) + p * 16, cols);
                    most = MaxBits(most,
                                   hn::And(hn::BitCast(di, row.part[i]), hn::Set(di, 0x7fffffff)));
                }
                hn::StoreU(most, di, largest + i * part_lanes);
            }
        }
        for (std::int64_t j = 0; j < 16; ++j) {
            const Scale s = j < cols ? ScaleOf(largest[j], t.levels) : Scale{0.0f, 0.0f};
            scales[p * 16 + j] = s.scale;
            inverse[j] = s.inverse;
        }
        if (t.trans == Trans::yes) {
            PackWords(t, p, panel,
                      [&](std::int64_t j, std::int64_t k0, std::int64_t n, std::int8_t* to)
                          HWY_ATTR { QuantiseRow(t.w.row(p * 16 + j) + k0, n, inverse[j], to); });
        } else {
            const F16 factor = Load16(inverse);
            for (std::int64_t k = 0; k < t.padded_k; k += 4) {
                for (std::size_t i = 0; i < parts16; ++i) {
                    auto quad = hn::Zero(di);
                    for (int l = 3; l >= 0; --l) {
                        const F16 x =
                            k + l < t.k ? LoadSome16(t.w.row(k + l) + p * 16, cols) : Zero16();
                        const auto q = Quantise(d, x.part[i], factor.part[i]);
                        quad = hn::Or(hn::ShiftLeft<8>(quad), hn::And(q, hn::Set(di, 0xff)));
                    }
                    hn::StoreU(quad, di,
                               reinterpret_cast<std::int32_t*>(panel + k * 16) + i * part_lanes);
                }
            }
        }
        for (std::int64_t j = 0; j < 16; ++j) sums[p * 16 + j] = 0;
        for (std::int64_t k = 0; k < t.padded_k; k += 4)
            for (std::int64_t j = 0; j < 64; ++j) sums[p * 16 + j / 4] += panel[k * 16 + j];
    }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(PackF32);
HWY_EXPORT(PackBf16);
HWY_EXPORT(PackInt8);

void pack_f32_panels(const PanelTask& task, float* out) { FOVEA_DISPATCH(PackF32)(task, out); }
void pack_bf16_panels(const PanelTask& task, Bf16* out) { FOVEA_DISPATCH(PackBf16)(task, out); }
void pack_int8_panels(const PanelTask& task, std::int8_t* out, float* scales, std::int32_t* sums) {
    FOVEA_DISPATCH(PackInt8)(task, out, scales, sums);
}

}  // namespace fovea::kernels
#endif
