#include "fovea/bench/attention_length.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

#include "fovea/autograd/tape.h"
#include "fovea/base/clock.h"
#include "fovea/base/processor_time.h"
#include "fovea/base/threads.h"
#include "fovea/bench/kernels.h"
#include "fovea/nn/attention_kind.h"
#include "fovea/nn/gru.h"
#include "fovea/nn/recurrent.h"
#include "fovea/ops/rows/pooling.h"
#include "fovea/tensor/memory.h"

namespace fovea::bench {
namespace {

struct Measured {
    double milliseconds = 0;  // of the fastest run; of one thread the processor's, which other
                              // programs beside it do not lengthen
    std::int64_t bytes = 0;   // of tensors at the peak, beyond what was there
};

// At least twice, unless once takes long.
Measured measured_run(const std::function<void()>& once) {
    Measured m{1e300, 0};
    const Stopwatch all;
    for (int i = 0; i < 20; ++i) {
        const std::int64_t before = memory_stats().in_use;
        reset_memory_peak();
        const Stopwatch clock;
        const double start = processor_seconds();
        once();
        const double seconds = thread_count() == 1 ? processor_seconds() - start : clock.seconds();
        m.milliseconds = std::min(m.milliseconds, 1e3 * seconds);
        m.bytes = memory_stats().peak - before;
        if (all.seconds() > (i == 0 ? 2.0 : 0.5)) break;
    }
    return m;
}

// One way of looking at a text of n rows: rows in, rows (or one row) out.
using Look = std::function<Tensor(const Tensor& x)>;

struct Mechanisms {
    explicit Mechanisms(const AttentionLengthOptions& o)
        : options(o), width(o.heads * o.head_columns), rng(1) {
        recurrent.emplace(gru_cell, width, width, Params(store, rng));
    }

    std::vector<std::string> names() const {
        const std::string w = std::to_string(options.window);
        return {"global", "window:" + w, "expanded:" + w + ",4", "hybrid:" + w, "gru", "bag"};
    }

    Look of(const std::string& name, std::int64_t n) const {
        const Segments text = Segments::of_lengths({n});
        if (name == "gru") return [this, text](const Tensor& x) { return (*recurrent)(x, text); };
        if (name == "bag") return [text](const Tensor& x) { return segment_mean(x, text); };
        const Sight sight = own_sight(parse_attention(name, "bench")[0], text);
        return [sight, heads = options.heads](const Tensor& x) {
            return sight.attend(x, sight.with_means(x), sight.with_means(x), heads, {});
        };
    }

    const AttentionLengthOptions& options;
    int width;
    ParameterStore store;
    Rng rng;
    std::optional<Recurrent> recurrent;
};

Measured run_of(const Look& look, const Tensor& x, bool backward) {
    if (!backward) return measured_run([&] { look(x); });
    return measured_run([&] {
        Tape tape;
        const Tensor watched = tape.watch(x);
        const Tensor y = look(watched);
        tape.gradients(y, Tensor::full(y.shape(), 1.0f));
    });
}

}  // namespace

namespace {

Row row_of(const LengthPoint& p, const std::optional<double>& global) {
    Row row;
    row.name = fmt::format("{} {} {}", p.mechanism, p.work, static_cast<std::int64_t>(p.length));
    row.bench = "attention";
    row.precision = "f32";
    row.threads = thread_count();
    row.value = row.median = p.milliseconds;
    row.unit = "ms";
    row.higher_is_better = false;
    row.note = fmt::format("{:.1f} MB", p.megabytes);
    if (p.mechanism != "global" && global) {
        row.peer = "global";
        row.peer_value = row.peer_median = *global;
    }
    return row;
}

}  // namespace

AttentionLengths bench_attention_length(const AttentionLengthOptions& options) {
    const Mechanisms mechanisms(options);
    AttentionLengths all;
    for (const std::int64_t n : options.lengths) {
        if (options.quick && n > 4096) continue;
        const Tensor x = random_tensor(n, mechanisms.width, 7);
        for (const bool backward : {false, true}) {
            std::optional<double> global;
            for (const std::string& name : mechanisms.names()) {
                LengthPoint point{name, backward ? "fwd+bwd" : "fwd", static_cast<double>(n)};
                const std::string title = row_of(point, {}).name;
                if (title.find(options.only) == std::string::npos || options.stop()) continue;
                if (options.on_case) options.on_case(title);
                const Measured m = run_of(mechanisms.of(name, n), x, backward);
                point.milliseconds = m.milliseconds;
                point.megabytes = static_cast<double>(m.bytes) / 1e6;
                if (name == "global") global = m.milliseconds;
                all.rows.push_back(row_of(point, global));
                all.points.push_back(std::move(point));
                if (options.on_row) options.on_row(all.rows.back());
            }
        }
    }
    return all;
}

}  // namespace fovea::bench
