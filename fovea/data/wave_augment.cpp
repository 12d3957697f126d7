#include "fovea/data/wave_augment.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "fovea/base/philox.h"
#include "fovea/base/rng.h"
#include "fovea/io/resample.h"

namespace fovea {
namespace {

constexpr std::uint32_t wave_stream = 0x77617665, noise_stream = 1, mask_stream = 2;

// There are few speeds, and their tables cost more than their use.
const Resampler& speed_resampler(int speed) {
    static std::mutex mutex;
    static std::map<int, Resampler> all;  // references stay
    const std::lock_guard lock(mutex);
    return all.try_emplace(speed, speed, 100).first->second;
}

}  // namespace

WaveDraw draw_wave(const WaveAugment& o, std::uint64_t seed, std::int64_t epoch,
                   std::uint64_t sample) {
    const PhiloxBlock name =
        philox({static_cast<std::uint32_t>(epoch), static_cast<std::uint32_t>(sample),
                static_cast<std::uint32_t>(sample >> 32), wave_stream},
               seed);
    WaveDraw d;
    d.key = (std::uint64_t{name[1]} << 32) | name[0];
    Rng rng(d.key);
    const auto steps = static_cast<std::int64_t>(std::lround(100 * o.speed));
    d.speed = static_cast<int>(100 - steps + rng.below(2 * steps + 1));
    d.gain = std::pow(10.0, rng.uniform(-o.gain, o.gain) / 20);
    const bool noisy = rng.uniform() < o.noise;
    const double level = std::pow(10.0, rng.uniform(-40, -10) / 20);
    d.noise = noisy ? level : 0;
    d.warp = 1 + rng.uniform(-o.warp, o.warp);
    return d;
}

std::vector<float> changed_wave(std::span<const float> samples, const WaveDraw& d) {
    std::vector<float> y = d.speed == 100 ? std::vector<float>(samples.begin(), samples.end())
                                          : speed_resampler(d.speed)(samples);
    double energy = 0;
    for (float& v : y) {
        v = static_cast<float>(static_cast<double>(v) * d.gain);
        energy += static_cast<double>(v) * static_cast<double>(v);
    }
    if (d.noise == 0 || y.empty()) return y;
    const double deviation = d.noise * std::sqrt(energy / static_cast<double>(y.size()));
    Rng rng(d.key, noise_stream);
    for (float& v : y) v += static_cast<float>(deviation * rng.normal());
    return y;
}

Tensor stretched_rows(const Tensor& rows, int speed) {
    if (speed == 100 || rows.rows() < 2) return rows;
    const std::int64_t n = rows.rows(), m = std::max<std::int64_t>(1, n * 100 / speed);
    Tensor y({m, rows.cols()});
    float* to = y.write();
    for (std::int64_t j = 0; j < m; ++j) {
        const double at =
            std::min(static_cast<double>(n - 1), static_cast<double>(j * speed) / 100);
        const std::int64_t i = std::min(n - 2, static_cast<std::int64_t>(at));
        const auto part = static_cast<float>(at - static_cast<double>(i));
        for (std::int64_t c = 0; c < rows.cols(); ++c)
            to[j * rows.cols() + c] = (1 - part) * rows.at(i, c) + part * rows.at(i + 1, c);
    }
    return y;
}

void mask_rows(Tensor& rows, const WaveAugment& o, const WaveDraw& d, bool bands) {
    if (rows.size() == 0) return;
    Rng rng(d.key, mask_stream);
    double sum = 0;
    for (const float v : rows.span()) sum += static_cast<double>(v);
    const auto mean = static_cast<float>(sum / static_cast<double>(rows.size()));
    float* to = rows.write();
    const std::int64_t n = rows.rows(), width = rows.cols();
    const auto stretch = [&](std::int64_t all, std::int64_t most) {
        const std::int64_t length = rng.below(most + 1);
        const std::int64_t begin = rng.below(all - length + 1);
        return std::pair(begin, begin + length);
    };
    for (int i = 0; i < o.time_masks; ++i) {
        const auto [begin, end] = stretch(n, n / 10);
        std::fill(to + begin * width, to + end * width, mean);
    }
    for (int i = 0; bands && i < o.band_masks; ++i) {
        const auto [begin, end] = stretch(width, width / 6);
        for (std::int64_t r = 0; r < n; ++r)
            std::fill(to + r * width + begin, to + r * width + end, mean);
    }
}

}  // namespace fovea
