#include "fovea/io/wave.h"

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/io/flac.h"
#include "fovea/io/resample.h"
#include "fovea/io/wav.h"

namespace fovea {
namespace {

// What files of other formats begin with.
struct OtherFormat {
    std::size_t at;
    std::string_view mark;
    const char* name;
};

using namespace std::string_view_literals;
constexpr OtherFormat other_formats[] = {
    {0, "ID3"sv, "an MP3 file"},
    {0, "\xff\xfb"sv, "an MP3 file"},
    {0, "\xff\xf3"sv, "an MP3 file"},
    {0, "\xff\xf2"sv, "an MP3 file"},
    {0, "\xff\xf1"sv, "an AAC file"},
    {0, "\xff\xf9"sv, "an AAC file"},
    {0, "OggS"sv, "an Ogg file (Vorbis, Opus or FLAC in Ogg)"},
    {0, "RF64"sv, "an RF64 file"},
    {0, "BW64"sv, "a BW64 file"},
    {0, "RIFX"sv, "a big-endian RIFX file"},
    {0, "riff"sv, "a Wave64 file"},
    {0, "FORM"sv, "an AIFF file"},
    {4, "ftyp"sv, "an MP4 or M4A file"},
    {0, "\x30\x26\xb2\x75"sv, "a WMA file"},
    {0, ".snd"sv, "an AU file"},
    {0, "caff"sv, "a CAF file"},
    {0, "NIST_1A"sv, "a NIST SPHERE file"},
    {0, "#!AMR"sv, "an AMR file"},
    {0, "MThd"sv, "a MIDI file"},
    {0, "\x1a\x45\xdf\xa3"sv, "a WebM or Matroska file"},
};

}  // namespace

void check_wave_header(const std::string& where, std::uint64_t rate, std::uint64_t channels,
                       std::uint64_t frames) {
    using L = WaveLimits;
    const auto refuse = [&](const char* hint, const auto&... parts) {
        fail_with(ErrorKind::bad_input, hint, where, ": ", parts...);
    };
    if (rate < L::lowest_rate || rate > L::highest_rate)
        refuse("ffmpeg -i IN -ar 16000 OUT.wav brings it to 16000", "its header says ", rate,
               " samples a second, but ", L::lowest_rate, " to ", L::highest_rate, " are read");
    if (channels < 1 || channels > L::most_channels)
        refuse("ffmpeg -i IN -ac 1 OUT.wav mixes it to one", "its header says ", channels,
               " channels, but 1 to ", L::most_channels, " are read");
    if (frames == 0) refuse("leave it out, or record it again", "there is no sound in it");
    if (frames / rate >= L::most_seconds && frames > rate * L::most_seconds)
        refuse("cut it into parts: ffmpeg -i IN -f segment -segment_time 60 OUT%03d.wav",
               "its header says ", frames / rate, " seconds, but at most ", L::most_seconds,
               " are read");
    if (frames * channels > static_cast<std::uint64_t>(L::most_samples))
        refuse("ffmpeg -i IN -ac 1 -ar 16000 OUT.wav makes it smaller", "its header says ", frames,
               " x ", channels, " samples, but at most ", L::most_samples, " are read");
}

Wave parse_wave(std::string_view bytes, const std::string& where) {
    if (bytes.starts_with("RIFF")) return parse_wav(bytes, where);
    if (bytes.starts_with("fLaC")) return parse_flac(bytes, where);
    constexpr const char* way_out =
        "WAV and FLAC are read: ffmpeg -i IN -ar 16000 -ac 1 OUT.wav converts it";
    for (const OtherFormat& f : other_formats)
        if (bytes.size() > f.at && bytes.substr(f.at).starts_with(f.mark))
            fail_with(ErrorKind::bad_input, way_out, where, ": this is ", f.name,
                      ", which is not read");
    fail_with(ErrorKind::bad_input, way_out, where,
              bytes.empty() ? ": the file is empty" : ": this is neither a WAV nor a FLAC file");
}

Wave read_wave(const std::string& path) {
    return parse_wave(read_file(path, WaveLimits::most_bytes), path);
}

Wave mixed_to_mono(Wave wave) {
    if (wave.channels == 1) return wave;
    const auto n = static_cast<std::size_t>(wave.channels);
    Wave mono{.sample_rate = wave.sample_rate, .channels = 1, .samples = {}};
    mono.samples.reserve(wave.samples.size() / n);
    for (std::size_t i = 0; i + n <= wave.samples.size(); i += n) {
        double sum = 0;
        for (std::size_t c = 0; c < n; ++c) sum += static_cast<double>(wave.samples[i + c]);
        mono.samples.push_back(static_cast<float>(sum / static_cast<double>(n)));
    }
    return mono;
}

Wave at_rate(Wave wave, int sample_rate) {
    if (wave.sample_rate == sample_rate) return wave;
    const auto n = static_cast<std::size_t>(wave.channels);
    const Resampler resampler(wave.sample_rate, sample_rate);
    Wave out{.sample_rate = sample_rate, .channels = wave.channels, .samples = {}};
    std::vector<float> one(wave.samples.size() / n);
    for (std::size_t c = 0; c < n; ++c) {
        for (std::size_t i = 0; i < one.size(); ++i) one[i] = wave.samples[i * n + c];
        const std::vector<float> y = resampler(one);
        out.samples.resize(y.size() * n);
        for (std::size_t i = 0; i < y.size(); ++i) out.samples[i * n + c] = y[i];
    }
    return out;
}

}  // namespace fovea
