#include "fovea/ops/packed_weight.h"

#include "fovea/base/precision.h"
#include "fovea/kernels/bf16.h"

namespace fovea {
namespace {

Format packed_format(const Tensor& w) {
    if (w.format() == Format::int8) return Format::int8;
    if (w.format() == Format::bf16 || current_precision() == Precision::bf16) return Format::bf16;
    return Format::f32;
}

// The f32 values of a bf16 or int8 weight. Packing rounds them back to the same bf16 and int8
// values: every row of an int8 weight holds a ±127, or is all zero.
Tensor expanded(const Tensor& w) {
    Tensor y(w.shape());
    float* to = y.write();
    if (w.format() == Format::bf16) {
        const std::uint16_t* from = w.bf16_data();
        for (std::int64_t i = 0; i < w.size(); ++i) to[i] = kernels::from_bf16(from[i]);
        return y;
    }
    const std::int8_t* from = w.int8_data();
    for (std::int64_t r = 0; r < w.rows(); ++r) {
        const float scale = w.int8_scales()[static_cast<std::size_t>(r)];
        for (std::int64_t c = 0; c < w.cols(); ++c)
            to[r * w.cols() + c] = scale * static_cast<float>(from[r * w.cols() + c]);
    }
    return y;
}

void drop_packed(std::uint64_t id) { kernels::pack_cache().drop(id); }

}  // namespace

std::shared_ptr<const kernels::PackedMatrix> packed_weight(const Tensor& w, Trans trans) {
    const kernels::PackKey key{w.id(), w.version(), trans, packed_format(w)};
    if (auto packed = kernels::pack_cache().find_packed(key)) {
        if (packed->n() == (trans == Trans::yes ? w.rows() : w.cols())) return packed;
        // The same tensor under two shapes: the second one is packed for this call alone.
        return std::make_shared<kernels::PackedMatrix>(
            kernels::pack(w.format() == Format::f32 ? w : expanded(w), trans, key.format));
    }
    w.on_release(drop_packed);
    if (w.format() == Format::f32) return kernels::pack_cache().get(key, w);
    return kernels::pack_cache().get(key, expanded(w));
}

}  // namespace fovea
