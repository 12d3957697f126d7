#include "fovea/data/made_strings.h"

#include <fmt/core.h>

#include <cmath>
#include <map>
#include <numbers>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/rng.h"
#include "fovea/data/waves.h"
#include "fovea/io/wav.h"

namespace fovea {
namespace {

constexpr std::uint32_t string_stream = 0x73747273;

struct SpokenWordWave {
    std::string word;
    Wave wave;
};

// The ten keys of a telephone (ITU-T Q.23): two pitches at once, a quarter of a second or less.
std::vector<SpokenWordWave> telephone_keys() {
    constexpr const char* names[] = {"zero", "one", "two",   "three", "four",
                                     "five", "six", "seven", "eight", "nine"};
    constexpr int low[] = {941, 697, 697, 697, 770, 770, 770, 852, 852, 852};
    constexpr int high[] = {1336, 1209, 1336, 1477, 1209, 1336, 1477, 1209, 1336, 1477};
    std::vector<SpokenWordWave> keys;
    for (std::size_t k = 0; k < 10; ++k)
        for (const int length : {800, 1200, 2000}) {
            SpokenWordWave w{names[k], {.sample_rate = 8000, .channels = 1, .samples = {}}};
            for (int i = 0; i < length; ++i) {
                const double turn = 2 * std::numbers::pi * i / 8000;
                w.wave.samples.push_back(
                    static_cast<float>(0.3 * (std::sin(low[k] * turn) + std::sin(high[k] * turn))));
            }
            keys.push_back(std::move(w));
        }
    return keys;
}

using Voices = std::map<std::string, std::vector<SpokenWordWave>>;

Voices voices_of(const std::string& table) {
    if (table.empty()) return {{"telephone", telephone_keys()}};
    ClipFiles files;
    files.paths = {table};
    Voices speakers;
    int rate = 0;
    for (const SpokenClip& c : read_clips(files).clips) {
        Wave w = mixed_to_mono(read_wave(c.path));
        if (rate == 0) rate = w.sample_rate;
        speakers[c.speaker].push_back({c.text, at_rate(std::move(w), rate)});
    }
    return speakers;
}

void pause(Wave& to, Rng& rng) {
    const auto n = static_cast<std::size_t>(rng.uniform(0, 0.4) * to.sample_rate);
    to.samples.resize(to.samples.size() + n, 0.0f);
}

void add_noise(Wave& to, Rng& rng) {
    double energy = 0;
    for (const float v : to.samples) energy += static_cast<double>(v) * static_cast<double>(v);
    const double level = std::pow(10.0, rng.uniform(-40, -20) / 20);
    const double deviation =
        level *
        std::sqrt(energy / static_cast<double>(std::max<std::size_t>(1, to.samples.size())));
    for (float& v : to.samples) v += static_cast<float>(deviation * rng.normal());
}

}  // namespace

void write_strings(const MadeStrings& made) {
    expect_input(made.count > 0 && made.shortest > 0 && made.longest >= made.shortest,
                 "data make strings: ", made.count, " strings of ", made.shortest, " to ",
                 made.longest, " words");
    const Voices speakers = voices_of(made.clips);
    const int rate = speakers.begin()->second[0].wave.sample_rate;
    std::vector<const std::vector<SpokenWordWave>*> voices;
    std::vector<std::string> names;
    for (const auto& [name, words] : speakers) voices.push_back(&words), names.push_back(name);
    make_folders(made.out);
    std::string table = "path\ttext\tspeaker\n";
    for (std::int64_t i = 0; i < made.count; ++i) {
        Rng rng(made.seed, string_stream);
        rng.seek(static_cast<std::uint64_t>(i) << 32);
        const auto voice =
            static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(voices.size())));
        const auto& words = *voices[voice];
        Wave whole{.sample_rate = rate, .channels = 1, .samples = {}};
        std::string text;
        const std::int64_t n = made.shortest + rng.below(made.longest - made.shortest + 1);
        for (std::int64_t k = 0; k < n; ++k) {
            pause(whole, rng);
            const SpokenWordWave& w =
                words[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(words.size())))];
            whole.samples.insert(whole.samples.end(), w.wave.samples.begin(), w.wave.samples.end());
            text += (text.empty() ? "" : " ") + w.word;
        }
        pause(whole, rng);
        add_noise(whole, rng);
        const std::string name = fmt::format("{:05}.wav", i);
        write_wav(join_path(made.out, name), whole);
        table += name + "\t" + text + "\t" + names[voice] + "\n";
    }
    write_file_atomically(join_path(made.out, "strings.tsv"), table);
}

}  // namespace fovea
