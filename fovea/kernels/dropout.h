#pragma once
// Dropout (Srivastava et al. 2014) whose mask is a pure function of key, sample, row of the sample
// and column: it does not depend on the batch, the packed row or the thread, and backward computes
// it again instead of storing it.
//
// 16 random bits decide a value; a Philox block of 128 bits decides 8. Of each 128 columns, block
// l of 16 holds the columns 16 k + l (k = 0 … 7), column 16 k + l in the low (k < 4) or high half
// of its word k mod 4: so 16 neighbouring columns are one word of 16 blocks, for any vector length.
#include <cstdint>
#include <span>

#include "fovea/base/view.h"

namespace fovea::kernels {

struct DropoutMask {
    std::uint64_t key = 0;        // of the step and the site
    std::uint32_t threshold = 0;  // dropped where the 16 bits are below it
    float scale = 1;              // 1 / (1 − p), for what remains
    // Rows [offsets[s], offsets[s+1]) are the rows 0, 1, … of sample samples[s] (empty: of s).
    std::span<const std::int64_t> offsets{};
    std::span<const std::uint64_t> samples{};
};

// Walks through the names of consecutive rows.
class NamedRows {
public:
    NamedRows(const DropoutMask& mask, std::int64_t row) : mask_(mask), row_(row) {
        while (row >= mask.offsets[segment_ + 1]) ++segment_;
    }
    void next() {
        ++row_;
        while (segment_ + 2 < mask_.offsets.size() && row_ >= mask_.offsets[segment_ + 1])
            ++segment_;
    }
    std::uint64_t sample() const {
        return mask_.samples.empty() ? segment_ : mask_.samples[segment_];
    }
    std::int64_t row() const { return row_ - mask_.offsets[segment_]; }

private:
    const DropoutMask& mask_;
    std::int64_t row_;
    std::size_t segment_ = 0;
};

DropoutMask dropout_mask(std::uint64_t tape_key, std::uint32_t site, float p,
                         std::span<const std::int64_t> offsets,
                         std::span<const std::uint64_t> samples);

// Is this value kept? The definition; the kernels are tested against it.
bool keeps(const DropoutMask& mask, std::uint64_t sample, std::int64_t row, std::int64_t column);

// y = x ∘ mask / (1 − p), or that plus `base` (of y's shape and stride; it may be y). The rows are
// offsets.back(). y may be x.
void dropout(ConstView x, const DropoutMask& mask, View y, const float* base = nullptr);

}  // namespace fovea::kernels
