#include "fovea/tasks/speech_view.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fovea {

Picture spectrogram(const Tensor& features) {
    constexpr double colours[][3] = {
        {12, 10, 40}, {70, 24, 110}, {190, 55, 84}, {250, 160, 40}, {252, 250, 190}};
    constexpr int steps = std::size(colours) - 1;
    const auto [low, high] =
        std::minmax_element(features.data(), features.data() + features.size());
    const double range = std::max(1e-6, static_cast<double>(*high) - static_cast<double>(*low));
    Picture p = blank_picture(features.cols(), features.rows(), 3, "spectrogram");
    for (std::uint32_t y = 0; y < p.height; ++y)
        for (std::uint32_t x = 0; x < p.width; ++x) {
            const float value = features.at(x, p.height - 1 - y);
            const double at =
                steps * (static_cast<double>(value) - static_cast<double>(*low)) / range;
            const int below = std::min(steps - 1, static_cast<int>(at));
            for (int c = 0; c < 3; ++c)
                p.at(y, x)[c] = static_cast<std::uint8_t>(
                    std::lround(std::lerp(colours[below][c], colours[below + 1][c], at - below)));
        }
    return p;
}

std::vector<SeenPicture::Track> posteriors(const Tensor& probabilities,
                                           const std::vector<std::string>& units) {
    constexpr std::size_t most = 12;
    const std::int64_t moments = probabilities.rows(), count = probabilities.cols();
    std::vector<float> best(static_cast<std::size_t>(count));
    for (std::int64_t u = 1; u < count; ++u)
        for (std::int64_t t = 0; t < moments; ++t)
            best[static_cast<std::size_t>(u)] =
                std::max(best[static_cast<std::size_t>(u)], probabilities.at(t, u));
    std::vector<std::size_t> order(best.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return best[a] > best[b]; });
    std::erase_if(order, [&](std::size_t u) { return best[u] < 0.1f; });
    order.resize(std::min(order.size(), most));
    order.push_back(0);
    std::vector<SeenPicture::Track> tracks;
    for (const std::size_t u : order) {
        SeenPicture::Track track{u == 0 ? "blank" : units.at(u), {}};
        for (std::int64_t t = 0; t < moments; ++t)
            track.values.push_back(probabilities.at(t, static_cast<std::int64_t>(u)));
        tracks.push_back(std::move(track));
    }
    return tracks;
}

}  // namespace fovea
