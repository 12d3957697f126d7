#include "fovea/ops/packed_weight.h"

#include "fovea/base/precision.h"

namespace fovea {
namespace {

Format packed_format(const Tensor& w) {
    if (is_whole(w.format())) return w.format();
    if (w.format() == Format::bf16 || current_precision() == Precision::bf16) return Format::bf16;
    return Format::f32;
}

// Of convolutions. Never destroyed: a tensor may outlive it.
kernels::PackCache& cache_by_taps() {
    static kernels::PackCache& cache = *new kernels::PackCache;
    return cache;
}

void drop_packed(std::uint64_t id) {
    kernels::pack_cache().drop(id);
    cache_by_taps().drop(id);
}

}  // namespace

std::shared_ptr<const kernels::PackedMatrix> packed_weight(const Tensor& w, Trans trans) {
    const kernels::PackKey key{w.id(), w.version(), trans, packed_format(w)};
    if (auto packed = kernels::pack_cache().find_packed(key)) {
        if (packed->n() == (trans == Trans::yes ? w.rows() : w.cols())) return packed;
        // The same tensor under two shapes: the second one is packed for this call alone.
        return std::make_shared<kernels::PackedMatrix>(
            kernels::pack(w.to(Format::f32), trans, key.format));
    }
    w.on_release(drop_packed);
    // Packing rounds the values of a bf16 or whole-number weight back to what they were: every row
    // of whole numbers holds the largest one, or is all zero.
    return kernels::pack_cache().get(key, w.to(Format::f32));
}

std::shared_ptr<const kernels::PackedMatrix> packed_by_taps(
    const Tensor& w, const std::function<Tensor()>& by_taps) {
    const kernels::PackKey key{w.id(), w.version(), Trans::yes, packed_format(w)};
    if (auto packed = cache_by_taps().find_packed(key)) return packed;
    w.on_release(drop_packed);
    return cache_by_taps().get(key, by_taps());
}

void multiply_by_weight(const Tensor& x, const Tensor& w, Trans trans, View y, bool trains,
                        const kernels::GemmOptions& options) {
    constexpr std::int64_t enough_rows = 256;  // packing is then under a hundredth of the product
    if (!trains || x.rows() < enough_rows)
        return kernels::gemm_packed(x, *packed_weight(w, trans), y, options);
    kernels::GemmOptions once = options;
    once.precision = current_precision();
    kernels::gemm(Trans::no, trans, x, w, y, once);
}

}  // namespace fovea
