#include "fovea/infer/attention_maps.h"

namespace fovea {

std::vector<std::vector<float>> mean_map(const Probe& probe, std::size_t report) {
    const int heads = probe.heads(report);
    std::vector<std::vector<float>> mean;
    for (int h = 0; h < heads; ++h) {
        const Ragged map = probe.map(report, h);
        mean.resize(static_cast<std::size_t>(map.rows()));
        for (std::int64_t r = 0; r < map.rows(); ++r) {
            std::vector<float>& row = mean[static_cast<std::size_t>(r)];
            row.resize(map.row(r).size(), 0.0f);
            for (std::size_t k = 0; k < row.size(); ++k)
                row[k] += map.row(r)[k] / static_cast<float>(heads);
        }
    }
    return mean;
}

}  // namespace fovea
