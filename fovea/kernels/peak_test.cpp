#include "fovea/kernels/peak.h"

#include <gtest/gtest.h>

#include "fovea/base/threads.h"
#include "fovea/kernels/gemm_oracle.h"

namespace fovea::kernels {
namespace {

// Only what cannot be wrong on a loaded machine: the figures exist and are of the right order.
TEST(Peak, GivesPlausibleFigures) {
    oracle::Restore restore;
    for (const Isa isa : oracle::levels()) {
        set_isa(isa);
        const double flops = peak_f32(1, 0.002);
        EXPECT_GT(flops, 0.001) << name_of(isa);
        EXPECT_LT(flops, 2000) << name_of(isa);
        for (const Format format : {Format::bf16, Format::int8}) {
            const double tiles = peak_amx(format, 1, 0.002);
            EXPECT_EQ(tiles > 0, isa == Isa::amx);
        }
    }
    set_thread_count(2);
    for (const std::int64_t bytes : {std::int64_t{32} << 10, std::int64_t{8} << 20}) {
        EXPECT_GT(read_bandwidth(bytes, 2, 0.002), 0.01);
        EXPECT_GT(copy_bandwidth(bytes, 2, false, 0.002), 0.01);
        EXPECT_GT(copy_bandwidth(bytes, 2, true, 0.002), 0.01);
    }
}

}  // namespace
}  // namespace fovea::kernels
