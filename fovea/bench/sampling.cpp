#include "fovea/bench/sampling.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/clock.h"

namespace fovea::bench {

std::vector<Figure> measure_in_turns(const std::vector<Contestant>& contestants,
                                     const SamplingOptions& options) {
    const Stopwatch clock;
    const std::size_t n = contestants.size();
    std::vector<int> times(n, 1);
    std::vector<std::vector<double>> speeds(n);

    const auto sample = [&](std::size_t i) {
        const double seconds = contestants[i].run(times[i]);
        if (seconds < 0)
            times[i] = 0;
        else
            speeds[i].push_back(contestants[i].work * times[i] / std::max(seconds, 1e-9));
        return seconds;
    };
    // The first execution fetches memory and code; the second tells how many make a sample. What
    // takes longer than its whole share of the time has had its samples then.
    const double slice = options.seconds / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) {
        if (!contestants[i].run) {
            times[i] = 0;
            continue;
        }
        const double first = sample(i);
        if (first < 0 || first > slice) continue;
        const double second = sample(i);
        if (second < 0) continue;
        speeds[i].clear();
        times[i] = static_cast<int>(
            std::clamp(std::ceil(options.sample_seconds / std::max(second, 1e-7)), 1.0, 1e5));
    }
    const auto pressed = [&] { return clock.seconds() > 4 * options.seconds; };
    for (int round = 0;
         clock.seconds() < options.seconds || (round < options.least_samples && !pressed());
         ++round) {
        bool any = false;
        for (std::size_t i = 0; i < n; ++i)
            if (times[i] > 0) any = sample(i) >= 0 || any;
        if (!any) break;
    }
    for (std::size_t i = 0; i < n; ++i)  // nothing stays without a figure
        if (times[i] > 0 && speeds[i].empty()) sample(i);

    std::vector<Figure> figures(n);
    for (std::size_t i = 0; i < n; ++i) {
        std::vector<double>& s = speeds[i];
        if (s.empty()) continue;
        std::sort(s.begin(), s.end());
        figures[i] = {s.back(), s[s.size() / 2], static_cast<int>(s.size())};
    }
    return figures;
}

Contestant timed(std::string name, double work, std::function<void()> once) {
    return {std::move(name), work, [once = std::move(once)](int times) {
                const Stopwatch clock;
                for (int i = 0; i < times; ++i) once();
                return clock.seconds();
            }};
}

}  // namespace fovea::bench
