#pragma once
// What the gemm files hand each other: one block of C, computed by one thread over the whole of k.
#include <cstddef>
#include <cstdint>

#include "fovea/base/act.h"
#include "fovea/base/view.h"
#include "fovea/kernels/gemm/pack.h"

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
    // A in the kernel's own form and the scales of its rows (int8), where they were prepared for
    // several blocks that share them; from the block's first row.
    const unsigned char* a_prepared = nullptr;
    const float* a_scales = nullptr;
    // AMX: C goes past the caches; and where this thread's next block will probably begin to read
    // (lines of `bytes` each, `stride` bytes apart), a mere hint for the caches.
    bool stream = false;
    struct {
        const char* at = nullptr;
        std::int64_t stride = 0, bytes = 0, lines = 0;
    } next_a;
};

// Rows of A (row-major [rows, k], or [k, rows] where transposed) into a kernel's own form.
struct PrepareTask {
    const float* a = nullptr;
    std::int64_t a_stride = 0;
    bool a_transposed = false;
    std::int64_t rows = 0, k = 0, padded_k = 0;
    unsigned char* out = nullptr;
    float* scales = nullptr;  // int8, int7
    float levels = 127.0f;    // of the format
};

// What the active level does for one format. Called inside parallel_for (denormals are flushed
// there).
struct BlockKernels {
    void (*block)(const GemmBlock& block) = nullptr;
    // Null: blocks read A as it lies. Else blocks that are not handed a prepared A prepare their
    // own.
    void (*prepare)(const PrepareTask& task) = nullptr;
    std::int64_t prepared_row_bytes = 0;
    std::int64_t row_unit = 1;  // rows are prepared, and blocks begin, at multiples of it
    bool tiles = false;         // an AMX kernel, or its stand-in
};
BlockKernels f32_kernels();
BlockKernels bf16_kernels(std::int64_t rows, std::int64_t padded_k);
BlockKernels int8_kernels(std::int64_t padded_k);                // int7 too
BlockKernels amx_kernels(Format format, std::int64_t padded_k);  // only where active_isa() is amx

// The whole product, cut into blocks.
void multiply_by_blocks(ConstView a, bool a_transposed, const PackedMatrix& b, View c,
                        const GemmOptions& options, const BlockKernels& kernels);

// Memory of the calling thread for the life of one block: 64-byte aligned, kept for the next.
void* block_scratch(std::size_t bytes);

}  // namespace fovea::kernels
