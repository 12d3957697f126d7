#include "fovea/bench/kernels.h"

#include "fovea/base/rng.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/isa.h"
#include "fovea/kernels/peak.h"

namespace fovea::bench {
namespace {

constexpr double quick_budget = 50;  // seconds for all rows of a quick run
constexpr std::int64_t spin_rounds = 100'000;

}  // namespace

KernelBench::KernelBench(const KernelBenchOptions& options) : options_(options) {
    if (options_.peers) onednn_ = std::make_unique<OneDnn>();
}

bool KernelBench::wanted(const std::string& bench, const std::string& name,
                         const std::string& precision) {
    const std::string full = bench + " " + name + " " + precision;
    if (full.find(options_.only) == std::string::npos || options_.stop()) return false;
    if (options_.quick && clock_.seconds() > quick_budget) {
        ++left_out_;
        return false;
    }
    if (options_.on_case) options_.on_case(full);
    return true;
}

void KernelBench::measure(Case c) {
    if (!c.onednn.empty() && onednn_ && onednn_->open(c.onednn, c.row.precision)) {
        c.row.peer = onednn_->name();
        c.peer = {"oneDNN", c.ours.work, [this](int times) { return onednn_->run(times); }};
    }
    const std::vector<Figure> figures =
        measure_in_turns({c.ours, c.peer, c.limit}, {.seconds = options_.quick ? 0.4 : 2.0});
    Row& row = c.row;
    row.threads = thread_count();
    row.value = figures[0].best / c.unit_size;
    row.median = figures[0].median / c.unit_size;
    if (figures[1].samples > 0) {
        row.peer_value = figures[1].best / c.unit_size;
        row.peer_median = figures[1].median / c.unit_size;
    } else {
        row.peer.clear();
    }
    if (figures[2].best > 0) row.share = figures[0].best / figures[2].best;
    if (options_.on_row) options_.on_row(row);
    rows_.push_back(std::move(row));
}

Contestant KernelBench::arithmetic_limit(const std::string& precision) {
    const bool amx = kernels::active_isa() == kernels::Isa::amx;
    std::int64_t (*spin)(std::int64_t) = kernels::spin_fma;
    if (precision == "bf16" && kernels::has_avx512_bf16()) spin = kernels::spin_dot_bf16;
    if (amx && precision == "bf16") spin = kernels::spin_amx_bf16;
    if (amx && precision == "int8") spin = kernels::spin_amx_int8;
    if (precision == "int7" || (!amx && precision == "int8"))
        return {};  // no one loop is the limit of what is used there
    const auto work = static_cast<double>(spin(spin_rounds));
    return timed("limit", work, [spin] { spin(spin_rounds); });
}

Tensor random_tensor(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
    Tensor t({rows, cols});
    float* data = t.write();
    const std::int64_t n = rows * cols;
    for (std::int64_t i = 0; i < n; i += 4) {
        const PhiloxBlock block = philox({static_cast<std::uint32_t>(i), 0, 0, 0}, seed);
        for (std::int64_t j = 0; j < 4 && i + j < n; ++j)
            data[i + j] = static_cast<float>(static_cast<std::int32_t>(block[j])) * 0x1p-31f;
    }
    return t;
}

KernelBenchResult bench_kernels(const KernelBenchOptions& options) {
    KernelBench bench(options);
    bench_gemm(bench);
    bench_one_row(bench);
    bench_attention(bench);
    bench_elementwise(bench);
    return {bench.take_rows(), bench.left_out()};
}

}  // namespace fovea::bench
