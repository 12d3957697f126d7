#include "fovea/kernels/amx_block.h"

#include <cassert>

namespace fovea::kernels {

#if defined(__x86_64__)

namespace {
void bf16_block(const GemmBlock& g) { AmxBlock<HardwareTiles, Format::bf16>(g).run(); }
void int8_block(const GemmBlock& g) { AmxBlock<HardwareTiles, Format::int8>(g).run(); }
}  // namespace

BlockKernel amx_block_kernel(Format format) {
    assert(format != Format::f32);
    return format == Format::bf16 ? bf16_block : int8_block;
}

#else

BlockKernel amx_block_kernel(Format) { return nullptr; }

#endif

}  // namespace fovea::kernels
