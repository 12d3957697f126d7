#include "fovea/data/augment.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// Counter-clockwise by 90 degrees.
Picture turned(const Picture& p) {
    Picture to{p.width, p.height, p.channels, std::vector<std::uint8_t>(p.pixels.size())};
    for (std::uint32_t y = 0; y < to.height; ++y)
        for (std::uint32_t x = 0; x < to.width; ++x)
            std::copy_n(p.at(x, p.width - 1 - y), p.channels, to.at(y, x));
    return to;
}

Picture mirrored(const Picture& p) {
    Picture to = p;
    for (std::uint32_t y = 0; y < p.height; ++y)
        for (std::uint32_t x = 0; x < p.width; ++x)
            std::copy_n(p.at(y, p.width - 1 - x), p.channels, to.at(y, x));
    return to;
}

// Beta(α, α) by Jöhnk's method (1964): of two powers of uniform numbers, once their sum is below 1.
double draw_beta(double alpha, Rng& rng) {
    for (;;) {
        const double x = std::pow(rng.uniform(), 1 / alpha), y = std::pow(rng.uniform(), 1 / alpha);
        if (x + y > 0 && x + y <= 1) return x / (x + y);
    }
}

void erase_part(Picture& p, Rng& rng) {
    // Zhong et al. 2017, algorithm 1: area 2 % to 33 %, sides between 1 : 3.3 and 3.3 : 1.
    const double area = rng.uniform(0.02, 0.33) * p.height * p.width;
    const double ratio = std::exp(rng.uniform(-std::log(3.3), std::log(3.3)));
    const auto side = [&](double length, std::uint32_t most) {
        return std::clamp<std::int64_t>(std::llround(length), 1, most);
    };
    const std::int64_t high = side(std::sqrt(area * ratio), p.height),
                       wide = side(std::sqrt(area / ratio), p.width);
    const std::int64_t top = rng.below(p.height - high + 1), left = rng.below(p.width - wide + 1);
    for (std::int64_t y = top; y < top + high; ++y)
        for (std::int64_t x = left; x < left + wide; ++x) {
            std::uint8_t* to = p.at(static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(x));
            for (std::uint32_t c = 0; c < p.channels; ++c)
                to[c] = static_cast<std::uint8_t>(rng.below(256));
        }
}

std::uint8_t as_byte(double x) {
    return static_cast<std::uint8_t>(std::clamp(x + 0.5, 0.0, 255.0));
}

// y = grey + saturation · (x − grey), then contrast · (y − mean) + mean, times brightness.
void change_colours(Picture& p, double share, Rng& rng) {
    const double brightness = rng.uniform(1 - share, 1 + share),
                 contrast = rng.uniform(1 - share, 1 + share),
                 saturation = rng.uniform(1 - share, 1 + share);
    double mean = 0;
    for (const std::uint8_t x : p.pixels) mean += x;
    mean /= static_cast<double>(p.pixels.size());
    for (std::size_t i = 0; i < p.pixels.size(); i += p.channels) {
        std::uint8_t* x = p.pixels.data() + i;
        double grey = 0;
        for (std::uint32_t c = 0; c < p.channels; ++c) grey += x[c];
        grey /= p.channels;
        for (std::uint32_t c = 0; c < p.channels; ++c) {
            const double coloured = grey + saturation * (x[c] - grey);
            x[c] = as_byte(brightness * (mean + contrast * (coloured - mean)));
        }
    }
}

}  // namespace

Rng draws_of(const DrawName& name, DrawPurpose purpose) {
    // An epoch is another seed, a sample a place far along the stream: 2^20 draws each.
    Rng rng(name.seed + 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(name.epoch),
            static_cast<std::uint32_t>(purpose));
    rng.seek(name.sample << 20);
    return rng;
}

