#pragma once
// Matrix products.  C [m, n] = act(A' B' + bias),  A' = A or Aᵀ [m, k],  B' = B or Bᵀ [k, n].
//
// SAME BITS. An element of C depends on its row of A', its column of B' and nothing else: not on m,
// the batch around it, the number of threads, whether B was packed before, or the instruction set.
//   f32    one chain of fused multiply-adds over k = 0 … K-1.
//   bf16   operands rounded to bf16 (nearest even, denormals to zero), k padded by zeros to a
//          multiple of 32; per 32 k one chain over the even and one over the odd k, both from 0;
//          then c += even + odd. That is the order of AMX's tdpbf16ps; elsewhere AVX512-BF16's
//          vdpbf16ps or f32 FMA imitates it.
//   int8, int7   (packed weights only) exact sums of integers, one f32 formula at the end; see
//          pack.h.
// Denormals are flushed (parallel_for sees to it). Which NaN a NaN is, is not promised.
//
// Kernels assert; shapes are checked by the callers in ops/.
#include "fovea/base/act.h"
#include "fovea/base/precision.h"
#include "fovea/base/view.h"
#include "fovea/kernels/gemm/pack.h"

namespace fovea::kernels {

struct GemmOptions {
    ConstView bias{};  // n values (a row or a column, dense), or nothing
    Act act = Act::none;
    // The chains start from what C holds instead of 0: C = act(C + A'B' + bias). So a product cut
    // along k into accumulated pieces (in bf16: of multiples of 32) has the bits of the whole.
    bool accumulate = false;
    Precision precision = Precision::f32;
    View pre{};  // [m, n], receives A'B' + bias before the activation, or nothing
};

// C must not overlap A or B.
void gemm(Trans ta, Trans tb, ConstView a, ConstView b, View c, const GemmOptions& options = {});

// Y [m, n] = act(X W' + bias) with W' [k, n] packed before. The format of `w` decides the precision
// (options.precision is not looked at). int8 does not accumulate.
void gemm_packed(ConstView x, const PackedMatrix& w, View y, const GemmOptions& options = {});

}  // namespace fovea::kernels
