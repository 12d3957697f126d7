#include "fovea/train/timing.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/autograd/tape.h"
#include "fovea/base/clock.h"
#include "fovea/base/rng.h"
#include "fovea/ops/optimizer.h"

namespace fovea {
namespace {

constexpr std::int64_t batches_timed = 4;
constexpr double long_enough = 8;  // seconds

// The norm reads each gradient once: 4 bytes a parameter. Adam reads gradient, parameter and two
// moments and writes three of them, 28 bytes, and both wait for memory.
constexpr double passes_of_an_update = 8;

}  // namespace

double seconds_per_update(const TrainTask& task, const TrainOptions& options) {
    const std::int64_t batches = task.begin_epoch(0);
    expect(batches > 0, "train: epoch 1 has no batch");
    std::vector<Tensor> parameters;
    for (const std::string& name : task.store->names())
        if (task.store->at(name).trainable()) parameters.push_back(task.store->at(name));

    // What is not trained but moves (averages of a batch norm) is put back: the time an update
    // takes must not change what is learned.
    std::vector<std::pair<Tensor, std::vector<float>>> moving;
    for (const std::string& name : task.store->names())
        if (const Tensor& t = task.store->at(name); !t.trainable() && t.format() == Format::f32)
            moving.emplace_back(t, t.values());
    Rng dropout(options.seed, 0x74696d65);  // a stream of its own
    double total_weight = 0, seconds = 0, weight = 0, norm_seconds = 0;
    for (std::int64_t b = 0; b < batches; ++b)
        total_weight += static_cast<double>(task.batch_weight(b));
    const std::int64_t timed = std::min(batches_timed, batches);
    const Stopwatch all;
    for (std::int64_t i = -1; i < timed; ++i) {  // the first one warms up
        if (i > 0 && all.seconds() > long_enough) break;
        const std::int64_t batch = std::max<std::int64_t>(i, 0) * batches / timed;
        const Stopwatch clock;
        if (task.own_update) {
            task.own_update(batch, 0);
            if (i < 0) continue;
            seconds += clock.seconds();
            weight += static_cast<double>(task.batch_weight(batch));
            continue;
        }
        Tape tape(dropout);
        const Gradients gradients = tape.gradients(task.loss(batch));
        const double backward = clock.seconds();
        global_norm(gradients, parameters);
        if (i < 0) continue;
        norm_seconds = clock.seconds() - backward;
        seconds += backward;
        weight += static_cast<double>(task.batch_weight(batch));
    }
    for (auto& [tensor, values] : moving) std::copy(values.begin(), values.end(), tensor.write());
    const double per_batch =
        seconds / std::max(weight, 1.0) * total_weight / static_cast<double>(batches);
    const auto batches_of_update =
        static_cast<double>(std::min<std::int64_t>(options.accumulate, batches));
    return per_batch * batches_of_update + passes_of_an_update * norm_seconds;
}

}  // namespace fovea
