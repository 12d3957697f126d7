#include <algorithm>
#include <cmath>

#include "fovea/kernels/attention/attention_biased.h"
#include "fovea/ops/arguments.h"
#include "fovea/ops/attention/bound_score.h"

namespace fovea {
namespace {

// Kernels take the bias by distance, so that the entry function is asked once for each.
class BoundBiasedDot final : public BoundScore {
public:
    BoundBiasedDot(const BiasedDot& score, const ScoreCall& call)
        : BoundScore({score.table}), score_(score) {
        const ScoreCall::Distances seen = call.distances(score.positions);
        const std::int64_t n = std::max<std::int64_t>(1, seen.highest - seen.lowest + 1);
        bias_ = Tensor({call.heads, n});
        float* to = bias_.write();
        for (std::int64_t t = 0; t < n; ++t) {
            const BiasedDot::Entry e = score.entry(seen.lowest + t);
            expect(e.row >= 0 && e.row < score.table.rows(), call.where, ": the bias table is ",
                   score.table.shape(), " but distance ", seen.lowest + t, " asks for row ", e.row);
            for (int h = 0; h < call.heads; ++h)
                to[h * n + t] = e.factor * score.table.at(e.row, h);
        }
        kernel_ = {.bias = bias_, .first = seen.lowest, .positions = view_of(score.positions)};
    }

    kernels::AttentionScore kernel() const override { return kernel_; }

    void scatter_gradients(const Tensor& dparameters, Gradients& d) const override {
        const Tensor& table = parameters().front();
        if (!d.wants(table)) return;
        const std::int64_t heads = dparameters.rows(), size = dparameters.cols();
        const Into into = d.into(table);
        if (!into.add) std::fill_n(into.view.data, table.size(), 0.0f);
        for (std::int64_t t = 0; t < size; ++t) {
            const BiasedDot::Entry e = score_.entry(kernel_.first + t);
            for (std::int64_t h = 0; h < heads; ++h)
                into.view.data[e.row * heads + h] += e.factor * dparameters.at(h, t);
        }
    }

private:
    const BiasedDot& score_;
    Tensor bias_;  // [heads, distances]
    kernels::BiasedDot kernel_;
};

}  // namespace

ScoreBinding BiasedDot::bind(const ScoreCall& call) const {
    expect_f32(call.where, "the bias table", table);
    expect(table.cols() == call.heads, call.where, ": the bias table is ", table.shape(), " for ",
           call.heads, " heads");
    expect(entry != nullptr, call.where, ": BiasedDot has no entry function");
    return std::make_shared<BoundBiasedDot>(*this, call);
}

BiasedDot BiasedDot::t5(const Tensor& table, bool bidirectional, std::int64_t max_distance) {
    const std::int64_t all = table.empty() ? 0 : table.rows();
    const std::int64_t side = bidirectional ? all / 2 : all, exact = side / 2;
    expect(exact > 0 && max_distance > exact, "t5: ", all, " buckets for distances up to ",
           max_distance);
    // Distance here is query - key; T5 counts key - query, so "behind" is a positive distance.
    const auto entry = [=](std::int64_t distance) {
        std::int64_t bucket = 0, n = distance;
        if (bidirectional) {
            if (distance < 0) bucket = side;  // keys ahead have the second half
            n = std::abs(distance);
        } else {
            n = std::max<std::int64_t>(distance, 0);
        }
        if (n < exact) return Entry{bucket + n, 1.0f};
        const double far = std::log(static_cast<double>(n) / static_cast<double>(exact)) /
                           std::log(static_cast<double>(max_distance) / static_cast<double>(exact));
        const auto step = static_cast<std::int64_t>(far * static_cast<double>(side - exact));
        return Entry{bucket + std::min(exact + step, side - 1), 1.0f};
    };
    return {.table = table, .entry = entry};
}

BiasedDot BiasedDot::alibi(int heads) {
    expect(heads > 0, "alibi: ", heads, " heads");
    int power = 1;
    while (2 * power <= heads) power *= 2;
    std::vector<float> slopes;
    for (int h = 1; h <= power; ++h)
        slopes.push_back(static_cast<float>(std::exp2(-8.0 * h / power)));
    // The rest are every other slope of twice as many heads.
    for (int h = 1; static_cast<int>(slopes.size()) < heads; h += 2)
        slopes.push_back(static_cast<float>(std::exp2(-8.0 * h / (2 * power))));
    return {.table = Tensor::of({1, heads}, slopes), .entry = [](std::int64_t distance) {
                return Entry{0, -static_cast<float>(std::abs(distance))};
            }};
}

}  // namespace fovea
