#pragma once
// Sound as numbers, and the files it is read from: WAV (wav.h) and FLAC (flac.h), known by their
// first bytes. Other formats are refused by name.
// Files are hostile: rate, channels and length are checked from the header before memory is asked
// for. Thread-safety: calls for different files may run at once.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

struct Wave {
    int sample_rate = 0;  // a second
    int channels = 1;
    std::vector<float> samples;  // -1 … 1; those of all channels at one instant side by side

    std::int64_t frames() const {  // instants
        return static_cast<std::int64_t>(samples.size()) / channels;
    }
    double seconds() const { return static_cast<double>(frames()) / sample_rate; }
};

struct WaveLimits {
    static constexpr int lowest_rate = 8000, highest_rate = 192000;
    static constexpr int most_channels = 8;
    static constexpr int most_seconds = 600;
    // Ten minutes of stereo at 48 kHz: what is longer than that in all is asked for as mono.
    static constexpr std::int64_t most_samples = std::int64_t{600} * 48000 * 2;
    static constexpr std::int64_t most_bytes = std::int64_t{1} << 30;  // of a file
};

// Says what of a header is beyond the limits; `frames` as the header has it.
void check_wave_header(const std::string& where, std::uint64_t rate, std::uint64_t channels,
                       std::uint64_t frames);

Wave read_wave(const std::string& path);
Wave parse_wave(std::string_view bytes, const std::string& where);

Wave mixed_to_mono(Wave wave);  // the mean of the channels
// At another rate (resample.h); the same wave where it has that rate.
Wave at_rate(Wave wave, int sample_rate);

}  // namespace fovea
