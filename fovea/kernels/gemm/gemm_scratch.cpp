#include "fovea/kernels/aligned_buffer.h"
#include "fovea/kernels/gemm/gemm_block.h"

namespace fovea::kernels {

void* block_scratch(std::size_t bytes) {
    thread_local AlignedBuffer buffer;
    return buffer.reserve<unsigned char>(static_cast<std::int64_t>(bytes));
}

}  // namespace fovea::kernels
