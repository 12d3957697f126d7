#pragma once
// Sound as the logarithm of its energy in bands of the mel scale, frame by frame, as Whisper
// (Radford et al. 2022, §2.2) computes it:
//   frames of n_fft samples every hop_length, the first one's middle on the first sample, the ends
//   mirrored; Hann's window; power spectrum; Slaney's triangular mel filters;
//   log10, at most 8 below the clip's loudest value, (x + 4) / 4.
// A clip of n samples has ⌊n / hop_length⌋ frames, and at least one. Here clips have their own
// lengths (Whisper fills them up to 30 s with silence).
// Thread-safety: const calls from several threads are safe.
#include <span>

#include "fovea/base/json.h"
#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// Fields of preprocessor_config.json under Hugging Face's names.
struct LogMelConfig {
    int feature_size = 80;      // mel bands
    int sampling_rate = 16000;  // of the samples that come in
    int n_fft = 400;
    int hop_length = 160;

    static LogMelConfig from_json(const Json& json, const std::string& where);
    Json to_json() const;
    void check(const std::string& where) const;
};

class LogMel {
public:
    explicit LogMel(const LogMelConfig& config);

    const LogMelConfig& config() const { return config_; }
    std::int64_t frames_of(std::int64_t samples) const;

    // One clip: [frames, feature_size]. `warp` stretches the frequency axis by so much below 4/5 of
    // the band (Jaitly & Hinton 2013: other vocal tracts); 1 leaves it.
    Tensor operator()(std::span<const float> samples, double warp = 1.0) const;

    // [feature_size, n_fft / 2 + 1]
    Tensor filters(double warp = 1.0) const;

private:
    LogMelConfig config_;
    Tensor filters_;
};

}  // namespace fovea
