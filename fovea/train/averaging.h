#pragma once
// Averages of parameters: a running one while training (EMA), and the mean of several checkpoints.
// Not thread-safe: it belongs to the training loop.
#include <string>
#include <vector>

#include "fovea/tensor/parameter_store.h"

namespace fovea {

// e ← decay · e + (1 − decay) · p after each update. Polyak & Juditsky 1992 in its common form.
class MovingAverage {
public:
    MovingAverage(const ParameterStore& store, double decay);
    void update(const ParameterStore& store);
    // Exchanges averages and parameters: call once to evaluate or save, again to go on training.
    void swap(ParameterStore& store);
    const std::vector<std::pair<std::string, Tensor>>& values() const { return values_; }
    std::vector<std::pair<std::string, Tensor>>& values() { return values_; }

private:
    double decay_;
    std::vector<std::pair<std::string, Tensor>> values_;
};

// The mean of parameter sets of the same names and shapes, summed in double in the given order.
std::vector<std::pair<std::string, Tensor>> mean_of(
    const std::vector<std::vector<std::pair<std::string, Tensor>>>& sets);

}  // namespace fovea
