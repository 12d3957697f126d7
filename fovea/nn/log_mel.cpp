#include "fovea/nn/log_mel.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/json_fields.h"
#include "fovea/base/precision.h"
#include "fovea/base/threads.h"
#include "fovea/ops/linear.h"
#include "fovea/ops/spectrum.h"

namespace fovea {
namespace {

// Slaney's mel scale (Auditory Toolbox, 1998): linear below 1 kHz, logarithmic above.
double hertz_of_mel(double mel) {
    constexpr double linear = 200.0 / 3, corner = 15;  // of the scale: 1000 Hz
    if (mel < corner) return linear * mel;
    return 1000 * std::exp((mel - corner) * std::log(6.4) / 27);
}

double mel_of_hertz(double hertz) {
    if (hertz < 1000) return hertz * 3 / 200;
    return 15 + std::log(hertz / 1000) * 27 / std::log(6.4);
}

// Where a frequency goes: times `warp` up to 4/5 of the band (of the smaller side), then straight
// to its end, which stays.
double warped(double hertz, double warp, double top) {
    const double corner = 0.8 * top * std::min(1.0, 1 / warp);
    if (hertz <= corner) return hertz * warp;
    return top - (top - corner * warp) * (top - hertz) / (top - corner);
}

// The ends mirrored, the outermost sample once, as often as needed.
std::int64_t mirrored(std::int64_t i, std::int64_t n) {
    if (n == 1) return 0;
    const std::int64_t period = 2 * (n - 1);
    i = ((i % period) + period) % period;
    return i < n ? i : period - i;
}

}  // namespace

LogMelConfig LogMelConfig::from_json(const Json& json, const std::string& where) {
    LogMelConfig c;
    JsonFields f(json, where);
    f.read("feature_size", c.feature_size);
    f.read("sampling_rate", c.sampling_rate);
    f.read("n_fft", c.n_fft);
    f.read("hop_length", c.hop_length);
    c.check(where);
    return c;
}

void LogMelConfig::check(const std::string& where) const {
    const auto within = [&](int n, const char* key, int least, int most) {
        expect_input(n >= least && n <= most, where, ": \"", key, "\" is ", n,
                     " but must be between ", least, " and ", most);
    };
    within(feature_size, "feature_size", 1, 512);
    within(sampling_rate, "sampling_rate", 1000, 192000);
    within(n_fft, "n_fft", 4, 8192);
    within(hop_length, "hop_length", 1, 8192);
    expect_input(n_fft % 4 == 0, where, ": \"n_fft\" is ", n_fft, " but must be a multiple of 4");
}

Json LogMelConfig::to_json() const {
    return {{"feature_extractor_type", "WhisperFeatureExtractor"},
            {"feature_size", feature_size},
            {"sampling_rate", sampling_rate},
            {"n_fft", n_fft},
            {"hop_length", hop_length},
            {"padding_side", "right"},
            {"padding_value", 0.0},
            {"return_attention_mask", false},
            {"chunk_length", 30},
            {"nb_max_frames", 30 * sampling_rate / hop_length},
            {"n_samples", 30 * sampling_rate}};
}

LogMel::LogMel(const LogMelConfig& config) : config_(config) {
    config.check("log-mel");
    filters_ = filters();
}

Tensor LogMel::filters(double warp) const {
    const int bins = config_.n_fft / 2 + 1;
    const double top = config_.sampling_rate / 2.0, last = mel_of_hertz(top);
    std::vector<double> edges;
    for (int m = 0; m < config_.feature_size + 2; ++m)
        edges.push_back(hertz_of_mel(last * m / (config_.feature_size + 1)));
    Tensor f({config_.feature_size, bins});
    float* to = f.write();
    for (int m = 0; m < config_.feature_size; ++m) {
        const double low = edges[static_cast<std::size_t>(m)],
                     middle = edges[static_cast<std::size_t>(m) + 1],
                     high = edges[static_cast<std::size_t>(m) + 2];
        for (int k = 0; k < bins; ++k) {
            const double at = warped(top * k / (bins - 1), warp, top);
            const double rise = (at - low) / (middle - low), fall = (high - at) / (high - middle);
            to[m * bins + k] =
                static_cast<float>(std::max(0.0, std::min(rise, fall)) * 2 / (high - low));
        }
    }
    return f;
}

std::int64_t LogMel::frames_of(std::int64_t samples) const {
    return std::max<std::int64_t>(1, samples / config_.hop_length);
}

Tensor LogMel::operator()(std::span<const float> samples, double warp) const {
    expect(!samples.empty(), "log-mel: a clip without samples");
    const auto n = static_cast<std::int64_t>(samples.size());
    const std::int64_t rows = frames_of(n), width = config_.n_fft;
    Tensor frames({rows, width});
    float* to = frames.write();
    parallel_for(rows, 64, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) {
            const std::int64_t first = r * config_.hop_length - width / 2;
            if (first >= 0 && first + width <= n)
                std::copy_n(samples.data() + first, width, to + r * width);
            else
                for (std::int64_t i = 0; i < width; ++i)
                    to[r * width + i] = samples[static_cast<std::size_t>(mirrored(first + i, n))];
        }
    });
    const PrecisionScope exact(Precision::f32);  // features are those of any model
    return log_energy(linear(power_spectrum(frames), warp == 1.0 ? filters_ : filters(warp), {}));
}

}  // namespace fovea
