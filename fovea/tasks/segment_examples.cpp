#include "fovea/tasks/segment_examples.h"

#include <algorithm>
#include <cmath>

#include "fovea/io/resize.h"

namespace fovea {
namespace {

constexpr std::uint32_t drawn_views = 0x76696577;  // their stream of random numbers

// How a sample is seen this time.
struct View2d {
    double scale = 1, place_y = 0.5, place_x = 0.5;  // of the cut, within what is left over
    bool flip = false;
    int turns = 0;
    float contrast = 1, brightness = 0;

    static View2d drawn(Rng& rng) {
        View2d v;
        v.scale = std::exp(rng.uniform(std::log(0.75), std::log(1.5)));
        v.place_y = rng.uniform();
        v.place_x = rng.uniform();
        v.flip = rng.below(2) == 1;
        v.turns = static_cast<int>(rng.below(4));
        v.contrast = static_cast<float>(std::exp(rng.uniform(-0.3, 0.3)));
        v.brightness = static_cast<float>(rng.uniform(-0.3, 0.3));
        return v;
    }
};

Picture flipped(const Picture& p) {
    Picture out = p;
    for (std::uint32_t y = 0; y < p.height; ++y)
        for (std::uint32_t x = 0; x < p.width; ++x)
            std::copy_n(p.at(y, p.width - 1 - x), p.channels, out.at(y, x));
    return out;
}

Picture turned(const Picture& p) {  // a quarter, of a square
    Picture out = p;
    for (std::uint32_t y = 0; y < p.height; ++y)
        for (std::uint32_t x = 0; x < p.width; ++x)
            std::copy_n(p.at(y, x), p.channels, out.at(x, p.height - 1 - y));
    return out;
}

// The same part of a picture or of its labels. Beyond the border stands `fill`.
Picture seen_part(const Picture& p, const View2d& v, std::uint32_t size, Resample filter,
                  std::uint8_t fill) {
    const auto side = [&](std::uint32_t n) {
        return static_cast<std::uint32_t>(std::max(1.0, std::round(n * v.scale)));
    };
    const Picture scaled = v.scale == 1 ? p : resize(p, side(p.height), side(p.width), filter);
    const auto place = [&](std::uint32_t n, double share) {
        return static_cast<std::int64_t>(
            std::floor((static_cast<double>(n) - static_cast<double>(size)) * share));
    };
    Picture cut =
        crop(scaled, {place(scaled.height, v.place_y), place(scaled.width, v.place_x), size, size},
             fill);
    if (v.flip) cut = flipped(cut);
    for (int i = 0; i < v.turns; ++i) cut = turned(cut);
    return cut;
}

}  // namespace

SegmentExamples::Batch SegmentExamples::batch(std::span<const std::int64_t> samples,
                                              std::int64_t epoch) const {
    const auto channels = static_cast<std::int64_t>(scaling.mean.size());
    Batch b;
    b.grid = {static_cast<std::int64_t>(samples.size()), size, size};
    b.pixels = Tensor({b.grid.rows(), channels});
    b.labels.reserve(static_cast<std::size_t>(b.grid.rows()));
    std::vector<std::uint64_t> names;
    float* rows = b.pixels.write();
    for (const std::int64_t sample : samples) {
        Rng rng(seed, drawn_views);
        rng.seek(
            static_cast<std::uint64_t>(epoch * static_cast<std::int64_t>(records.size()) + sample) *
            16);
        View2d view;
        if (augment) view = View2d::drawn(rng);
        const MaskedPicture& record = records[static_cast<std::size_t>(sample)];
        LoadedMask m = load_masked(record, static_cast<int>(channels));
        m.mask.pixels = values.labels_of(m.mask, record.mask);
        const Picture picture = seen_part(m.picture, view, size, Resample::bilinear, 0);
        const Picture labels =
            seen_part(m.mask, view, size, Resample::nearest, MaskValues::ignored);
        scaling.fill(picture, rows);
        if (augment)
            for (std::int64_t i = 0; i < b.grid.area() * channels; ++i)
                rows[i] = view.contrast * rows[i] + view.brightness;
        b.labels.insert(b.labels.end(), labels.pixels.begin(), labels.pixels.end());
        rows += b.grid.area() * channels;
        names.push_back(static_cast<std::uint64_t>(sample));
    }
    b.pixels.set_row_names(Segments::of_lengths(
        std::vector<std::int64_t>(samples.size(), b.grid.area()), std::move(names)));
    return b;
}

}  // namespace fovea
