// The way out of a matrix product for what does not fit into the micro-kernel's registers: storing
// the sum before the activation, and the activation. Included as simd_math-inl.h is.
#if defined(FOVEA_KERNELS_GEMM_EPILOGUE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_GEMM_EPILOGUE_INL_H_
#undef FOVEA_KERNELS_GEMM_EPILOGUE_INL_H_
#else
#define FOVEA_KERNELS_GEMM_EPILOGUE_INL_H_
#endif

#include <cstdint>

#include "fovea/kernels/act-inl.h"
#include "fovea/kernels/gemm/gemm_block.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

// A tile [rows, cols] of finished sums (bias included) in C.
template <Act act>
HWY_NOINLINE void ActivateTile(float* c, std::int64_t c_stride, std::int64_t rows,
                               std::int64_t cols, float* pre, std::int64_t pre_stride) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t i = 0; i < rows; ++i) {
        float* row = c + i * c_stride;
        std::int64_t j = 0;
        for (; j + lanes <= cols; j += lanes) {
            const auto v = hn::LoadU(d, row + j);
            if (pre) hn::StoreU(v, d, pre + i * pre_stride + j);
            if constexpr (act != Act::none) hn::StoreU(Activate<act>(d, v), d, row + j);
        }
        if (j < cols) {
            const auto v = LoadSome(d, row + j, cols - j);
            if (pre) StoreSome(v, d, pre + i * pre_stride + j, cols - j);
            if constexpr (act != Act::none) StoreSome(Activate<act>(d, v), d, row + j, cols - j);
        }
    }
}

HWY_INLINE void FinishTile(const Epilogue& e, std::int64_t first_row, std::int64_t first_col,
                           float* c, std::int64_t c_stride, std::int64_t rows, std::int64_t cols) {
    if (e.act == Act::none && !e.pre) return;
    float* pre = e.pre ? e.pre + first_row * e.pre_stride + first_col : nullptr;
    switch (e.act) {
        case Act::none:
            return ActivateTile<Act::none>(c, c_stride, rows, cols, pre, e.pre_stride);
        case Act::relu:
            return ActivateTile<Act::relu>(c, c_stride, rows, cols, pre, e.pre_stride);
        case Act::gelu:
            return ActivateTile<Act::gelu>(c, c_stride, rows, cols, pre, e.pre_stride);
        case Act::gelu_tanh:
            return ActivateTile<Act::gelu_tanh>(c, c_stride, rows, cols, pre, e.pre_stride);
        case Act::tanh:
            return ActivateTile<Act::tanh>(c, c_stride, rows, cols, pre, e.pre_stride);
        case Act::swish:
            return ActivateTile<Act::swish>(c, c_stride, rows, cols, pre, e.pre_stride);
    }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
