#include "fovea/kernels/pack.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "fovea/base/checked.h"
#include "fovea/base/threads.h"

namespace fovea::kernels {

const char* name_of(Format format) {
    switch (format) {
        case Format::f32:
            return "f32";
        case Format::bf16:
            return "bf16";
        case Format::int8:
            return "int8";
    }
    return "?";
}

std::size_t PackedMatrix::bytes() const {
    return values_.bytes() + scales_.bytes() + sums_.bytes();
}

const float* PackedMatrix::f32_panel(std::int64_t panel) const {
    return values_.as<const float>() + panel * padded_k_ * panel_columns;
}
const Bf16* PackedMatrix::bf16_panel(std::int64_t panel) const {
    return values_.as<const Bf16>() + panel * padded_k_ * panel_columns;
}
const std::int8_t* PackedMatrix::int8_panel(std::int64_t panel) const {
    return values_.as<const std::int8_t>() + panel * padded_k_ * panel_columns;
}
const float* PackedMatrix::scales() const { return scales_.as<const float>(); }
const std::int32_t* PackedMatrix::column_sums() const { return sums_.as<const std::int32_t>(); }

void PackedMatrix::assign(ConstView w, Trans trans, Format format) {
    format_ = format;
    k_ = trans == Trans::yes ? w.cols : w.rows;
    n_ = trans == Trans::yes ? w.rows : w.cols;
    padded_k_ = round_up(k_, format == Format::f32 ? 1 : format == Format::bf16 ? 32 : 64);
    const auto at = [&](std::int64_t k, std::int64_t j) {
        if (k >= k_ || j >= n_) return 0.0f;
        return trans == Trans::yes ? w.row(j)[k] : w.row(k)[j];
    };
    const std::int64_t count = checked_mul(checked_mul(panels(), panel_columns), padded_k_);
    if (format == Format::f32) {
        float* out = values_.reserve<float>(count);
        parallel_for(panels(), 4, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t p = begin; p < end; ++p)
                for (std::int64_t k = 0; k < padded_k_; ++k)
                    for (std::int64_t j = 0; j < 16; ++j)
                        out[(p * padded_k_ + k) * 16 + j] = at(k, p * 16 + j);
        });
    } else if (format == Format::bf16) {
        Bf16* out = values_.reserve<Bf16>(count);
        parallel_for(panels(), 4, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t p = begin; p < end; ++p)
                for (std::int64_t k = 0; k < padded_k_; ++k)
                    for (std::int64_t j = 0; j < 16; ++j)
                        out[p * padded_k_ * 16 + (k / 2) * 32 + j * 2 + k % 2] =
                            to_bf16(at(k, p * 16 + j));
        });
    } else {
        auto* out = values_.reserve<std::int8_t>(count);
        float* scales = scales_.reserve<float>(panels() * 16);
        auto* sums = sums_.reserve<std::int32_t>(panels() * 16);
        parallel_for(panels(), 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t j = begin * 16; j < end * 16; ++j) {
                float largest = 0;
                for (std::int64_t k = 0; k < k_; ++k)
                    largest = std::max(largest, std::fabs(at(k, j)));
                const float inverse = largest > 0 ? 127.0f / largest : 0.0f;
                std::int32_t sum = 0;
                for (std::int64_t k = 0; k < padded_k_; ++k) {
                    const auto q = static_cast<std::int8_t>(std::nearbyint(at(k, j) * inverse));
                    out[(j / 16) * padded_k_ * 16 + (k / 4) * 64 + (j % 16) * 4 + k % 4] = q;
                    sum += q;
                }
                scales[j] = largest / 127.0f;
                sums[j] = sum;
            }
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
            return static_cast<float>(w.int8_panel(panel)[k / 4 * 64 + column * 4 + k % 4]) *
                   w.scales()[j];
    }
    return 0;
}

}  // namespace fovea::kernels
