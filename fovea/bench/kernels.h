#pragma once
// `fovea bench kernels`: every kernel that matters, beside the machine's own limits and, where it
// is installed, oneDNN; all sampled in turns in one run.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fovea/base/clock.h"
#include "fovea/bench/onednn.h"
#include "fovea/bench/rows.h"
#include "fovea/bench/sampling.h"
#include "fovea/tensor/tensor.h"

namespace fovea::bench {

struct KernelBenchOptions {
    bool quick = false;  // fewer shapes and samples: under a minute
    bool peers = true;   // beside oneDNN where it is installed
    std::string only;    // rows whose bench, case or precision holds this text; empty: all
    std::function<void(const Row&)> on_row;             // as soon as it is measured
    std::function<void(const std::string&)> on_case;    // before it is measured
    std::function<bool()> stop = [] { return false; };  // asked between cases
};

struct KernelBenchResult {
    std::vector<Row> rows;
    int left_out = 0;  // rows for which a quick run had no time
};
KernelBenchResult bench_kernels(const KernelBenchOptions& options);

// What the cases of one run share. A case describes its row, its contestants and its limit.
class KernelBench {
public:
    explicit KernelBench(const KernelBenchOptions& options);

    bool quick() const { return options_.quick; }

    // Whether this row is asked for and there is time for it. Says so to on_case.
    bool wanted(const std::string& bench, const std::string& name, const std::string& precision);

    // What a row is measured by.
    struct Case {
        Row row;                 // bench, name, precision, unit are given
        double unit_size = 1e9;  // work per second of one unit: 1e9 for GFLOP/s and GB/s
        Contestant ours{};
        Contestant limit{};    // the hardware's; no run: no share
        Contestant peer{};     // no run: none, or oneDNN by `onednn`
        std::string onednn{};  // the work line for the oneDNN peer; empty: none
    };
    void measure(Case c);

    // The arithmetic limit for a precision: FMA, or AMX where it is used; none for int8 elsewhere.
    static Contestant arithmetic_limit(const std::string& precision);

    std::vector<Row> take_rows() { return std::move(rows_); }
    int left_out() const { return left_out_; }

private:
    KernelBenchOptions options_;
    std::unique_ptr<OneDnn> onednn_;
    Stopwatch clock_;
    std::vector<Row> rows_;
    int left_out_ = 0;
};

// A tensor of random values in [-1, 1).
Tensor random_tensor(std::int64_t rows, std::int64_t cols, std::uint64_t seed);

// The families, each in its own file.
void bench_gemm(KernelBench& bench);
void bench_one_row(KernelBench& bench);
void bench_attention(KernelBench& bench);
void bench_elementwise(KernelBench& bench);

}  // namespace fovea::bench
