// The softmax steps and the dropout mask of attention_softmax-inl.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention/attention_softmax.cpp"
#include "fovea/kernels/simd_targets.h"

#include <limits>

#include "hwy/foreach_target.h"

#include "fovea/kernels/attention/attention_softmax-inl.h"
#include "fovea/kernels/simd_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using WordTag = hn::RebindToUnsigned<FloatTag>;
using WordVec = hn::Vec<WordTag>;

// Does each lane's row see key j of the tile? `words` as RowMasks writes them, from this lane on.
HWY_INLINE hn::Mask<FloatTag> SeesKey(const std::uint32_t* words, std::int64_t stride, int j) {
    const WordTag d;
    return hn::RebindMask(FloatTag(), hn::TestBit(hn::LoadU(d, words + j / 32 * stride),
                                                  hn::Set(d, std::uint32_t{1} << (j % 32))));
}

bool SoftmaxStep(float* HWY_RESTRICT s, std::int64_t stride, int begin, int end, int vectors,
                 float scale, const std::uint32_t* words, const SoftmaxRows& rows) {
    const FloatTag d;
    const FloatVec none = hn::Set(d, -std::numeric_limits<float>::infinity());
    const FloatVec one = hn::Set(d, 1.0f), by = hn::Set(d, scale);
    bool rescale = false;
    for (int n = 0; n < vectors; ++n) {
        float* at = s + n * kLanes;
        const FloatVec old = hn::Load(d, rows.max + n * kLanes);
        FloatVec max = old;
        if (words) {
            for (int j = begin; j < end; ++j) {
                const FloatVec x = hn::IfThenElse(SeesKey(words + n * kLanes, stride, j),
                                                  hn::Load(d, at + j * stride), none);
                hn::Store(x, d, at + j * stride);
                max = hn::Max(max, x);
            }
        } else {
            for (int j = begin; j < end; ++j) max = hn::Max(max, hn::Load(d, at + j * stride));
        }
        // A row that has seen nothing so far keeps -∞; its masked scores must not meet it.
        // Subtract first, scale then: exact at the maximum, however large the scores.
        const FloatVec from = hn::IfThenZeroElse(hn::Eq(max, none), max);
        FloatVec sum = hn::Zero(d);
        for (int j = begin; j < end; ++j) {
            const FloatVec p = Exp(d, hn::Mul(by, hn::Sub(hn::Load(d, at + j * stride), from)));
            hn::Store(p, d, at + j * stride);
            sum = hn::Add(sum, p);
        }
        const auto same = hn::Eq(old, max);
        const FloatVec alpha = hn::IfThenElse(same, one, Exp(d, hn::Mul(by, hn::Sub(old, from))));
        rescale = rescale || !hn::AllTrue(d, same);
        hn::Store(max, d, rows.max + n * kLanes);
        hn::Store(alpha, d, rows.alpha + n * kLanes);
        hn::Store(Fma(hn::Load(d, rows.sum + n * kLanes), alpha, sum), d, rows.sum + n * kLanes);
    }
    return rescale;
}

void SoftmaxWeights(float* HWY_RESTRICT s, std::int64_t stride, int begin, int end, int vectors,
                    float scale, const std::uint32_t* words, const float* lse) {
    const FloatTag d;
    const FloatVec by = hn::Set(d, scale);
    for (int n = 0; n < vectors; ++n) {
        float* at = s + n * kLanes;
        const FloatVec from = hn::Load(d, lse + n * kLanes);
        for (int j = begin; j < end; ++j) {
            FloatVec p = Exp(d, hn::Sub(hn::Mul(by, hn::Load(d, at + j * stride)), from));
            if (words) p = hn::IfThenElseZero(SeesKey(words + n * kLanes, stride, j), p);
            hn::Store(p, d, at + j * stride);
        }
    }
}

