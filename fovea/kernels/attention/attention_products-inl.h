// The three small products attention is made of. Lanes are query rows wherever a row's own result
// is computed, so a row never depends on its neighbours in the tile, no reduction crosses lanes,
// and keys and values are read in place, an element at a time:
//
//     Dots   S[j][q]  = Σₑ X_j[e] Q[e][q]                scores, and dP = dO Vᵀ
//     Mix    O[c][q]  = alpha[q] O[c][q] + Σⱼ X_j[c] P[j][q]   values mixed, and dQ = dS K
//     Outer  Y_j[c]  += Σ_q P[j][q] Z[q][c]              dV = Pᵀ dO, dK = dSᵀ Q (lanes are columns)
//
// Q and O are [depth][W], P and S [keys][W]: W query rows side by side, `vectors` of them in use.
// Each sum is one chain of fused multiply-adds in rising order: its bits depend on the numbers
// alone, not on how the sum is cut into tiles. A factor P of exactly 0 changes nothing as long as
// the other factor is finite; where it may not be (garbage in a key a row does not see), the
// Careful forms skip it.
#if defined(FOVEA_KERNELS_ATTENTION_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_PRODUCTS_INL_H_
#undef FOVEA_KERNELS_ATTENTION_PRODUCTS_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_PRODUCTS_INL_H_
#endif

#include <cstdint>

#include "fovea/kernels/simd_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::CappedTag<float, 16>;
using FloatVec = hn::Vec<FloatTag>;
inline constexpr int kLanes = static_cast<int>(HWY_MIN(HWY_LANES(float), 16));
inline constexpr bool kManyRegisters = HWY_TARGET == HWY_AVX3;

// acc + p x, or acc where p is exactly 0.
template <bool Careful>
HWY_INLINE FloatVec FmaUnlessZero(FloatVec p, FloatVec x, FloatVec acc) {
    const FloatVec sum = Fma(p, x, acc);
    if constexpr (Careful) return hn::IfThenElse(hn::Eq(p, hn::Zero(FloatTag())), acc, sum);
    return sum;
}

// What Mix does with the O it finds.
enum class Found { nothing, sum, sum_to_scale };  // takes 0 instead, adds to it, scales it first

// Rows [begin, end) of S; `depth` elements per row; stride = W, from row to row of Q, P, S and O.
void Dots(const float* const* x, int begin, int end, std::int64_t depth, const float* q,
          std::int64_t stride, int vectors, float* s);

// `width` columns; keys [begin, end) of P; alpha [W], looked at where the sum is to be scaled.
template <bool Careful>
void Mix(const float* const* x, int begin, int end, std::int64_t width, const float* p,
         std::int64_t stride, Found found, const float* alpha, int vectors, float* o);

// `keys` rows of P and Y; Z has `count` rows. Rows of Z and Y are padded to whole vectors; `width`
// counts the padding.
template <bool Careful>
void Outer(const float* p, std::int64_t stride, int keys, int count, const float* z,
           std::int64_t z_stride, std::int64_t width, float* y, std::int64_t y_stride);

// One query row, lanes are columns of the values: the same chains as Mix, for decoding.
template <bool Careful>
void MixOneRow(const float* const* x, int begin, int end, std::int64_t width, const float* p,
               std::int64_t stride, float alpha, float* o);

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
