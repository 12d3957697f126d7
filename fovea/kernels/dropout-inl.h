// The dropout mask of 128 columns of a row, on vectors; the layout is told in dropout.h.
// Included as simd_math-inl.h is.
#if defined(FOVEA_KERNELS_DROPOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_DROPOUT_INL_H_
#undef FOVEA_KERNELS_DROPOUT_INL_H_
#else
#define FOVEA_KERNELS_DROPOUT_INL_H_
#endif

#include <cstdint>

#include "fovea/kernels/dropout.h"
#include "fovea/kernels/simd_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

using Word16 = hn::RebindToUnsigned<Tag16>;
using Words = hn::Vec<Word16>;

// The low and high half of a · b, lane by lane.
HWY_INLINE void WideMul(Words a, Words b, Words& low, Words& high) {
    const Word16 d;
#if HWY_TARGET == HWY_SCALAR
    const std::uint64_t p = std::uint64_t{a.raw} * b.raw;
    low = hn::Set(d, static_cast<std::uint32_t>(p));
    high = hn::Set(d, static_cast<std::uint32_t>(p >> 32));
#else
    const hn::RepartitionToWide<Word16> d64;
    const auto even = hn::MulEven(a, b);
    const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(d64, a))), b);
    low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
    high = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
#endif
}

class DropoutBits {
public:
    // Columns [column, column + 128) of row `row` of sample `sample`; column is a multiple of 128.
    HWY_INLINE DropoutBits(const DropoutMask& mask, std::uint64_t sample, std::int64_t row,
                           std::int64_t column)
        : threshold_(mask.threshold) {
        const Word16 d;
        const Words m0 = hn::Set(d, 0xD2511F53u), m1 = hn::Set(d, 0xCD9E8D57u);
        const auto block = static_cast<std::uint32_t>(column / 8);
        for (std::size_t i = 0; i < parts16; ++i) {
            word_[0][i] = hn::Iota(d, block + static_cast<std::uint32_t>(i * part_lanes));
            word_[1][i] = hn::Set(d, static_cast<std::uint32_t>(row));
            word_[2][i] = hn::Set(d, static_cast<std::uint32_t>(sample));
            word_[3][i] = hn::Set(d, static_cast<std::uint32_t>(sample >> 32));
        }
        auto k0 = static_cast<std::uint32_t>(mask.key);
        auto k1 = static_cast<std::uint32_t>(mask.key >> 32);
        for (int round = 0; round < 10; ++round) {
            const Words key0 = hn::Set(d, k0), key1 = hn::Set(d, k1);
            for (std::size_t i = 0; i < parts16; ++i) {
                Words low0, high0, low1, high1;
                WideMul(word_[0][i], m0, low0, high0);
                WideMul(word_[2][i], m1, low1, high1);
                word_[0][i] = hn::Xor(high1, hn::Xor(word_[1][i], key0));
                word_[1][i] = low1;
                word_[2][i] = hn::Xor(high0, hn::Xor(word_[3][i], key1));
                word_[3][i] = low0;
            }
            k0 += 0x9E3779B9u;
            k1 += 0xBB67AE85u;
        }
    }

    // v where the mask keeps columns 16 k … 16 k + 15, zero elsewhere.
    HWY_INLINE F16 Keep(std::int64_t k, const F16& v) const {
        const Word16 d;
        const hn::RebindToSigned<Tag16> di;
        const auto limit = hn::Set(di, static_cast<std::int32_t>(threshold_));
        F16 r;
        for (std::size_t i = 0; i < parts16; ++i) {
            const Words word = word_[k % 4][i];
            const Words half =
                k < 4 ? hn::And(word, hn::Set(d, 0xffffu)) : hn::ShiftRight<16>(word);
            const auto dropped = hn::Lt(hn::BitCast(di, half), limit);
            r.part[i] = hn::IfThenZeroElse(hn::RebindMask(Tag16(), dropped), v.part[i]);
        }
        return r;
    }

private:
    Words word_[4][parts16];
    std::uint32_t threshold_;
};

// One row: y = x ∘ mask · scale, plus `base` where there is one.
HWY_INLINE void DropoutRow(const float* x, float* y, std::int64_t n, const DropoutMask& mask,
                           std::uint64_t sample, std::int64_t row, const float* base) {
    const F16 scale = Set16(mask.scale);
    for (std::int64_t column = 0; column < n; column += 128) {
        const DropoutBits bits(mask, sample, row, column);
        for (std::int64_t k = 0; k < 8 && column + 16 * k < n; ++k) {
            const std::int64_t at = column + 16 * k, here = n - at;
            if (here >= 16) {
                const F16 kept = bits.Keep(k, Mul16(Load16(x + at), scale));
                Store16(base ? Add16(Load16(base + at), kept) : kept, y + at);
            } else {
                const F16 kept = bits.Keep(k, Mul16(LoadSome16(x + at, here), scale));
                StoreSome16(base ? Add16(LoadSome16(base + at, here), kept) : kept, y + at, here);
            }
        }
    }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
