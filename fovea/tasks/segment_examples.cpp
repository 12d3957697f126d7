#include "fovea/tasks/segment_examples.h"

#include <cmath>

#include "fovea/data/augment.h"

namespace fovea {
namespace {

const AugmentOptions seen_otherwise{.scale = 0.4, .mirror = true, .turns = true};

// Contrast and brightness of what the network reads, in units of its deviation.
struct Light {
    float contrast = 1, brightness = 0;

    static Light drawn(const DrawName& name) {
        Rng rng = draws_of(name, DrawPurpose::light);
        Light v;
        v.contrast = static_cast<float>(std::exp(rng.uniform(-0.3, 0.3)));
        v.brightness = static_cast<float>(rng.uniform(-0.3, 0.3));
        return v;
    }
};

}  // namespace

SegmentExamples::Batch SegmentExamples::batch(std::span<const std::int64_t> samples,
                                              std::int64_t epoch) const {
    const auto channels = static_cast<std::int64_t>(scaling.channels());
    Batch b;
    b.grid = {static_cast<std::int64_t>(samples.size()), size, size};
    b.pixels = Tensor({b.grid.rows(), channels});
    b.labels.reserve(static_cast<std::size_t>(b.grid.rows()));
    std::vector<std::uint64_t> names;
    float* rows = b.pixels.write();
    for (const std::int64_t sample : samples) {
        const MaskedPicture& record = records[static_cast<std::size_t>(sample)];
        LoadedMask m = load_masked(record, static_cast<int>(channels));
        m.mask.pixels = values.labels_of(m.mask, record.mask);
        const DrawName name{seed, epoch, static_cast<std::uint64_t>(sample)};
        const Placement part = draw_cut(augment ? seen_otherwise : AugmentOptions{},
                                        {.height = m.picture.height,
                                         .width = m.picture.width,
                                         .out_height = size,
                                         .out_width = size},
                                        name)
                                   .placement;
        const Picture picture = placed(m.picture, part);
        const Picture labels = placed(m.mask, part, Resample::nearest, MaskValues::ignored);
        scaling.put_rows(picture, rows);
        if (augment) {
            const Light light = Light::drawn(name);
            for (std::int64_t i = 0; i < b.grid.area() * channels; ++i)
                rows[i] = light.contrast * rows[i] + light.brightness;
        }
        b.labels.insert(b.labels.end(), labels.pixels.begin(), labels.pixels.end());
        rows += b.grid.area() * channels;
        names.push_back(static_cast<std::uint64_t>(sample));
    }
    b.pixels.set_row_names(Segments::of_lengths(
        std::vector<std::int64_t>(samples.size(), b.grid.area()), std::move(names)));
    return b;
}

}  // namespace fovea
