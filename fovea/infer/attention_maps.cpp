#include "fovea/infer/attention_maps.h"

namespace fovea {
namespace {

void add_head(const Probe& probe, std::size_t report, int head,
              std::vector<std::vector<float>>& mean) {
    const Ragged map = probe.map(report, head);
    const VisibilityView sees = probe.visibility(report, head).view();
    const auto heads = static_cast<float>(probe.heads(report));
    for (const VisibleGroup& group : sees.groups)
        for (std::int64_t r = group.q_begin; r < group.q_end; ++r) {
            std::vector<float>& row = mean[static_cast<std::size_t>(r)];
            row.resize(static_cast<std::size_t>(group.keys), 0.0f);
            const float* weight = map.row(r).data();
            for (const KeyInterval& x : sees.of_row(r))
                for (std::int64_t k = x.begin; k < x.end; ++k)
                    row[static_cast<std::size_t>(k)] += *weight++ / heads;
        }
}

}  // namespace

std::vector<std::vector<float>> mean_map(const Probe& probe, std::size_t report) {
    std::vector<std::vector<float>> mean(
        static_cast<std::size_t>(probe.visibility(report).queries()));
    for (int h = 0; h < probe.heads(report); ++h) add_head(probe, report, h, mean);
    return mean;
}

}  // namespace fovea
