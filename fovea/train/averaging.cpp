#include "fovea/train/averaging.h"

#include <algorithm>

namespace fovea {
namespace {

Tensor copy_of(const Tensor& t) { return Tensor::of(t.shape(), t.span()); }

}  // namespace

MovingAverage::MovingAverage(const ParameterStore& store, double decay) : decay_(decay) {
    expect(decay > 0 && decay < 1, "ema: the decay is ", decay, " but must lie between 0 and 1");
    for (const std::string& name : store.names())
        if (store.at(name).trainable()) values_.emplace_back(name, copy_of(store.at(name)));
}

void MovingAverage::update(const ParameterStore& store) {
    const auto d = static_cast<float>(decay_), rest = static_cast<float>(1 - decay_);
    for (auto& [name, value] : values_) {
        float* e = value.write();
        const float* p = store.at(name).data();
        for (std::int64_t i = 0; i < value.size(); ++i) e[i] = d * e[i] + rest * p[i];
    }
}

void MovingAverage::swap(ParameterStore& store) {
    for (auto& [name, value] : values_) {
        Tensor p = store.at(name);
        std::swap_ranges(value.write(), value.write() + value.size(), p.write());
    }
}

std::vector<std::pair<std::string, Tensor>> mean_of(
    const std::vector<std::vector<std::pair<std::string, Tensor>>>& sets) {
    expect(!sets.empty(), "average: nothing to average");
    std::vector<std::pair<std::string, Tensor>> mean;
    for (std::size_t k = 0; k < sets[0].size(); ++k) {
        const auto& [name, first] = sets[0][k];
        std::vector<double> sum(static_cast<std::size_t>(first.size()), 0.0);
        for (const auto& set : sets) {
            expect_input(set.size() == sets[0].size() && set[k].first == name &&
                             set[k].second.shape() == first.shape(),
                         "average: the models differ at ", name, " ", first.shape());
            const float* p = set[k].second.data();
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += p[i];
        }
        Tensor m(first.shape());
        float* out = m.write();
        for (std::size_t i = 0; i < sum.size(); ++i)
            out[i] = static_cast<float>(sum[i] / static_cast<double>(sets.size()));
        mean.emplace_back(name, m);
    }
    return mean;
}

}  // namespace fovea
