// The AMX kernels' tile logic on every machine, through a stand-in for the tile instructions; on a
// machine with AMX the instructions themselves.
#include <gtest/gtest.h>

#include "fovea/kernels/gemm/amx_block.h"
#include "fovea/kernels/gemm/amx_soft_tiles.h"
#include "fovea/kernels/gemm/gemm_oracle.h"
#include "fovea/kernels/gemm/gemm_plan.h"

namespace fovea::kernels {
namespace {

using oracle::differences;
using oracle::Matrix;
using oracle::random_matrix;

void soft_bf16(const GemmBlock& g) { AmxBlock<SoftTiles, Format::bf16>(g).run(); }
void soft_int8(const GemmBlock& g) { AmxBlock<SoftTiles, Format::int8>(g).run(); }
BlockKernels soft_kernels(const PackedMatrix& w) {
    const bool bf16 = w.format() == Format::bf16;
    return {.block = bf16 ? soft_bf16 : soft_int8,
            .prepare = prepare_tiles_kernel(w.format()),
            .prepared_row_bytes = w.padded_k() * (bf16 ? 2 : 1),
            .row_unit = 16,
            .tiles = true};
}

struct Sizes {
    std::int64_t m, k, n;
};
// Around every edge of strips, pairs of strips, panels, pieces of k (512 bf16, 1024 int8).
const Sizes all_sizes[] = {{1, 1, 1},      {1, 33, 100},  {3, 64, 17},   {16, 32, 64},
                           {15, 100, 33},  {17, 31, 33},  {32, 64, 32},  {33, 65, 31},
                           {47, 129, 96},  {65, 600, 50}, {100, 70, 16}, {5, 1100, 80},
                           {40, 1100, 40}, {70, 48, 15},  {64, 512, 48}, {96, 40, 129}};

TEST(Amx, TileLogicHasThePromisedBits) {
    oracle::Restore restore;
    for (const Sizes s : all_sizes)
        for (const Format format : {Format::bf16, Format::int8, Format::int7}) {
            const Matrix a = random_matrix(s.m, s.k, 1, 3), b = random_matrix(s.k, s.n, 2);
            const Matrix bias = random_matrix(1, s.n, 3), before = random_matrix(s.m, s.n, 4, 2);
            const bool accumulate = format == Format::bf16;
            Matrix plain(s.m, s.n), rich = before;
            oracle::product(a, b, plain, format);
            oracle::product(a, b, rich, format, bias.values, accumulate);
            for (const Isa isa : oracle::levels()) {
                set_isa(isa);
                const PackedMatrix w = pack(b, Trans::no, format);
                Matrix c(s.m, s.n, 5), d = before;
                multiply_by_blocks(a, false, w, c, {}, soft_kernels(w));
                EXPECT_EQ(differences(c, plain), 0)
                    << name_of(format) << " " << s.m << "x" << s.k << "x" << s.n;
                EXPECT_TRUE(c.guards_hold());
                multiply_by_blocks(a, false, w, d, {.bias = bias, .accumulate = accumulate},
                                   soft_kernels(w));
                EXPECT_EQ(differences(d, rich), 0) << name_of(format) << " with bias";
                EXPECT_TRUE(d.guards_hold());
                if (is_whole(format)) continue;
                const Matrix at = oracle::transposed(a);
                Matrix e(s.m, s.n, 1);
                multiply_by_blocks(at, true, w, e, {}, soft_kernels(w));
                EXPECT_EQ(differences(e, plain), 0) << "A transposed";
                EXPECT_TRUE(e.guards_hold());
            }
        }
}

// Many row blocks, many column blocks, several threads, outputs that go past the caches.
TEST(Amx, BlocksFitTogether) {
    oracle::Restore restore;
    const Sizes sizes[] = {{600, 64, 40}, {130, 40, 600}, {1, 300, 2000}, {530, 2100, 20}};
    for (const Sizes s : sizes)
        for (const Format format : {Format::bf16, Format::int8, Format::int7}) {
            const Matrix a = random_matrix(s.m, s.k, 5), b = random_matrix(s.k, s.n, 6);
            const PackedMatrix w = pack(b, Trans::no, format);
            const GemmOptions options{.act = Act::gelu_tanh};
            Matrix expected(s.m, s.n);
            gemm_packed(a, w, expected, options);
            for (const int threads : {1, 3}) {
                set_thread_count(threads);
                Matrix c(s.m, s.n);
                multiply_by_blocks(a, false, w, c, options, soft_kernels(w));
                EXPECT_EQ(differences(c, expected), 0) << name_of(format) << " " << s.m;
            }
        }
    // 16 MB and a little: aligned rows, so that the stores go past the caches.
    const std::int64_t m = 4200, n = 1024;
    const Matrix a = random_matrix(m, 32, 7), b = random_matrix(32, n, 8);
    const PackedMatrix w = pack(b, Trans::no, Format::bf16);
    auto* out = static_cast<float*>(std::aligned_alloc(64, static_cast<std::size_t>(m * n) * 4));
    Matrix expected(m, n);
    gemm_packed(a, w, expected);
    multiply_by_blocks(a, false, w, {out, m, n}, {}, soft_kernels(w));
    EXPECT_EQ(std::memcmp(out, expected.values.data(), expected.values.size() * 4), 0);
    std::free(out);
}

TEST(Amx, PlanCoversEveryElementOnce) {
    for (const std::int64_t rows : {1, 16, 17, 100, 256, 257, 4096, 100003})
        for (const std::int64_t panels : {1, 2, 3, 5, 48, 3140})
            for (const std::int64_t k : {32, 768, 4096, 100000}) {
                const GemmPlan p = plan_amx(rows, panels, k, 2);
                EXPECT_EQ(p.rows_per_task % 16, 0);
                EXPECT_GE(p.rows_per_task * p.row_tasks, rows);
                EXPECT_LT(p.rows_per_task * (p.row_tasks - 1), rows);
                EXPECT_GE(p.panels_per_task * p.col_tasks, panels);
                EXPECT_LT(p.panels_per_task * (p.col_tasks - 1), panels);
            }
}

}  // namespace
}  // namespace fovea::kernels
