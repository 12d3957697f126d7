// Matrix products at the shapes of models: forward, and both backward forms of the same layer.
#include <fmt/core.h>

#include "fovea/bench/kernels.h"
#include "fovea/kernels/gemm/gemm.h"
#include "fovea/kernels/peak.h"

namespace fovea::bench {
namespace {

struct Product {
    const char* kind;      // fwd, dX, dW
    std::int64_t m, k, n;  // C [m, n] = A [m, k] B [k, n]
    bool in_quick = true;
};

// A layer of r rows, i inputs, o outputs:
//   fwd  Y [r, o] = X [r, i] Wᵀ      dX [r, i] = dY [r, o] W      dW [o, i] = dYᵀ [o, r] X [r, i]
constexpr Product products[] = {
    {"fwd", 4096, 512, 512},          {"fwd", 4096, 512, 2048}, {"fwd", 4096, 2048, 512},
    {"fwd", 4096, 768, 768},          {"fwd", 4096, 768, 3072}, {"fwd", 4096, 3072, 768},
    {"fwd", 4096, 768, 30464, false}, {"fwd", 128, 768, 768},   {"fwd", 128, 768, 3072},
    {"fwd", 16, 768, 3072},           {"dX", 4096, 512, 512},   {"dX", 4096, 2048, 512},
    {"dX", 4096, 3072, 768, false},   {"dW", 512, 4096, 512},   {"dW", 2048, 4096, 512},
    {"dW", 3072, 4096, 768, false},
};

struct GemmOperands {
    Tensor a, b, c;
    kernels::PackedMatrix packed;
};

Format format_of(const std::string& precision) {
    for (const Format f : {Format::bf16, Format::int8, Format::int7})
        if (precision == fovea::name_of(f)) return f;
    return Format::f32;
}

Contestant our_product(const Product& p, const std::string& precision) {
    auto o = std::make_shared<GemmOperands>();
    o->c = Tensor({p.m, p.n});
    const std::string kind = p.kind;
    const auto work =
        2.0 * static_cast<double>(p.m) * static_cast<double>(p.k) * static_cast<double>(p.n);
    if (kind == "dW") {  // both operands are activations: nothing is packed before
        o->a = random_tensor(p.k, p.m, 1);
        o->b = random_tensor(p.k, p.n, 2);
        const Precision pr = precision == "bf16" ? Precision::bf16 : Precision::f32;
        return timed("fovea", work, [o, pr] {
            kernels::gemm(Trans::yes, Trans::no, o->a, o->b, o->c.view(), {.precision = pr});
        });
    }
    o->a = random_tensor(p.m, p.k, 1);
    const bool forward = kind == "fwd";  // the weight is stored [n, k], else [k, n]
    const Tensor w = forward ? random_tensor(p.n, p.k, 2) : random_tensor(p.k, p.n, 2);
    o->packed = kernels::pack(w, forward ? Trans::yes : Trans::no, format_of(precision));
    return timed("fovea", work, [o] { kernels::gemm_packed(o->a, o->packed, o->c.view()); });
}

std::string name_of(const Product& p) { return fmt::format("{} {}x{}x{}", p.kind, p.m, p.k, p.n); }

std::string onednn_line(const Product& p, const std::string& precision) {
    return fmt::format("gemm {} {} {} {} {}", p.kind, precision == "int7" ? "int8" : precision, p.m,
                       p.k, p.n);
}

}  // namespace

void bench_gemm(KernelBench& bench) {
    for (const char* precision : {"f32", "bf16", "int8", "int7"}) {
        const bool whole = is_whole(format_of(precision));
        for (const Product& p : products) {
            if (bench.quick() && !p.in_quick) continue;
            // Whole numbers are a storage format of weights for inference: they have no backward.
            if (whole && p.kind != std::string("fwd")) continue;
            if (!bench.wanted("gemm", name_of(p), precision)) continue;
            KernelBench::Case c;
            c.row.bench = "gemm";
            c.row.name = name_of(p);
            c.row.precision = precision;
            c.row.unit = whole ? "GOP/s" : "GFLOP/s";
            c.ours = our_product(p, precision);
            c.limit = KernelBench::arithmetic_limit(precision);
            c.onednn = onednn_line(p, precision);
            bench.measure(std::move(c));
        }
    }
}

// One row times a weight matrix, as in decoding: the weight is read once, so the limit is the
// bandwidth at which as many bytes can be read.
void bench_one_row(KernelBench& bench) {
    for (const char* precision : {"f32", "bf16", "int8", "int7"}) {
        for (const Product& p : {Product{"fwd", 1, 768, 3072}, Product{"fwd", 1, 768, 50240}}) {
            if (!bench.wanted("gemm", name_of(p), precision)) continue;
            Contestant ours = our_product(p, precision);
            const std::string prec = precision;
            const std::int64_t value_bytes = prec == "f32" ? 4 : prec == "bf16" ? 2 : 1;
            const std::int64_t bytes = p.k * p.n * value_bytes;
            ours.work = static_cast<double>(bytes);
            const auto memory = std::make_shared<Tensor>(random_tensor(1, bytes / 4, 3));
            KernelBench::Case c;
            c.row.bench = "gemm";
            c.row.name = name_of(p);
            c.row.precision = precision;
            c.row.unit = "GB/s";
            c.ours = std::move(ours);
            c.limit = timed("read", static_cast<double>(bytes),
                            [memory] { kernels::read_plain(memory->data(), memory->size()); });
            c.onednn = onednn_line(p, precision);
            bench.measure(std::move(c));
        }
    }
}

}  // namespace fovea::bench
