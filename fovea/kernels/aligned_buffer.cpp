#include "fovea/kernels/aligned_buffer.h"

#include <sys/mman.h>

#include <cstdlib>

#include "fovea/base/checked.h"

namespace fovea::kernels {

void AlignedBuffer::Free::operator()(void* p) const { std::free(p); }

void AlignedBuffer::grow(std::size_t bytes) {
    if (bytes <= bytes_ && data_) return;
    constexpr std::size_t huge = std::size_t{2} << 20;
    const bool large = bytes >= huge;
    const std::size_t alignment = large ? huge : 64;
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment + (large ? 0 : 64);
    data_.reset();  // before the new one: both at once may not fit
    bytes_ = 0;
    void* p = std::aligned_alloc(alignment, rounded);
    expect(p != nullptr, "matrix product: no memory for ", rounded, " bytes of packed operands");
    if (large) madvise(p, rounded, MADV_HUGEPAGE);  // first touch: 2.5 ms instead of 15.7 a 32 MB
    data_.reset(p);
    bytes_ = rounded;
}

}  // namespace fovea::kernels
