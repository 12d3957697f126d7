#include "fovea/kernels/gemm/amx_block.h"

#include <cassert>

namespace fovea::kernels {

#if defined(__x86_64__)

namespace {
void bf16_block(const GemmBlock& g) { AmxBlock<HardwareTiles, Format::bf16>(g).run(); }
void int8_block(const GemmBlock& g) { AmxBlock<HardwareTiles, Format::int8>(g).run(); }
}  // namespace

BlockKernels amx_kernels(Format format, std::int64_t padded_k) {
    assert(format != Format::f32);
    return {.block = format == Format::bf16 ? bf16_block : int8_block,
            .prepare = prepare_tiles_kernel(format),
            .prepared_row_bytes = padded_k * (format == Format::bf16 ? 2 : 1),
            .row_unit = 16,
            .tiles = true};
}

#else

BlockKernels amx_kernels(Format, std::int64_t) { return {}; }

#endif

}  // namespace fovea::kernels
