#include "fovea/io/flac.h"

#include <FLAC/stream_encoder.h>
#include <gtest/gtest.h>

#include <cstring>
#include <ctime>

#include "fovea/base/error.h"
#include "fovea/base/rng.h"

namespace fovea {
namespace {

struct Sound {
    unsigned rate = 16000, channels = 1, bits = 16, frames = 5000;
    std::vector<FLAC__int32> samples() const {
        Rng rng(7);
        std::vector<FLAC__int32> all;
        const std::int64_t top = std::int64_t{1} << (bits - 1);
        for (unsigned i = 0; i < frames * channels; ++i)
            all.push_back(static_cast<FLAC__int32>(rng.below(top) - top / 2));
        return all;
    }
};

struct Sink {
    std::string bytes;
    std::size_t at = 0;
};

FLAC__StreamEncoderWriteStatus sink_write(const FLAC__StreamEncoder*, const FLAC__byte b[],
                                          std::size_t n, unsigned, unsigned, void* client) {
    Sink& s = *static_cast<Sink*>(client);
    s.bytes.resize(std::max(s.bytes.size(), s.at + n));
    std::memcpy(s.bytes.data() + s.at, b, n);
    s.at += n;
    return FLAC__STREAM_ENCODER_WRITE_STATUS_OK;
}
FLAC__StreamEncoderSeekStatus sink_seek(const FLAC__StreamEncoder*, FLAC__uint64 to, void* client) {
    static_cast<Sink*>(client)->at = to;
    return FLAC__STREAM_ENCODER_SEEK_STATUS_OK;
}
FLAC__StreamEncoderTellStatus sink_tell(const FLAC__StreamEncoder*, FLAC__uint64* at,
                                        void* client) {
    *at = static_cast<Sink*>(client)->at;
    return FLAC__STREAM_ENCODER_TELL_STATUS_OK;
}

std::string encoded(const Sound& s, bool seekable = true) {
    Sink sink;
    FLAC__StreamEncoder* e = FLAC__stream_encoder_new();
    FLAC__stream_encoder_set_sample_rate(e, s.rate);
    FLAC__stream_encoder_set_channels(e, s.channels);
    FLAC__stream_encoder_set_bits_per_sample(e, s.bits);
    FLAC__stream_encoder_set_blocksize(e, 512);
    FLAC__stream_encoder_set_streamable_subset(e, 0);
    FLAC__stream_encoder_init_stream(e, sink_write, seekable ? sink_seek : nullptr,
                                     seekable ? sink_tell : nullptr, nullptr, &sink);
    FLAC__stream_encoder_process_interleaved(e, s.samples().data(), s.frames);
    FLAC__stream_encoder_finish(e);
    FLAC__stream_encoder_delete(e);
    return sink.bytes;
}

TEST(Flac, SamplesComeBackExactly) {
    for (const unsigned bits : {8u, 16u, 24u})
        for (const unsigned channels : {1u, 2u, 5u}) {
            const Sound s{.channels = channels, .bits = bits};
            const Wave w = parse_wave(encoded(s), "a.flac");
            const auto samples = s.samples();
            ASSERT_EQ(w.samples.size(), samples.size());
            EXPECT_EQ(w.channels, static_cast<int>(channels));
            EXPECT_EQ(w.sample_rate, 16000);
            const double scale = static_cast<double>(1 << (bits - 1));
            for (std::size_t i = 0; i < samples.size(); ++i)
                ASSERT_EQ(w.samples[i], static_cast<float>(samples[i] / scale));
        }
}

struct BadFlac {
    const char* name;
    std::string bytes, says;
};

// STREAMINFO begins at byte 8: sizes of blocks and frames (10 bytes), then rate (20 bits), channels
// − 1 (3), bits − 1 (5), samples (36), MD5 (16 bytes).
std::string with_byte(std::string bytes, std::size_t at, unsigned char value) {
    bytes[at] = static_cast<char>(value);
    return bytes;
}

std::string with_rate(std::string b, unsigned rate) {
    b[18] = static_cast<char>(rate >> 12);
    b[19] = static_cast<char>(rate >> 4);
    b[20] = static_cast<char>((b[20] & 0x0f) | (rate & 15) << 4);
    return b;
}

std::string with_length(std::string b, std::uint64_t n) {
    b[21] = static_cast<char>((b[21] & 0xf0) | static_cast<int>(n >> 32));
    for (int i = 0; i < 4; ++i)
        b[static_cast<std::size_t>(22 + i)] = static_cast<char>(n >> (24 - 8 * i));
    return b;
}

std::vector<BadFlac> bad_flacs() {
    const std::string good = encoded({}), header = good.substr(0, 42);
    const std::string streamed = encoded({}, false);
    const std::size_t body = good.size() / 2;
    std::string swapped = good;
    for (std::size_t i = body; i < body + 64; ++i) swapped[i] = static_cast<char>(~swapped[i]);
    std::string no_info = good.substr(0, 4) + good.substr(42);
    return {
        {"mark only", "fLaC", "a.flac"},
        {"mark and noise", "fLaC" + std::string(60, '\x55'), "a.flac"},
        {"header only", header, "a.flac"},
        {"half", good.substr(0, body), "a.flac"},
        {"a byte short", good.substr(0, good.size() - 1), "a.flac"},
        {"no length", with_length(good, 0), "does not say how long"},
        {"streamed", streamed, "does not say how long"},
        {"length of 36 bits", with_length(good, 0xfffffffffULL), "seconds, but at most"},
        {"11 minutes", with_length(good, 660 * 16000), "660 seconds"},
        {"longer than it is", with_length(good, 5001), "ends after 5000 of 5001"},
        {"shorter than it is", with_length(good, 4999), "more sound in it than the 4999"},
        {"rate 0", with_rate(good, 0), "a.flac"},
        {"rate 1", with_rate(good, 1), "1 samples a second"},
        {"rate 1048575", with_rate(good, 1048575), "a.flac"},
        {"other rate", with_rate(good, 22050), "another rate, depth or number of channels"},
        {"other channels", with_byte(good, 20, static_cast<unsigned char>(good[20] | 0x0e)),
         "a.flac"},
        {"other bits", with_byte(good, 21, static_cast<unsigned char>((good[21] & 0x0f) | 0x70)),
         "a.flac"},
        {"wrong checksum of the sound", with_byte(good, 26, static_cast<unsigned char>(~good[26])),
         "another checksum"},
        {"noise in a frame", swapped, "cannot be decoded"},
        {"a bit of a frame", with_byte(good, body, static_cast<unsigned char>(good[body] ^ 1)),
         "a.flac"},
        {"zeros behind", good + std::string(100, '\0'), "a.flac"},
        {"a second file behind", good + good, "a.flac"},
        {"no STREAMINFO", no_info, "a.flac"},
        {"STREAMINFO of 16 MB", with_byte(good, 5, 0xff), "a.flac"},
        {"ogg", "OggS" + good, "an Ogg file"},
    };
}

TEST(Flac, BadFilesAreRefused) {
    const auto files = bad_flacs();
    EXPECT_GE(files.size(), 20u);
    for (const BadFlac& f : files) {
        SCOPED_TRACE(f.name);
        const std::clock_t start = std::clock();  // others work too: of the processor
        try {
            parse_wave(f.bytes, "a.flac");
            ADD_FAILURE() << "is read";
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find(f.says), std::string::npos) << e.what();
            EXPECT_EQ(std::string(e.what()).rfind("a.flac: ", 0), 0u) << e.what();
            EXPECT_EQ(e.kind(), ErrorKind::bad_input);
            EXPECT_FALSE(e.hint().empty());
        }
        EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 0.1);
    }
}

TEST(Flac, NoPartOfAFileIsAFile) {
    const std::string whole = encoded({.frames = 600});
    EXPECT_EQ(parse_wave(whole, "a.flac").frames(), 600);
    for (std::size_t n = 0; n < whole.size(); ++n)
        EXPECT_THROW(parse_wave(whole.substr(0, n), "a.flac"), Error) << n << " bytes";
}

}  // namespace
}  // namespace fovea
