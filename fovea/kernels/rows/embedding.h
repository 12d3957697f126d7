#pragma once
// Rows looked up by number, and the sum of their gradients.
#include <cstdint>
#include <span>

#include "fovea/base/view.h"

namespace fovea::kernels {

// y[i, :] = table[ids[i], :]. All ids are within the table (checked by the caller).
void gather_rows(ConstView table, std::span<const std::int32_t> ids, View y);
// Tables stored as bf16, or as int8 with one scale a row; `cols` values per row.
void gather_rows_bf16(const std::uint16_t* table, std::span<const std::int32_t> ids, View y);
void gather_rows_int8(const std::int8_t* table, const float* scales,
                      std::span<const std::int32_t> ids, View y);

// dtable[r, :] (+)= Σ dy[i, :] over the i with ids[i] = r, in rising order of i; rows nobody looked
// up become zero (or stay). No two threads write one row, so nothing is atomic.
void scatter_add_rows(ConstView dy, std::span<const std::int32_t> ids, View dtable,
                      bool accumulate);

}  // namespace fovea::kernels
