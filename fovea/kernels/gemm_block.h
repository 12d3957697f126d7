#pragma once
// What the gemm files hand each other: one block of C, computed by one thread over the whole of k.
#include <cstddef>
#include <cstdint>

#include "fovea/base/view.h"
#include "fovea/kernels/act.h"
#include "fovea/kernels/pack.h"

namespace fovea::kernels {

struct GemmOptions;

// What happens to a finished sum on its way out. Null pointers: nothing.
struct Epilogue {
    const float* bias = nullptr;  // of the block's first column
    Act act = Act::none;
    float* pre = nullptr;  // of the block's first element
    std::int64_t pre_stride = 0;
    bool accumulate = false;  // chains start from C
};

// C [rows, cols] from rows of A and panels of B. A is row-major [rows, k], or [k, rows] where
// transposed. cols may end within the last panel; rows may be any number.
struct GemmBlock {
    const float* a = nullptr;
    std::int64_t a_stride = 0;
    bool a_transposed = false;
    const PackedMatrix* b = nullptr;
    std::int64_t first_panel = 0;
    std::int64_t rows = 0, cols = 0;
    float* c = nullptr;
    std::int64_t c_stride = 0;
    Epilogue epilogue;
    // AMX only: A's tiles and scales where they were prepared for several blocks (amx_operands.h),
    // and whether C goes past the caches.
    const unsigned char* a_tiles = nullptr;
    const float* a_scales = nullptr;
    bool stream = false;
};

// The block kernels of the active level. Called inside parallel_for (denormals are flushed there).
using BlockKernel = void (*)(const GemmBlock& block);
BlockKernel f32_block_kernel();
BlockKernel bf16_block_kernel();
BlockKernel int8_block_kernel();
BlockKernel amx_block_kernel(Format format);  // bf16 or int8; only where active_isa() is amx

// The whole product, cut into blocks for `kernel`. `tiles`: it is an AMX kernel, or its stand-in.
void multiply_by_blocks(ConstView a, bool a_transposed, const PackedMatrix& b, View c,
                        const GemmOptions& options, BlockKernel kernel, bool tiles);

// Memory of the calling thread for the life of one block: 64-byte aligned, kept for the next.
void* block_scratch(std::size_t bytes);

}  // namespace fovea::kernels
