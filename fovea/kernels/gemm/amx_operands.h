#pragma once
// The vector side of the AMX products: A on its way into tiles, sums on their way out of them.
// Written with Highway, so that the tile logic can be tested on every level.
#include <cstdint>

#include "fovea/kernels/gemm/gemm_block.h"

namespace fovea::kernels {

// A as tiles of 16 rows x 64 bytes, bf16 or int8: [ceil(rows/16)][padded_k · value bytes /
// 64][16][64], rows and k padded by zeros. int8: one scale a row (rows padded to 16).
using PrepareTiles = void (*)(const PrepareTask& task);
PrepareTiles prepare_tiles_kernel(Format format);

// Rows [row, row + rows) and columns [col, col + cols) of the block, from tiles of sums: the tile
// of strip s (16 rows) and panel p lies at tiles + (s·panels + p)·1024, `tiles` belonging to strip
// 0 and to the panel of `col`. All rows lie in one strip or in two neighbours.
struct FinishedTiles {
    const GemmBlock* block = nullptr;
    const unsigned char* tiles = nullptr;
    std::int64_t panels = 0;
    const float* row_scales = nullptr;  // int8
    std::int64_t row = 0, rows = 0, col = 0, cols = 0;
    bool stream = false;  // past the caches: for outputs larger than they are
};
using FinishTiles = void (*)(const FinishedTiles& t);
FinishTiles finish_tiles_kernel(Format format);

}  // namespace fovea::kernels
