// From a path to rows of features.
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/json_fields.h"
#include "fovea/io/mfc.h"
#include "fovea/io/wave.h"
#include "fovea/tasks/speech.h"

namespace fovea {
namespace {

constexpr const char* sphinx = "SphinxFeatures";

// Each column to mean 0 and deviation 1: what differs between microphones goes.
void normalise_columns(Tensor& rows) {
    float* x = rows.write();
    const auto n = static_cast<double>(rows.rows());
    for (std::int64_t c = 0; c < rows.cols(); ++c) {
        double sum = 0, squares = 0;
        for (std::int64_t r = 0; r < rows.rows(); ++r) sum += static_cast<double>(rows.at(r, c));
        const double mean = sum / n;
        for (std::int64_t r = 0; r < rows.rows(); ++r) {
            const double d = static_cast<double>(rows.at(r, c)) - mean;
            squares += d * d;
        }
        const double scale = 1 / std::sqrt(squares / n + 1e-5);
        for (std::int64_t r = 0; r < rows.rows(); ++r) {
            float& v = x[r * rows.cols() + c];
            v = static_cast<float>((static_cast<double>(v) - mean) * scale);
        }
    }
}

bool is_feature_name(const std::string& path) {
    return path.size() > 4 && (path.ends_with(".mfc") || path.ends_with(".MFC"));
}

}  // namespace

Json SoundFeatures::of_sounds(int rate) {
    return LogMelConfig{.feature_size = rate <= 8000 ? 40 : 80,
                        .sampling_rate = rate,
                        .n_fft = rate / 160 * 4,
                        .hop_length = rate / 100}
        .to_json();
}

Json SoundFeatures::of_features(int width) {
    return {{"feature_extractor_type", sphinx}, {"feature_size", width}};
}

SoundFeatures::SoundFeatures(const Json& preprocessor, const std::string& where) {
    std::string type = "WhisperFeatureExtractor";
    JsonFields f(preprocessor, where);
    f.read("feature_extractor_type", type);
    if (type == sphinx) {
        feature_width_ = mfc_width;
        f.read("feature_size", feature_width_, {1, 1024});
        return;
    }
    expect_input(type == "WhisperFeatureExtractor", where, ": features of ", type,
                 " are not known, but WhisperFeatureExtractor is");
    log_mel_.emplace(LogMelConfig::from_json(preprocessor, where));
    int seconds = 30;
    f.read("chunk_length", seconds, {1, 600});
    window_samples_ = std::int64_t{seconds} * log_mel_->config().sampling_rate;
    frame_seconds_ =
        static_cast<double>(log_mel_->config().hop_length) / log_mel_->config().sampling_rate;
}

int SoundFeatures::width() const {
    return log_mel_ ? log_mel_->config().feature_size : feature_width_;
}

LoadedSound SoundFeatures::load(const std::string& path) const {
    if (is_feature_name(path) != !log_mel_)
        fail_with(ErrorKind::bad_input,
                  log_mel_ ? "it wants .wav or .flac files" : "it wants .mfc files", path,
                  log_mel_ ? ": holds features, but the model reads sound"
                           : ": holds sound, but the model reads features");
    LoadedSound s;
    if (!log_mel_) {
        s.rows = read_mfc(path, feature_width_);
        normalise_columns(s.rows);
        return s;
    }
    s.samples = at_rate(mixed_to_mono(read_wave(path)), log_mel_->config().sampling_rate).samples;
    return s;
}

std::int64_t SoundFeatures::frames_of(const LoadedSound& s) const {
    return log_mel_ ? log_mel_->frames_of(static_cast<std::int64_t>(s.samples.size()))
                    : s.rows.rows();
}

Tensor SoundFeatures::operator()(const LoadedSound& s) const {
    return log_mel_ ? (*log_mel_)(s.samples) : s.rows;
}

Tensor SoundFeatures::operator()(const LoadedSound& s, const WaveAugment& augment,
                                 const WaveDraw& draw) const {
    Tensor rows;
    if (log_mel_) {
        rows = (*log_mel_)(changed_wave(s.samples, draw), draw.warp);
    } else {
        const Tensor faster = stretched_rows(s.rows, draw.speed);
        rows = Tensor::of(faster.shape(), faster.span());  // masks are written into a copy
    }
    mask_rows(rows, augment, draw, log_mel_.has_value());
    return rows;
}

std::vector<LoadedSound> SoundFeatures::windows_of(const LoadedSound& sound) const {
    std::vector<LoadedSound> windows;
    const auto window = static_cast<std::size_t>(window_samples_);
    for (std::size_t at = 0; at == 0 || at < sound.samples.size(); at += window) {
        const auto begin = sound.samples.begin() + static_cast<std::ptrdiff_t>(at);
        LoadedSound& w = windows.emplace_back();
        w.samples.assign(begin, begin + static_cast<std::ptrdiff_t>(
                                            std::min(window, sound.samples.size() - at)));
        w.samples.resize(window);
    }
    return windows;
}

SoundBatch pack_sounds(std::span<const Tensor> features, std::span<const std::uint64_t> samples) {
    std::vector<std::int64_t> lengths;
    for (const Tensor& t : features) lengths.push_back(t.rows());
    SoundBatch b;
    b.frames = Segments::of_lengths(lengths, {samples.begin(), samples.end()});
    b.features = Tensor({b.frames.total(), features.empty() ? 1 : features[0].cols()});
    float* to = b.features.write();
    for (const Tensor& t : features) to = std::copy_n(t.data(), t.size(), to);
    return b;
}

}  // namespace fovea
