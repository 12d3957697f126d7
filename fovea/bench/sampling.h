#pragma once
// Figures on a noisy machine: several things are measured in turns, many short samples each, so
// that a bad phase of the host hits all of them. The best sample is the figure, the median stands
// beside it.
#include <functional>
#include <string>
#include <vector>

namespace fovea::bench {

// Something to be measured: performs the work `times` times and returns the seconds taken, or a
// negative number where it cannot (it is then left out).
struct Contestant {
    std::string name;
    double work = 0;  // of one execution, in the unit of the figure: FLOP or bytes
    std::function<double(int times)> run;
};

struct Figure {
    double best = 0;    // work per second of the fastest sample; 0: could not run
    double median = 0;  // of the middle one
    int samples = 0;
};

struct SamplingOptions {
    double seconds = 0.5;          // for all contestants together
    double sample_seconds = 5e-3;  // a sample is repeated work of at least this length
    int least_samples = 3;
};

// One figure a contestant, in their order.
std::vector<Figure> measure_in_turns(const std::vector<Contestant>& contestants,
                                     const SamplingOptions& options);

// A contestant that times a plain function.
Contestant timed(std::string name, double work, std::function<void()> once);

}  // namespace fovea::bench
