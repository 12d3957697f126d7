#include "fovea/tasks/segment_look.h"

#include "fovea/base/error.h"

namespace fovea {

SegmentLook::SegmentLook(const SegmentModel& model, const Picture& picture) {
    FeatureMap x = model.pixels(picture);
    for (const SegformerStage& stage : model.network->stages) {
        x = stage(x);
        maps_.push_back(x);
    }
    const FeatureMap logits = model.network->decoder(maps_);
    labels_ =
        segmented(model.network->enlarged(logits, picture.height, picture.width), picture).labels;
    maps_.resize(std::min(maps_.size(), pooled_stages));
}

std::vector<std::vector<float>> SegmentLook::pooled(const Components& c) const {
    std::vector<std::vector<float>> all(c.all.size());
    for (const FeatureMap& map : maps_) {
        const std::int64_t columns = map.rows.cols();
        std::vector<std::vector<double>> sums(
            c.all.size(), std::vector<double>(static_cast<std::size_t>(columns)));
        for (std::uint32_t y = 0; y < c.height; ++y)
            for (std::uint32_t x = 0; x < c.width; ++x) {
                const std::int32_t which = c.of_pixel[std::size_t{y} * c.width + x];
                if (which < 0) continue;
                const std::int64_t row = (y * map.grid.height / c.height) * map.grid.width +
                                         x * map.grid.width / c.width;
                const float* from = map.rows.data() + row * columns;
                std::vector<double>& sum = sums[static_cast<std::size_t>(which)];
                for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += from[k];
            }
        for (std::size_t i = 0; i < all.size(); ++i)
            for (const double sum : sums[i])
                all[i].push_back(static_cast<float>(sum / static_cast<double>(c.all[i].area)));
    }
    return all;
}

}  // namespace fovea
