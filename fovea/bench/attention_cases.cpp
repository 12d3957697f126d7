// Attention over one sequence of 12 heads of 64 columns, beside the plain way: scores of a head by
// one product, softmax, weighted values by another, all in f32.
#include <fmt/core.h>

#include <cmath>

#include "fovea/bench/kernels.h"
#include "fovea/bench/two_gemm_attention.h"
#include "fovea/kernels/attention/attention_scaled.h"
#include "fovea/tensor/visibility.h"

namespace fovea::bench {
namespace {

constexpr int heads = 12;
constexpr std::int64_t head_columns = 64;
constexpr std::int64_t columns = heads * head_columns;

struct AttentionOperands {
    explicit AttentionOperands(std::int64_t n)
        : q(random_tensor(n, columns, 1)),
          k(random_tensor(n, columns, 2)),
          v(random_tensor(n, columns, 3)),
          dout(random_tensor(n, columns, 4)),
          out({n, columns}),
          lse({heads, n}),
          dq({n, columns}),
          dk({n, columns}),
          dv({n, columns}),
          sees(everything(Segments::of_lengths({n}), Segments::of_lengths({n}))) {}

    kernels::AttentionCall call(Precision precision) const {
        return {.q = q,
                .k = k,
                .v = v,
                .heads = heads,
                .head_begin = 0,
                .head_end = heads,
                .sees = sees.view(),
                .scale = 1 / std::sqrt(static_cast<float>(head_columns)),
                .dropout = {},
                .precision = precision};
    }
    void forward(Precision precision) {
        kernels::attention_forward(call(precision), kernels::ScaledDot{}, out.view(), lse.view());
    }
    void backward(Precision precision) {
        kernels::attention_backward(
            call(precision), kernels::ScaledDot{}, {out, lse, dout},
            {.dq = {dq.view(), false}, .dk = {dk.view(), false}, .dv = {dv.view(), false}});
    }

    Tensor q, k, v, dout, out, lse, dq, dk, dv;
    Visibility sees;
};

}  // namespace

void bench_attention(KernelBench& bench) {
    for (const std::int64_t n : {128, 512, 2048}) {
        for (const bool backward : {false, true}) {
            for (const char* precision : {"f32", "bf16"}) {
                const std::string name = fmt::format("{} {}x{} seq {}", backward ? "bwd" : "fwd",
                                                     heads, head_columns, n);
                if (!bench.wanted("attention", name, precision)) continue;
                const auto o = std::make_shared<AttentionOperands>(n);
                const auto plain = std::make_shared<TwoGemmAttention>(o->q, o->k, o->v, heads);
                const Precision p =
                    precision == std::string("bf16") ? Precision::bf16 : Precision::f32;
                o->forward(p);
                plain->forward();
                // Two products forward; five backward, one of which computes the scores again.
                const double work = (backward ? 10.0 : 4.0) * heads * static_cast<double>(n) *
                                    static_cast<double>(n) * head_columns;
                KernelBench::Case c;
                c.row.bench = "attention";
                c.row.name = name;
                c.row.precision = precision;
                c.row.unit = "GFLOP/s";
                c.row.peer = "two gemms, f32";
                c.ours = timed("fovea", work, [=] { backward ? o->backward(p) : o->forward(p); });
                c.limit = KernelBench::arithmetic_limit(precision);
                c.peer = timed("plain", work,
                               [=] { backward ? plain->backward(o->dout) : plain->forward(); });
                bench.measure(std::move(c));
            }
        }
    }
}

}  // namespace fovea::bench
