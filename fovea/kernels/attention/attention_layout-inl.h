// Rows of a packed tensor to tiles whose lanes are rows, and back.
#if defined(FOVEA_KERNELS_ATTENTION_LAYOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_LAYOUT_INL_H_
#undef FOVEA_KERNELS_ATTENTION_LAYOUT_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_LAYOUT_INL_H_
#endif

#include <cstdint>

#include "fovea/base/view.h"
#include "fovea/kernels/attention/attention_products-inl.h"
#include "fovea/kernels/bf16.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// t[e][r] = rows[r][e] (+ plus[e]) for r < x.rows, e < x.cols; lanes behind, up to `vectors`, are
// 0.
void PackColumns(ConstView x, const float* plus, int vectors, std::int64_t stride, float* t);

// y[r][c] = t[c][r], or += .
void UnpackColumns(const float* t, std::int64_t stride, View y, bool add);

// Rows side by side without the gaps of the other heads (rows of d_model floats fall into the same
// few cache sets), padded by zeros to `width`.
void PackRow(const float* from, std::int64_t n, std::int64_t width, float* to);

// to[i] = bf16(low[i]) | bf16(high[i]) << 16 for i < n (a multiple of 16); a null row is zeros.
void PairRows(const float* low, const float* high, std::int64_t n, std::uint32_t* to);

// The same for rows of n values of which whole vectors may not be read: n of `width` values.
void PairRowsPadded(const float* low, const float* high, std::int64_t n, std::int64_t width,
                    std::uint32_t* to);

// A tile of weights P [keys][stride] as AMX takes it: rows [first, last), zeros outside [begin,
// end) and behind `lanes`. As pairs of rows [keys / 2][stride] of words, or row by row.
void WeightPairs(const float* p, std::int64_t stride, int begin, int end, int first, int last,
                 int lanes, std::uint32_t* to);
void WeightRows(const float* p, std::int64_t stride, int begin, int end, int first, int last,
                int lanes, Bf16* to);

bool AllFinite(ConstView x);

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
