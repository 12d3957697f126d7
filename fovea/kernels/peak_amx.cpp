#include "fovea/kernels/peak_amx.h"

#include "fovea/kernels/amx_tiles.h"

namespace fovea::kernels {

#if defined(__x86_64__)

double amx_register_loop(Format format, std::int64_t rounds) {
    using T = HardwareTiles;
    T::configure();  // all tiles are zero
    for (std::int64_t i = 0; i < rounds; ++i) {
        if (format == Format::bf16) {
            T::dot_bf16<0, 4, 6>();
            T::dot_bf16<1, 4, 7>();
            T::dot_bf16<2, 5, 6>();
            T::dot_bf16<3, 5, 7>();
        } else {
            T::dot_int8<0, 4, 6>();
            T::dot_int8<1, 4, 7>();
            T::dot_int8<2, 5, 6>();
            T::dot_int8<3, 5, 7>();
        }
    }
    T::release();
    const double operations = 2.0 * 16 * 16 * (format == Format::bf16 ? 32 : 64);
    return operations * 4 * static_cast<double>(rounds);
}

#else

double amx_register_loop(Format, std::int64_t) { return 0; }

#endif

}  // namespace fovea::kernels
