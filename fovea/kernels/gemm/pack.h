#pragma once
// Weights laid out once for many products. Opaque to everyone but the gemm files.
//
// All formats share one shape: panels of 16 columns of W' [k, n] (the operand as multiplied: Wᵀ for
// a Linear's [out, in] weight), columns beyond n filled with zeros.
//   f32    [panel][k][16]
//   bf16   [panel][k/2][16][2]   pairs of k side by side (AMX's VNNI order), k padded to 32
//   int8   [panel][k/4][16][4]   quads of k, k padded to 64, and per column: scale, sum of values;
//          int7 the same
// The layout is the same on every level, so that a packed matrix outlives a change of level.
#include <cstddef>
#include <cstdint>

#include "fovea/base/format.h"
#include "fovea/base/view.h"
#include "fovea/kernels/aligned_buffer.h"
#include "fovea/kernels/bf16.h"

namespace fovea::kernels {

inline constexpr std::int64_t panel_columns = 16;

class PackedMatrix {
public:
    PackedMatrix() = default;

    Format format() const { return format_; }
    std::int64_t k() const { return k_; }  // rows of W'
    std::int64_t n() const { return n_; }  // columns of W'
    std::int64_t padded_k() const { return padded_k_; }
    std::int64_t panels() const { return (n_ + panel_columns - 1) / panel_columns; }
    std::size_t bytes() const;  // memory held
    bool empty() const { return n_ == 0 || k_ == 0; }

    // Values of one panel, for the gemm files.
    const float* f32_panel(std::int64_t panel) const {
        return values_.as<const float>() + panel * padded_k_ * panel_columns;
    }
    const Bf16* bf16_panel(std::int64_t panel) const {
        return values_.as<const Bf16>() + panel * padded_k_ * panel_columns;
    }
    const std::int8_t* int8_panel(std::int64_t panel) const {
        return values_.as<const std::int8_t>() + panel * padded_k_ * panel_columns;
    }
    const float* scales() const;              // int8: n padded to 16
    const std::int32_t* column_sums() const;  // int8: of the quantised values

    // Fills this with op(w), reusing its memory where the sizes are the same.
    void assign(ConstView w, Trans trans, Format format);

private:
    Format format_ = Format::f32;
    std::int64_t k_ = 0, n_ = 0, padded_k_ = 0;
    AlignedBuffer values_, scales_, sums_;
};

// W' = w or wᵀ. int8, int7: one scale a column (output channel), s = max|w| / 127 (63), q = round(w
// / s).
PackedMatrix pack(ConstView w, Trans trans, Format format);

// The value a product sees at W'[k, j] (rounded or quantised), for tests and for tools.
float unpacked_value(const PackedMatrix& w, std::int64_t k, std::int64_t j);

}  // namespace fovea::kernels