// a b of 32-bit lanes: the upper and the lower half of the product.
HWY_INLINE void MulWide(WordVec a, WordVec b, WordVec& high, WordVec& low) {
    const WordTag d;
#if HWY_TARGET == HWY_SCALAR
    const std::uint64_t p = std::uint64_t{a.raw} * b.raw;
    high = hn::Set(d, static_cast<std::uint32_t>(p >> 32));
    low = hn::Set(d, static_cast<std::uint32_t>(p));
#else
    const hn::RepartitionToWide<WordTag> wide;
    const auto even = hn::MulEven(a, b);
    const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, a))),
                                 hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, b))));
    high = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
    low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
#endif
}

// Philox4x32-10 (base/philox.h), a block in each lane.
HWY_INLINE void Philox(WordVec c[4], std::uint64_t key) {
    const WordTag d;
    auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
    const WordVec m0 = hn::Set(d, 0xD2511F53u), m1 = hn::Set(d, 0xCD9E8D57u);
    for (int round = 0; round < 10; ++round) {
        WordVec high0, low0, high1, low1;
        MulWide(m0, c[0], high0, low0);
        MulWide(m1, c[2], high1, low1);
        c[0] = hn::Xor(hn::Xor(high1, c[1]), hn::Set(d, k0));
        c[2] = hn::Xor(hn::Xor(high0, c[3]), hn::Set(d, k1));
        c[1] = low1;
        c[3] = low0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}

void DropoutFactors(const AttentionDropout& dropout, int head, const DropoutRows& rows,
                    std::int64_t first_key, int begin, int end, std::int64_t stride, int vectors,
                    float* factor) {
    const FloatTag d;
    const WordTag du;
    const FloatVec kept = hn::Set(d, dropout.scale());
    const WordVec threshold = hn::Set(du, dropout.threshold());
    const WordVec half = hn::Set(du, 0xffffu);
    for (int n = 0; n < vectors; ++n)
        for (int block = begin / 8; block * 8 < end; ++block) {
            WordVec c[4] = {hn::Set(du, static_cast<std::uint32_t>(first_key / 8 + block)),
                            hn::LoadU(du, rows.position + n * kLanes),
                            hn::LoadU(du, rows.sample_low + n * kLanes),
                            hn::LoadU(du, rows.sample_high + n * kLanes)};
            Philox(c, dropout.head_key(head));
            for (int i = 0; i < 8; ++i) {
                const int j = block * 8 + i;
                if (j < begin || j >= end) continue;
                const WordVec bits = i < 4 ? hn::And(c[i], half) : hn::ShiftRight<16>(c[i - 4]);
                // 16-bit numbers in 32-bit lanes: a signed comparison would do as well.
                const auto drop = hn::RebindMask(d, hn::Lt(bits, threshold));
                hn::Store(hn::IfThenZeroElse(drop, kept), d, factor + j * stride + n * kLanes);
            }
        }
}

void ScoreGradients(const float* HWY_RESTRICT p, const float* HWY_RESTRICT f, const float* mean,
                    float by, std::int64_t stride, int begin, int end, int vectors,
                    float* HWY_RESTRICT dp) {
    const FloatTag d;
    for (int n = 0; n < vectors; ++n) {
        const FloatVec m = hn::Load(d, mean + n * kLanes);
        for (int j = begin; j < end; ++j) {
            const std::int64_t at = j * stride + n * kLanes;
            FloatVec x = hn::Load(d, dp + at);
            if (f) x = hn::Mul(x, hn::Load(d, f + at));
            const FloatVec w = hn::Load(d, p + at);
            const FloatVec ds = hn::Mul(hn::Mul(w, hn::Set(d, by)), hn::Sub(x, m));
            hn::Store(hn::IfThenZeroElse(hn::Eq(w, hn::Zero(d)), ds), d, dp + at);
        }
    }
}

void MultiplyTiles(const float* a, const float* b, std::int64_t stride, int begin, int end,
                   int vectors, float* y) {
    const FloatTag d;
    for (int j = begin; j < end; ++j)
        for (int n = 0; n < vectors; ++n) {
            const std::int64_t at = j * stride + n * kLanes;
            hn::Store(hn::Mul(hn::Load(d, a + at), hn::Load(d, b + at)), d, y + at);
        }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
