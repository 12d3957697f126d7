#include "fovea/io/wav.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <ctime>
#include <functional>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea {
namespace {

template <class T>
std::string le(T value) {
    return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

std::string chunk(const std::string& name, const std::string& body) {
    return name + le(static_cast<std::uint32_t>(body.size())) + body +
           (body.size() % 2 ? std::string(1, '\0') : "");
}

struct Format {
    std::uint16_t tag = 1, channels = 1;
    std::uint32_t rate = 8000;
    std::uint16_t bits = 16;
    int block = -1;  // as it should be

    std::string bytes() const {
        const auto b = static_cast<std::uint16_t>(block >= 0 ? block : channels * bits / 8);
        return le(tag) + le(channels) + le(rate) + le(rate * b) + le(b) + le(bits);
    }
};

std::string riff(const std::string& chunks) {
    return "RIFF" + le(static_cast<std::uint32_t>(chunks.size() + 4)) + "WAVE" + chunks;
}

std::string file_of(const Format& f, const std::string& data) {
    return riff(chunk("fmt ", f.bytes()) + chunk("data", data));
}

std::string extended(std::uint16_t tag, std::uint16_t bits, std::uint16_t used) {
    const std::string guid("\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71", 14);
    return Format{.tag = 0xfffe, .bits = bits}.bytes() + le(std::uint16_t{22}) + le(used) +
           le(std::uint32_t{4}) + le(tag) + guid;
}

TEST(Wav, EveryKindOfSampleIsRead) {
    struct Case {
        std::uint16_t tag, bits;
        std::string data;
        std::vector<float> samples;
    };
    const Case cases[] = {
        {1, 8, {"\x80\x00\xff", 3}, {0, -1, 127 / 128.0f}},
        {1, 16, le<std::int16_t>(-32768) + le<std::int16_t>(16384), {-1, 0.5f}},
        {1,
         24,
         {"\x00\x00\x80\xff\xff\x7f\x01\x00\x00", 9},
         {-1, 8388607 / 8388608.0f, 1 / 8388608.0f}},
        {1, 32, le<std::int32_t>(-2147483647 - 1) + le<std::int32_t>(1 << 30), {-1, 0.5f}},
        {3, 32, le(0.25f) + le(-1.5f), {0.25f, -1.5f}},
        {3, 64, le(0.125) + le(-2.0), {0.125f, -2.0f}},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(text_of("kind ", c.tag, ", bits ", c.bits));
        const Wave w = parse_wave(file_of({.tag = c.tag, .bits = c.bits}, c.data), "a.wav");
        EXPECT_EQ(w.samples, c.samples);
        EXPECT_EQ(w.sample_rate, 8000);
        const auto used = static_cast<std::uint16_t>(c.bits - 2);
        const Wave e = parse_wave(
            riff(chunk("fmt ", extended(c.tag, c.bits, used)) + chunk("data", c.data)), "a.wav");
        EXPECT_EQ(e.samples, c.samples) << "extensible";
    }
}

TEST(Wav, OtherChunksAndChannelsAreFine) {
    const std::string data =
        le<std::int16_t>(1) + le<std::int16_t>(3) + le<std::int16_t>(-2) + le<std::int16_t>(6);
    const Wave w =
        parse_wave(riff(chunk("LIST", "abc") + chunk("fmt ", Format{.channels = 2}.bytes()) +
                        chunk("fact", "1234") + chunk("data", data) + chunk("id3 ", "x")),
                   "a.wav");
    EXPECT_EQ(w.channels, 2);
    EXPECT_EQ(w.frames(), 2);
    EXPECT_EQ(mixed_to_mono(w).samples, (std::vector<float>{2 / 32768.0f, 2 / 32768.0f}));
    // The last chunk may lack the byte that makes it even.
    std::string odd = file_of({.bits = 8}, "abc");
    odd.pop_back();
    odd[4] = static_cast<char>(odd[4] - 1);
    EXPECT_EQ(parse_wave(odd, "a.wav").frames(), 3);
}

TEST(Wav, WhatIsWrittenIsRead) {
    Wave w{.sample_rate = 16000, .channels = 2, .samples = {}};
    for (int i = -32768; i < 32768; i += 3) w.samples.push_back(static_cast<float>(i) / 32768.0f);
    w.samples.resize(w.samples.size() / 2 * 2);
    const std::string path = testing::TempDir() + "/fovea_written.wav";
    write_wav(path, w);
    const Wave back = read_wave(path);
    EXPECT_EQ(back.samples, w.samples);
    EXPECT_EQ(back.sample_rate, 16000);
    EXPECT_EQ(back.channels, 2);
    const Wave loud{.sample_rate = 8000, .channels = 1, .samples = {3, -3, 1}};
    EXPECT_EQ(parse_wave(wav_bytes(loud), "a.wav").samples,
              (std::vector<float>{32767 / 32768.0f, -1, 32767 / 32768.0f}));
}

struct BadFile {
    const char* name;
    std::string bytes, says;
};

std::string edited(std::string bytes, std::size_t at, const std::string& with) {
    return bytes.replace(at, with.size(), with);
}

std::vector<BadFile> bad_waves() {
    const std::string data(64, 'a'), good = file_of({}, data);
    const std::string format = chunk("fmt ", Format{}.bytes());
    const std::string nan = le(std::numeric_limits<float>::quiet_NaN()) + le(1.0f);
    std::string many;
    for (int i = 0; i < 5000; ++i) many += chunk("LIST", "");
    return {
        {"empty", "", "the file is empty"},
        {"text", "hello, this is no sound", "neither a WAV nor a FLAC file"},
        {"mp3 with a tag", "ID3\x03 …………", "an MP3 file"},
        {"mp3", "\xff\xfb\x90\x64 …………", "an MP3 file"},
        {"ogg", "OggS …………", "an Ogg file"},
        {"m4a", std::string("\0\0\0\x20", 4) + "ftypM4A ", "an MP4 or M4A file"},
        {"aiff", "FORM    AIFF", "an AIFF file"},
        {"rf64", "RF64" + good.substr(4), "an RF64 file"},
        {"rifx", "RIFX" + good.substr(4), "RIFX"},
        {"sphere", "NIST_1A\n   1024\n", "NIST SPHERE"},
        {"avi", edited(good, 8, "AVI "), "not one of sound"},
        {"fmt of 0 bytes", riff(chunk("fmt ", "") + chunk("data", data)), "has 0 bytes"},
        {"fmt of 15 bytes", riff(chunk("fmt ", Format{}.bytes().substr(1)) + chunk("data", data)),
         "has 15 bytes"},
        {"no fmt", riff(chunk("LIST", "abcd")), "no chunk \"fmt \""},
        {"no data", riff(format), "no chunk \"data\""},
        {"data before fmt", riff(chunk("data", data) + format), "comes before"},
        {"two fmt", riff(format + format + chunk("data", data)), "two chunks \"fmt \""},
        {"two data", riff(format + chunk("data", data) + chunk("data", data)),
         "two chunks \"data\""},
        {"odd bytes of samples", file_of({}, "abc"), "no multiple of 2"},
        {"no samples", file_of({}, ""), "there is no sound"},
        {"data of 4 GB", edited(good, 40, "\xff\xff\xff\xff"), "says 4294967295 bytes, but 64"},
        {"file of 4 GB", edited(good, 4, "\xff\xff\xff\xff"), "says 4294967303 bytes"},
        {"file of 0 bytes", edited(good, 4, std::string(4, '\0')), "says 8 bytes"},
        {"chunk beyond the end", riff(format + "LIST" + le(std::uint32_t{1000}) + "ab"),
         "\"LIST\" at byte 36 says 1000 bytes"},
        {"no channels", file_of({.channels = 0}, data), "0 channels"},
        {"65535 channels", file_of({.channels = 65535, .bits = 8}, data), "65535 channels"},
        {"9 channels", file_of({.channels = 9}, std::string(90, 'a')), "9 channels"},
        {"rate 0", file_of({.rate = 0}, data), "says 0 samples a second"},
        {"rate 2^32-1", file_of({.rate = 0xffffffff}, data), "4294967295 samples a second"},
        {"0 bits", file_of({.bits = 0}, data), "PCM of 0 bits"},
        {"7 bits", file_of({.bits = 7}, data), "PCM of 7 bits"},
        {"PCM of 64 bits", file_of({.bits = 64}, data), "PCM of 64 bits"},
        {"float of 16 bits", file_of({.tag = 3, .bits = 16}, data), "float of 16 bits"},
        {"block of 3", file_of({.block = 3}, std::string(66, 'a')), "says 3 bytes for 1 sample"},
        {"block of 0", file_of({.block = 0}, data), "says 0 bytes for 1 sample"},
        {"ADPCM", file_of({.tag = 2, .bits = 4, .block = 256}, data), "Microsoft ADPCM"},
        {"IMA ADPCM", file_of({.tag = 0x11, .bits = 4, .block = 256}, data), "IMA ADPCM"},
        {"mu-law", file_of({.tag = 7, .bits = 8}, data), "mu-law"},
        {"MP3 within", file_of({.tag = 0x55, .bits = 0}, data), "MP3"},
        {"unknown kind", file_of({.tag = 4711}, data), "unknown kind 4711"},
        {"extensible, short", file_of({.tag = 0xfffe}, data), "instead of 40"},
        {"extensible, other GUID",
         riff(chunk("fmt ", edited(extended(1, 16, 16), 30, "x")) + chunk("data", data)),
         "not one of sound samples"},
        {"extensible, more bits than there are",
         riff(chunk("fmt ", extended(1, 16, 24)) + chunk("data", data)),
         "24 bits in samples of 16"},
        {"extensible of extensible",
         riff(chunk("fmt ", extended(0xfffe, 16, 16)) + chunk("data", data)), "unknown kind 65534"},
        {"not a number", file_of({.tag = 3, .bits = 32}, nan), "not a finite number"},
        {"5000 chunks", riff(many + format + chunk("data", data)), "more than 1000 chunks"},
        {"11 minutes", file_of({.bits = 8}, std::string(8000 * 660, 'a')), "660 seconds"},
    };
}

TEST(Wav, BadFilesAreRefusedWithTheWayOut) {
    const auto files = bad_waves();
    EXPECT_GE(files.size(), 30u);
    for (const BadFile& f : files) {
        SCOPED_TRACE(f.name);
        const std::clock_t start = std::clock();  // others work too: of the processor
        try {
            parse_wave(f.bytes, "a.wav");
            ADD_FAILURE() << "is read";
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find(f.says), std::string::npos) << e.what();
            EXPECT_EQ(std::string(e.what()).rfind("a.wav: ", 0), 0u) << e.what();
            EXPECT_EQ(e.kind(), ErrorKind::bad_input);
            EXPECT_FALSE(e.hint().empty());
        }
        EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 0.1);
    }
}

TEST(Wav, NoPartOfAFileIsAFile) {
    const std::string whole =
        riff(chunk("fmt ", Format{}.bytes()) + chunk("data", "abcdefgh") + chunk("LIST", "INFO"));
    EXPECT_EQ(parse_wave(whole, "a.wav").frames(), 4);
    for (std::size_t n = 0; n < whole.size(); ++n)
        EXPECT_THROW(parse_wave(whole.substr(0, n), "a.wav"), Error) << n << " bytes";
}

}  // namespace
}  // namespace fovea
