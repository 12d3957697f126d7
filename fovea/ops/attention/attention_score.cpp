#include "fovea/ops/attention/attention_score.h"

#include <algorithm>
#include <cmath>

namespace fovea {

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
