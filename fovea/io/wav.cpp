#include "fovea/io/wav.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea {
namespace {

static_assert(std::endian::native == std::endian::little, "WAV fields are read as they lie");

constexpr int most_chunks = 1000;
constexpr std::uint16_t pcm = 1, ieee_float = 3, extensible = 0xfffe;

struct CodecName {
    std::uint16_t tag;
    const char* name;
};
constexpr CodecName codec_names[] = {
    {0x0002, "Microsoft ADPCM"},
    {0x0006, "A-law"},
    {0x0007, "mu-law"},
    {0x0011, "IMA ADPCM"},
    {0x0031, "GSM"},
    {0x0045, "G.726 ADPCM"},
    {0x0050, "MPEG"},
    {0x0055, "MP3"},
    {0x00ff, "AAC"},
    {0x0161, "WMA"},
    {0x2000, "AC-3"},
    {0x674f, "Vorbis"},
    {0x704f, "Opus"},
    {0xf1ac, "FLAC"},
};

struct WavFormat {
    std::uint16_t tag = 0, channels = 0, block = 0, bits = 0;
    std::uint32_t rate = 0;
};

class WavReading {
public:
    WavReading(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

    Wave read() {
        if (bytes_.size() < 12) broken("the file ends within its header");
        const std::uint64_t size = number<std::uint32_t>(4);
        if (bytes_.substr(8, 4) != "WAVE") broken("a RIFF file, but not one of sound");
        if (size + 8 > bytes_.size())
            broken(
                text_of("its header says ", size + 8, " bytes, but the file has ", bytes_.size()));
        end_ = size + 8;
        if (end_ < 12) broken(text_of("its header says ", end_, " bytes"));
        walk();
        if (!format_) broken("there is no chunk \"fmt \" in it");
        if (!data_) broken("there is no chunk \"data\" in it");
        return decode();
    }

private:
    template <class T>
    T number(std::size_t at) const {
        T value;
        std::memcpy(&value, bytes_.data() + at, sizeof(T));
        return value;
    }

    [[noreturn]] void broken(const std::string& what) const {
        fail_with(ErrorKind::bad_input,
                  "the file is damaged or cut off: write it again, as with ffmpeg -i IN OUT.wav",
                  where_, ": ", what);
    }

    void walk() {
        std::uint64_t at = 12;
        for (int chunks = 0; at < end_; ++chunks) {
            if (chunks == most_chunks) broken(text_of("it has more than ", most_chunks, " chunks"));
            if (end_ - at < 8) broken(text_of("it ends within a chunk's header at byte ", at));
            const std::string_view name = bytes_.substr(at, 4);
            const std::uint64_t size = number<std::uint32_t>(at + 4);
            at += 8;
            if (size > end_ - at)
                broken(text_of("the chunk \"", shown(name), "\" at byte ", at - 8, " says ", size,
                               " bytes, but ", end_ - at, " are left"));
            const std::string_view body = bytes_.substr(at, size);
            if (name == "fmt ") read_format(body);
            if (name == "data") take_data(body);
            at += size + size % 2;  // chunks begin at even places; the last may lack its filler
        }
    }

    static std::string shown(std::string_view name) {
        std::string out;
        for (const char c : name) out += c >= 0x20 && c < 0x7f ? c : '?';
        return out;
    }

    void read_format(std::string_view body) {
        if (format_) broken("it has two chunks \"fmt \"");
        if (body.size() < 16)
            broken(text_of("the chunk \"fmt \" has ", body.size(), " bytes, but 16 are wanted"));
        const auto at = static_cast<std::size_t>(body.data() - bytes_.data());
        WavFormat f{.tag = number<std::uint16_t>(at),
                    .channels = number<std::uint16_t>(at + 2),
                    .block = number<std::uint16_t>(at + 12),
                    .bits = number<std::uint16_t>(at + 14),
                    .rate = number<std::uint32_t>(at + 4)};
        if (f.tag == extensible) f.tag = extended_tag(body, f.bits);
        check_codec(f);
        check_wave_header(where_, f.rate, f.channels, 1);
        if (f.block != f.channels * f.bits / 8)
            broken(text_of("its header says ", f.block, " bytes for ", f.channels,
                           f.channels == 1 ? " sample of " : " samples of ", f.bits, " bits"));
        format_ = f;
    }

    // WAVE_FORMAT_EXTENSIBLE: the codec is the first number of a GUID whose rest is fixed.
    std::uint16_t extended_tag(std::string_view body, std::uint16_t bits) const {
        if (body.size() < 40)
            broken(
                text_of("its format is extended, but has ", body.size(), " bytes instead of 40"));
        const auto at = static_cast<std::size_t>(body.data() - bytes_.data());
        const auto used = number<std::uint16_t>(at + 18);
        if (used > bits) broken(text_of("it says ", used, " bits in samples of ", bits));
        using namespace std::string_view_literals;
        if (body.substr(26, 14) != "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"sv)
            broken("its extended format is not one of sound samples");
        return number<std::uint16_t>(at + 24);
    }

    void check_codec(const WavFormat& f) const {
        const bool known = f.tag == pcm
                               ? f.bits == 8 || f.bits == 16 || f.bits == 24 || f.bits == 32
                               : f.tag == ieee_float && (f.bits == 32 || f.bits == 64);
        if (known) return;
        constexpr const char* way_out =
            "PCM of 8, 16, 24, 32 bits and float are read: ffmpeg -i IN -c:a pcm_s16le OUT.wav";
        for (const CodecName& c : codec_names)
            if (c.tag == f.tag)
                fail_with(ErrorKind::bad_input, way_out, where_, ": its samples are compressed as ",
                          c.name, ", which is not read");
        if (f.tag == pcm || f.tag == ieee_float)
            fail_with(ErrorKind::bad_input, way_out, where_, ": its samples are ",
                      f.tag == pcm ? "PCM" : "float", " of ", f.bits, " bits");
        fail_with(ErrorKind::bad_input, way_out, where_, ": its samples are of the unknown kind ",
                  f.tag);
    }

    void take_data(std::string_view body) {
        if (!format_) broken("its chunk \"data\" comes before \"fmt \"");
        if (data_) broken("it has two chunks \"data\"");
        if (body.size() % format_->block != 0)
            broken(text_of("its samples have ", body.size(), " bytes, which is no multiple of ",
                           format_->block));
        check_wave_header(where_, format_->rate, format_->channels, body.size() / format_->block);
        data_ = body;
    }

    template <class T, class Value>
    void convert(std::vector<float>& to, Value value) const {
        for (std::size_t i = 0; i < to.size(); ++i) {
            T x;
            std::memcpy(&x, data_->data() + i * sizeof(T), sizeof(T));
            to[i] = value(x);
        }
    }

    Wave decode() const {
        const WavFormat& f = *format_;
        Wave wave{.sample_rate = static_cast<int>(f.rate), .channels = f.channels, .samples = {}};
        wave.samples.resize(data_->size() / (f.bits / 8));
        std::vector<float>& to = wave.samples;
        if (f.tag == ieee_float && f.bits == 32)
            convert<float>(to, [](float x) { return x; });
        else if (f.tag == ieee_float)
            convert<double>(to, [](double x) { return static_cast<float>(x); });
        else if (f.bits == 8)
            convert<std::uint8_t>(to, [](std::uint8_t x) { return (x - 128) / 128.0f; });
        else if (f.bits == 16)
            convert<std::int16_t>(to, [](std::int16_t x) { return x / 32768.0f; });
        else if (f.bits == 32)
            convert<std::int32_t>(
                to, [](std::int32_t x) { return static_cast<float>(x / 2147483648.0); });
        else
            convert_24(to);
        if (f.tag == ieee_float)
            for (const float x : to)
                if (!std::isfinite(x)) broken("a sample is not a finite number");
        return wave;
    }

    void convert_24(std::vector<float>& to) const {
        const auto* b = reinterpret_cast<const unsigned char*>(data_->data());
        for (std::size_t i = 0; i < to.size(); ++i, b += 3) {
            const std::int32_t low = b[0] | b[1] << 8;
            to[i] = static_cast<float>(static_cast<signed char>(b[2]) * 65536 + low) / 8388608.0f;
        }
    }

    std::string_view bytes_;
    const std::string& where_;
    std::uint64_t end_ = 0;
    std::optional<WavFormat> format_;
    std::optional<std::string_view> data_;
};

template <class T>
void append(std::string& to, T value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

}  // namespace

Wave parse_wav(std::string_view bytes, const std::string& where) {
    return WavReading(bytes, where).read();
}

std::string wav_bytes(const Wave& wave) {
    const auto data = static_cast<std::uint32_t>(wave.samples.size() * 2);
    const auto block = static_cast<std::uint16_t>(wave.channels * 2);
    const auto rate = static_cast<std::uint32_t>(wave.sample_rate);
    std::string out = "RIFF";
    append(out, 36 + data);
    out += "WAVEfmt ";
    append(out, std::uint32_t{16});
    append(out, pcm);
    append(out, static_cast<std::uint16_t>(wave.channels));
    append(out, rate);
    append(out, rate * block);
    append(out, block);
    append(out, std::uint16_t{16});
    out += "data";
    append(out, data);
    for (const float x : wave.samples) {
        const float scaled = std::nearbyint(x * 32768.0f);
        append(out, static_cast<std::int16_t>(std::fmin(std::fmax(scaled, -32768.0f), 32767.0f)));
    }
    return out;
}

void write_wav(const std::string& path, const Wave& wave) {
    check_wave_header(path, static_cast<std::uint64_t>(wave.sample_rate),
                      static_cast<std::uint64_t>(wave.channels),
                      static_cast<std::uint64_t>(wave.frames()));
    write_file_atomically(path, wav_bytes(wave));
}

}  // namespace fovea
