#include "fovea/data/components.h"

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// All pixels that hang together with the first, marked as `number`; without recursion, since a
// component may be the whole picture.
std::vector<std::size_t> grown(std::span<const std::uint8_t> labels, Components& c,
                               std::size_t first, std::int32_t number) {
    std::vector<std::size_t> pixels{first};
    c.of_pixel[first] = number;
    for (std::size_t next = 0; next < pixels.size(); ++next) {
        const auto y = static_cast<std::int64_t>(pixels[next] / c.width),
                   x = static_cast<std::int64_t>(pixels[next] % c.width);
        for (std::int64_t v = std::max<std::int64_t>(0, y - 1);
             v <= std::min<std::int64_t>(y + 1, c.height - 1); ++v)
            for (std::int64_t u = std::max<std::int64_t>(0, x - 1);
                 u <= std::min<std::int64_t>(x + 1, c.width - 1); ++u) {
                const std::size_t at =
                    static_cast<std::size_t>(v) * c.width + static_cast<std::size_t>(u);
                if (c.of_pixel[at] >= 0 || labels[at] != labels[first]) continue;
                c.of_pixel[at] = number;
                pixels.push_back(at);
            }
    }
    return pixels;
}

Component measured(const std::vector<std::size_t>& pixels, std::uint32_t width,
                   std::uint8_t label) {
    Component m;
    m.label = label;
    m.area = static_cast<std::int64_t>(pixels.size());
    std::uint32_t bottom = 0, right = 0;
    m.top = m.left = UINT32_MAX;
    double y_sum = 0, x_sum = 0;
    for (const std::size_t p : pixels) {
        const auto y = static_cast<std::uint32_t>(p / width),
                   x = static_cast<std::uint32_t>(p % width);
        y_sum += y + 0.5;
        x_sum += x + 0.5;
        m.top = std::min(m.top, y);
        m.left = std::min(m.left, x);
        bottom = std::max(bottom, y);
        right = std::max(right, x);
    }
    m.centre_y = y_sum / static_cast<double>(m.area);
    m.centre_x = x_sum / static_cast<double>(m.area);
    m.height = bottom - m.top + 1;
    m.width = right - m.left + 1;
    return m;
}

}  // namespace

Components connected_components(std::span<const std::uint8_t> labels, std::uint32_t height,
                                std::uint32_t width, std::int64_t least_area) {
    expect(labels.size() == std::size_t{height} * width, "components: ", labels.size(),
           " labels for a picture of ", width, " × ", height);
    Components c;
    c.height = height;
    c.width = width;
    c.of_pixel.assign(labels.size(), -1);
    std::vector<std::size_t> small;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i] == 0 || c.of_pixel[i] >= 0) continue;
        const auto pixels = grown(labels, c, i, static_cast<std::int32_t>(c.all.size()));
        if (static_cast<std::int64_t>(pixels.size()) >= least_area) {
            c.all.push_back(measured(pixels, width, labels[i]));
            continue;
        }
        // A number of its own, so that it is not met again; taken back below.
        for (const std::size_t p : pixels) c.of_pixel[p] = INT32_MAX;
        small.insert(small.end(), pixels.begin(), pixels.end());
    }
    for (const std::size_t p : small) c.of_pixel[p] = -1;
    return c;
}

}  // namespace fovea
