// Kernels that are bound by memory: each beside a plain copy (or, where nothing large is written, a
// plain read) that moves as many bytes.
#include <fmt/core.h>

#include "fovea/bench/kernels.h"
#include "fovea/kernels/activation.h"
#include "fovea/kernels/adam.h"
#include "fovea/kernels/peak.h"
#include "fovea/kernels/rows/loss.h"
#include "fovea/kernels/rows/norm.h"

namespace fovea::bench {
namespace {

Contestant copy_of(std::int64_t bytes) {
    const std::int64_t n = bytes / 8;  // half is read, half is written
    const auto from = std::make_shared<Tensor>(random_tensor(1, n, 9));
    const auto to = std::make_shared<Tensor>(Tensor({1, n}));
    return timed("copy", static_cast<double>(n * 8),
                 [=] { kernels::copy_plain(from->data(), to->write(), n); });
}

Contestant read_of(std::int64_t bytes) {
    const std::int64_t n = bytes / 4;
    const auto from = std::make_shared<Tensor>(random_tensor(1, n, 9));
    return timed("read", static_cast<double>(n * 4), [=] { kernels::read_plain(from->data(), n); });
}

// The work is as many bytes as the limit moves.
void measure(KernelBench& bench, const char* family, const std::string& name, Contestant limit,
             std::function<void()> once, std::string onednn = {}) {
    KernelBench::Case c;
    c.row.bench = family;
    c.row.name = name;
    c.row.precision = "f32";
    c.row.unit = "GB/s";
    c.ours = timed("fovea", limit.work, std::move(once));
    c.limit = std::move(limit);
    c.onednn = std::move(onednn);
    bench.measure(std::move(c));
}

void bench_layer_norm(KernelBench& bench) {
    constexpr std::int64_t rows = 4096, cols = 768, bytes = rows * cols * 4;
    const std::string size = fmt::format("{}x{}", rows, cols);
    struct Operands {
        Tensor x = random_tensor(rows, cols, 1), gamma = random_tensor(1, cols, 2),
               beta = random_tensor(1, cols, 3), dy = random_tensor(rows, cols, 4);
        Tensor y{{rows, cols}}, dgamma{{1, cols}}, dbeta{{1, cols}};
        Tensor partial{{1, kernels::norm_partial_size(rows, cols)}};
        std::vector<kernels::NormStats> stats = std::vector<kernels::NormStats>(rows);
    };
    const auto o = std::make_shared<Operands>();
    const auto forward = [o] {
        kernels::layer_norm(o->x, o->gamma.data(), o->beta.data(), 1e-5f, o->y.view(),
                            o->stats.data());
    };
    if (bench.wanted("layer_norm", "fwd " + size, "f32"))
        measure(bench, "layer_norm", "fwd " + size, copy_of(2 * bytes), forward,
                fmt::format("layer_norm {} {}", rows, cols));
    if (bench.wanted("layer_norm", "bwd " + size, "f32")) {
        forward();
        measure(bench, "layer_norm", "bwd " + size, copy_of(3 * bytes), [o] {
            kernels::layer_norm_backward(o->dy, o->x, o->gamma.data(), o->stats.data(),
                                         {.dx = o->y.view(),
                                          .dgamma = o->dgamma.write(),
                                          .dbeta = o->dbeta.write(),
                                          .partial = o->partial.write()});
        });
    }
}

void bench_gelu(KernelBench& bench) {
    constexpr std::int64_t rows = 4096, cols = 3072, n = rows * cols;
    const std::string size = fmt::format("{}x{}", rows, cols);
    const auto x = std::make_shared<Tensor>(random_tensor(rows, cols, 1));
    const auto dy = std::make_shared<Tensor>(random_tensor(rows, cols, 2));
    const auto y = std::make_shared<Tensor>(Tensor({rows, cols}));
    if (bench.wanted("gelu", "fwd " + size, "f32"))
        measure(
            bench, "gelu", "fwd " + size, copy_of(8 * n),
            [=] { kernels::activate(Act::gelu, x->data(), y->write(), n); },
            fmt::format("gelu {}", n));
    if (bench.wanted("gelu", "bwd " + size, "f32"))
        measure(bench, "gelu", "bwd " + size, copy_of(12 * n), [=] {
            kernels::activate_backward(Act::gelu, dy->data(), x->data(), y->write(), n);
        });
}

void bench_cross_entropy(KernelBench& bench) {
    constexpr std::int64_t rows = 1024, cols = 30464, bytes = rows * cols * 4;
    const std::string size = fmt::format("{}x{}", rows, cols);
    struct Operands {
        Tensor logits = random_tensor(rows, cols, 1), dlogits{{rows, cols}};
        std::vector<std::int32_t> labels = std::vector<std::int32_t>(rows);
        std::vector<float> loss = std::vector<float>(rows), factor = std::vector<float>(rows, 1.0f);
        std::vector<kernels::SoftmaxStats> stats = std::vector<kernels::SoftmaxStats>(rows);
    };
    const auto o = std::make_shared<Operands>();
    for (std::int64_t i = 0; i < rows; ++i)
        o->labels[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i * 7919 % cols);
    const auto forward = [o] {
        kernels::cross_entropy(o->logits, o->labels.data(), -100, 0.1f, o->stats.data(),
                               o->loss.data());
    };
    if (bench.wanted("cross_entropy", "fwd " + size, "f32"))
        measure(bench, "cross_entropy", "fwd " + size, read_of(bytes), forward);
    if (bench.wanted("cross_entropy", "bwd " + size, "f32")) {
        forward();
        measure(bench, "cross_entropy", "bwd " + size, copy_of(2 * bytes), [o] {
            kernels::cross_entropy_backward(o->logits, o->labels.data(), -100, 0.1f,
                                            o->stats.data(), o->factor.data(), o->dlogits.view());
        });
    }
}

void bench_adamw(KernelBench& bench) {
    constexpr std::int64_t n = std::int64_t{16} << 20;
    if (!bench.wanted("adamw", "16 M parameters", "f32")) return;
    struct Operands {
        Tensor w = random_tensor(1, n, 1), g = random_tensor(1, n, 2), m = Tensor::zeros({1, n}),
               v = Tensor::zeros({1, n});
    };
    const auto o = std::make_shared<Operands>();
    // w, m, v are read and written, g is read: 28 bytes a parameter.
    measure(bench, "adamw", "16 M parameters", copy_of(28 * n), [o] {
        kernels::adamw(o->w.write(), o->g.data(), o->m.write(), o->v.write(), n,
                       {.rate = 1e-6f, .decay = 0.01f});
    });
}

}  // namespace

void bench_elementwise(KernelBench& bench) {
    bench_layer_norm(bench);
    bench_gelu(bench);
    bench_cross_entropy(bench);
    bench_adamw(bench);
}

}  // namespace fovea::bench
