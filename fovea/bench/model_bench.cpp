#include "fovea/bench/model_bench.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/clock.h"

namespace fovea::bench {

std::vector<RaceFigure> race(const std::vector<Racer>& racers,
                             const std::function<double(std::int64_t first, int count)>& work,
                             const RaceOptions& options, const std::function<bool()>& stop,
                             const std::function<void()>& between) {
    std::vector<std::vector<double>> speeds(racers.size());
    std::vector<bool> runs(racers.size(), true);
    std::vector<double> spent(racers.size(), 0.0);
    const double patience = 2 * options.seconds / static_cast<double>(racers.size());
    std::int64_t first = 0;
    int count = options.warm_up;
    const auto round = [&](bool counts) {
        double leader = 0;  // seconds of the first racer
        for (std::size_t i = 0; i < racers.size() && !stop(); ++i) {
            if (!runs[i] || (!speeds[i].empty() && spent[i] > patience)) continue;
            // The threads of the racer before it spin for some milliseconds before they sleep, and
            // would take a core of this one's.
            usleep(50'000);
            const std::optional<double> seconds = racers[i].run(first, count);
            runs[i] = seconds.has_value();
            if (!seconds) continue;
            if (i == 0) leader = *seconds;
            spent[i] += *seconds;
            if (counts) speeds[i].push_back(work(first, count) / std::max(*seconds, 1e-9));
        }
        if (between && counts) between();
        first += count;
        return leader;
    };
    if (options.warm_up > 0) round(false);
    count = 1;
    const Stopwatch clock;
    const double once = round(true);
    // From now on as many pieces as make a sample long enough, if time allows.
    count = static_cast<int>(
        std::clamp(std::ceil(options.sample_seconds / std::max(once, 1e-4)), 1.0, 1000.0));
    if (count > 1)
        for (std::size_t i = 0; i < racers.size(); ++i)
            if (spent[i] < patience) speeds[i].clear();
    for (int done = count > 1 ? 0 : 1; done < options.most_rounds && !stop(); ++done) {
        if (done >= options.least_rounds && clock.seconds() > options.seconds) break;
        round(true);
    }
    std::vector<RaceFigure> figures;
    for (std::vector<double>& s : speeds) {
        std::sort(s.begin(), s.end());
        figures.push_back(s.empty()
                              ? RaceFigure{}
                              : RaceFigure{s.back(), s[s.size() / 2], static_cast<int>(s.size())});
    }
    return figures;
}

}  // namespace fovea::bench