Placement draw_placement(const AugmentOptions& o, std::uint32_t height, std::uint32_t width,
                         const DrawName& name) {
    Rng rng = draws_of(name, DrawPurpose::geometry);
    Placement p;
    p.height = height;
    p.width = width;
    const double size = std::exp(rng.uniform(-1, 1) * std::log1p(o.scale));
    const double down = rng.uniform(-o.shift, o.shift), right = rng.uniform(-o.shift, o.shift);
    p.part.height = std::max<std::int64_t>(1, std::llround(height * size));
    p.part.width = std::max<std::int64_t>(1, std::llround(width * size));
    p.part.top = std::llround((height - static_cast<double>(p.part.height)) / 2 + down * height);
    p.part.left = std::llround((width - static_cast<double>(p.part.width)) / 2 + right * width);
    const std::int64_t turn = rng.below(4), flip = rng.below(2);
    if (o.turns) p.quarter_turns = static_cast<int>(turn);
    p.mirrored = o.mirror && flip == 1;
    return p;
}

Cut draw_cut(const AugmentOptions& o, const CutSize& size, const DrawName& name) {
    Rng rng = draws_of(name, DrawPurpose::geometry);
    Cut c;
    c.scale = size.share * std::exp(rng.uniform(-1, 1) * std::log1p(o.scale));
    if (o.any()) {
        c.down = rng.uniform();
        c.right = rng.uniform();
    }
    const std::int64_t turn = rng.below(4), flip = rng.below(2);
    Placement& at = c.placement;
    at.height = size.out_height;
    at.width = size.out_width;
    at.part.height = std::max<std::int64_t>(1, std::llround(at.height / c.scale));
    at.part.width = std::max<std::int64_t>(1, std::llround(at.width / c.scale));
    const auto first = [](std::uint32_t side, std::int64_t part, double place) {
        return std::llround(place * (static_cast<double>(side) - static_cast<double>(part)));
    };
    at.part.top = first(size.height, at.part.height, c.down);
    at.part.left = first(size.width, at.part.width, c.right);
    if (o.turns) at.quarter_turns = static_cast<int>(at.height == at.width ? turn : turn / 2 * 2);
    at.mirrored = o.mirror && flip == 1;
    return c;
}

Picture placed(const Picture& picture, const Placement& at, Resample filter, std::uint8_t fill) {
    expect(at.height > 0 && at.width > 0, "placement: a result of ", at.width, " × ", at.height);
    Picture p = crop(picture, at.part, fill);
    for (int i = 0; i < at.quarter_turns; ++i) p = turned(p);
    if (at.mirrored) p = mirrored(p);
    return resize(p, at.height, at.width, filter);
}

std::optional<PictureBox> placed(const PictureBox& box, const Placement& at, double least) {
    PictureBox b{box.left - static_cast<double>(at.part.left),
                 box.top - static_cast<double>(at.part.top),
                 box.right - static_cast<double>(at.part.left),
                 box.bottom - static_cast<double>(at.part.top)};
    double width = static_cast<double>(at.part.width), height = static_cast<double>(at.part.height);
    for (int i = 0; i < at.quarter_turns; ++i) {
        b = {b.top, width - b.right, b.bottom, width - b.left};
        std::swap(width, height);
    }
    if (at.mirrored) b = {width - b.right, b.top, width - b.left, b.bottom};
    const double x = at.width / width, y = at.height / height;
    b = {b.left * x, b.top * y, b.right * x, b.bottom * y};
    const double whole = (b.right - b.left) * (b.bottom - b.top);
    const PictureBox cut{std::max(b.left, 0.0), std::max(b.top, 0.0),
                         std::min(b.right, double{1} * at.width),
                         std::min(b.bottom, double{1} * at.height)};
    if (cut.right <= cut.left || cut.bottom <= cut.top) return {};
    if ((cut.right - cut.left) * (cut.bottom - cut.top) < least * whole) return {};
    return cut;
}

void change_light(Picture& picture, const AugmentOptions& o, const DrawName& name) {
    if (o.colour <= 0 && o.erase <= 0) return;
    Rng rng = draws_of(name, DrawPurpose::light);
    if (o.colour > 0) change_colours(picture, o.colour, rng);
    if (o.erase > 0 && rng.uniform() < o.erase) erase_part(picture, rng);
}

Mix draw_mix(const AugmentOptions& o, std::uint64_t samples, const DrawName& name) {
    if (o.mixup <= 0) return {name.sample, 1};
    Rng rng = draws_of(name, DrawPurpose::mix);
    Mix mix;
    mix.other = static_cast<std::uint64_t>(rng.below(static_cast<std::int64_t>(samples)));
    mix.own = static_cast<float>(draw_beta(o.mixup, rng));
    return mix;
}

}  // namespace fovea
