#include "fovea/kernels/gemm/pack.h"

#include <algorithm>
#include <cassert>

#include "fovea/base/checked.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/gemm/pack_panels.h"

namespace fovea::kernels {

std::size_t PackedMatrix::bytes() const {
    return values_.bytes() + scales_.bytes() + sums_.bytes();
}

const float* PackedMatrix::scales() const { return scales_.as<const float>(); }
const std::int32_t* PackedMatrix::column_sums() const { return sums_.as<const std::int32_t>(); }

void PackedMatrix::assign(ConstView w, Trans trans, Format format) {
    format_ = format;
    k_ = trans == Trans::yes ? w.cols : w.rows;
    n_ = trans == Trans::yes ? w.rows : w.cols;
    padded_k_ = round_up(k_, format == Format::f32 ? 1 : format == Format::bf16 ? 32 : 64);
    const std::int64_t count = checked_mul(checked_mul(panels(), panel_columns), padded_k_);
    // Pieces of about 64 KB.
    const std::int64_t grain = std::max<std::int64_t>(1, (1 << 10) / std::max<std::int64_t>(1, k_));
    const auto task = [&](std::int64_t begin, std::int64_t end) {
        return PanelTask{.w = w,
                         .trans = trans,
                         .k = k_,
                         .n = n_,
                         .padded_k = padded_k_,
                         .begin = begin,
                         .end = end,
                         .last_k = padded_k_,
                         .levels = levels_of(format)};
    };
    // Whole panels, or where W lies as it is wanted, all panels of some rows: 64 bytes of each of
    // thousands of rows are what no cache sees coming.
    const auto by_pieces = [&](auto* out, const auto& pack) {
        if (trans == Trans::yes) {
            parallel_for(panels(), grain,
                         [&](std::int64_t b, std::int64_t e) { pack(task(b, e), out); });
            return;
        }
        const std::int64_t rows = round_up(ceil_div(1 << 14, std::max<std::int64_t>(1, n_)), 32);
        parallel_for(ceil_div(padded_k_, rows), 1, [&](std::int64_t piece, std::int64_t) {
            PanelTask t = task(0, panels());
            t.first_k = piece * rows;
            t.last_k = std::min(padded_k_, t.first_k + rows);
            pack(t, out);
        });
    };
    if (format == Format::f32) {
        by_pieces(values_.reserve<float>(count), pack_f32_panels);
    } else if (format == Format::bf16) {
        by_pieces(values_.reserve<Bf16>(count), pack_bf16_panels);
    } else {
        auto* out = values_.reserve<std::int8_t>(count);
        float* scales = scales_.reserve<float>(panels() * panel_columns);
        auto* sums = sums_.reserve<std::int32_t>(panels() * panel_columns);
        parallel_for(panels(), grain, [&](std::int64_t b, std::int64_t e) {
            pack_int8_panels(task(b, e), out, scales, sums);
        });
    }
}

PackedMatrix pack(ConstView w, Trans trans, Format format) {
    PackedMatrix packed;
    packed.assign(w, trans, format);
    return packed;
}

float unpacked_value(const PackedMatrix& w, std::int64_t k, std::int64_t j) {
    assert(k >= 0 && k < w.k() && j >= 0 && j < w.n());
    const std::int64_t panel = j / 16, column = j % 16;
    switch (w.format()) {
        case Format::f32:
            return w.f32_panel(panel)[k * 16 + column];
        case Format::bf16:
            return from_bf16(w.bf16_panel(panel)[k / 2 * 32 + column * 2 + k % 2]);
        case Format::int8:
        case Format::int7: {
            const std::int64_t at = k / 4 * 64 + column * 4 + k % 4;
            return static_cast<float>(w.int8_panel(panel)[at]) * w.scales()[j];
        }
    }
    return 0;
}

}  // namespace fovea::kernels
