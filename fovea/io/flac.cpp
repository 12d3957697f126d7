#include "fovea/io/flac.h"

#include <FLAC/stream_decoder.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// libFLAC calls back from C: errors are kept here and thrown when it has returned.
struct FlacReading {
    std::string_view bytes;
    const std::string& where;
    std::size_t at = 0;
    Wave wave{};
    std::uint64_t frames = 0;  // that STREAMINFO promises; 0: not seen yet
    unsigned bits = 0;
    std::unique_ptr<Error> error{};

    void fail(const std::string& what) {
        if (!error)
            error = std::make_unique<Error>(
                where + ": " + what, ErrorKind::bad_input,
                "the file is damaged or cut off: flac --test IN says more; ffmpeg -i IN OUT.wav "
                "writes it again");
    }
};

FlacReading& reading_of(void* client) { return *static_cast<FlacReading*>(client); }

FLAC__StreamDecoderReadStatus flac_read(const FLAC__StreamDecoder*, FLAC__byte to[],
                                        std::size_t* count, void* client) {
    FlacReading& r = reading_of(client);
    *count = std::min(*count, r.bytes.size() - r.at);
    if (*count == 0) return FLAC__STREAM_DECODER_READ_STATUS_END_OF_STREAM;
    std::memcpy(to, r.bytes.data() + r.at, *count);
    r.at += *count;
    return FLAC__STREAM_DECODER_READ_STATUS_CONTINUE;
}

void flac_metadata(const FLAC__StreamDecoder*, const FLAC__StreamMetadata* block, void* client) {
    FlacReading& r = reading_of(client);
    if (block->type != FLAC__METADATA_TYPE_STREAMINFO || r.error || r.frames > 0) return;
    const FLAC__StreamMetadata_StreamInfo& info = block->data.stream_info;
    if (info.total_samples == 0) {
        r.fail("its header does not say how long it is");
        return;
    }
    try {
        check_wave_header(r.where, info.sample_rate, info.channels, info.total_samples);
    } catch (const Error& e) {  // not through C
        r.error = std::make_unique<Error>(e);
        return;
    }
    r.frames = info.total_samples;
    r.bits = info.bits_per_sample;
    r.wave.sample_rate = static_cast<int>(info.sample_rate);
    r.wave.channels = static_cast<int>(info.channels);
}

FLAC__StreamDecoderWriteStatus flac_write(const FLAC__StreamDecoder*, const FLAC__Frame* frame,
                                          const FLAC__int32* const samples[], void* client) {
    FlacReading& r = reading_of(client);
    const FLAC__FrameHeader& h = frame->header;
    if (r.error) return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
    if (h.channels != static_cast<unsigned>(r.wave.channels) || h.bits_per_sample != r.bits ||
        h.sample_rate != static_cast<unsigned>(r.wave.sample_rate)) {
        r.fail("a frame has another rate, depth or number of channels than the header");
        return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
    }
    if (static_cast<std::uint64_t>(r.wave.frames()) + h.blocksize > r.frames) {
        r.fail(
            text_of("there is more sound in it than the ", r.frames, " samples its header says"));
        return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
    }
    const double scale = 1.0 / static_cast<double>(std::uint64_t{1} << (r.bits - 1));
    for (unsigned i = 0; i < h.blocksize; ++i)
        for (unsigned c = 0; c < h.channels; ++c)
            r.wave.samples.push_back(static_cast<float>(samples[c][i] * scale));
    return FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE;
}

void flac_error(const FLAC__StreamDecoder*, FLAC__StreamDecoderErrorStatus status, void* client) {
    FlacReading& r = reading_of(client);
    r.fail(text_of("it cannot be decoded (",
                   status == FLAC__STREAM_DECODER_ERROR_STATUS_FRAME_CRC_MISMATCH
                       ? "a frame's checksum is wrong"
                   : status == FLAC__STREAM_DECODER_ERROR_STATUS_BAD_HEADER
                       ? "a frame's header is wrong"
                       : "there is no frame where one should begin",
                   ") near byte ", r.at));
}

}  // namespace

Wave parse_flac(std::string_view bytes, const std::string& where) {
    FlacReading r{.bytes = bytes, .where = where};
    const std::unique_ptr<FLAC__StreamDecoder, void (*)(FLAC__StreamDecoder*)> decoder(
        FLAC__stream_decoder_new(), FLAC__stream_decoder_delete);
    expect(decoder != nullptr, where, ": no memory for a FLAC decoder");
    FLAC__stream_decoder_set_md5_checking(decoder.get(), 1);
    const auto status =
        FLAC__stream_decoder_init_stream(decoder.get(), flac_read, nullptr, nullptr, nullptr,
                                         nullptr, flac_write, flac_metadata, flac_error, &r);
    expect(status == FLAC__STREAM_DECODER_INIT_STATUS_OK, where, ": libFLAC does not start");
    // Frame by frame: the first fault ends it.
    while (!r.error &&
           FLAC__stream_decoder_get_state(decoder.get()) != FLAC__STREAM_DECODER_END_OF_STREAM)
        if (FLAC__stream_decoder_process_single(decoder.get()) == 0) {
            r.fail("it cannot be decoded");
            break;
        }
    const bool same_sum = FLAC__stream_decoder_finish(decoder.get()) != 0;
    if (!r.error && r.frames == 0) r.fail("the file ends within its header");
    if (!r.error && static_cast<std::uint64_t>(r.wave.frames()) != r.frames)
        r.fail(text_of("the file ends after ", r.wave.frames(), " of ", r.frames, " samples"));
    if (!r.error && !same_sum) r.fail("the sound has another checksum than the header says");
    if (r.error) throw Error(*r.error);
    return std::move(r.wave);
}

}  // namespace fovea
