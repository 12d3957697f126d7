#pragma once
// Sounds changed as other speakers, rooms and microphones would: what is drawn is named by (seed,
// epoch, sample), so that it depends on no batch and no thread.
// Thread-safety: pure functions, safe from any thread.
#include <cstdint>
#include <span>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

struct WaveAugment {     // 0: without
    double speed = 0.1;  // faster or slower by up to this share, in steps of 1/100
    double gain = 6;     // louder or quieter by up to so many decibels
    double noise = 0.5;  // share of clips with white noise, 10 to 40 dB below them
    double warp = 0.1;   // frequencies stretched by up to this share: other vocal tracts
    int time_masks = 2;  // stretches of up to a tenth of the clip that are blanked (Park et al.
    int band_masks = 2;  // 2019, SpecAugment), and groups of up to a sixth of the bands

    static WaveAugment none() { return {0, 0, 0, 0, 0, 0}; }
};

// What one clip undergoes in one epoch.
struct WaveDraw {
    int speed = 100;   // percent
    double gain = 1;   // factor
    double noise = 0;  // deviation as a share of the clip's
    double warp = 1;
    std::uint64_t key = 0;  // names its noise and masks
};

WaveDraw draw_wave(const WaveAugment& options, std::uint64_t seed, std::int64_t epoch,
                   std::uint64_t sample);

// Speed, gain and noise. (The warp belongs to the mel filters.)
std::vector<float> changed_wave(std::span<const float> samples, const WaveDraw& draw);
// The same speed for rows of features, by straight lines between them.
Tensor stretched_rows(const Tensor& rows, int speed);
// Masks on rows of features: blanked to the clip's mean. Bands of features that are no bands
// (cepstra) are left: `bands` false.
void mask_rows(Tensor& rows, const WaveAugment& options, const WaveDraw& draw, bool bands);

}  // namespace fovea
