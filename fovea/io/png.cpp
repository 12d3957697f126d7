#include "fovea/io/png.h"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea {
namespace {

// libpng tells errors by a long jump. Functions below that set its target hold no object with a
// destructor: everything that must be freed belongs to this struct, which their caller owns.
struct PngState {
    png_structp png = nullptr;
    png_infop info = nullptr;
    std::string_view bytes{};        // being read
    std::size_t at = 0;              // in bytes
    std::string* written = nullptr;  // being written
    char message[160] = {}, warning[160] = {};
    bool reading;

    explicit PngState(bool reads) : reading(reads) {}
    PngState(const PngState&) = delete;
    PngState& operator=(const PngState&) = delete;
    ~PngState() {
        if (reading)
            png_destroy_read_struct(&png, &info, nullptr);
        else
            png_destroy_write_struct(&png, &info);
    }
};

void on_png_error(png_structp png, png_const_charp message) {
    auto* state = static_cast<PngState*>(png_get_error_ptr(png));
    std::snprintf(state->message, sizeof state->message, "%s", message);
    png_longjmp(png, 1);
}

// Kept for the error that may follow: "Invalid IHDR data" says little without it. (What could do
// harm is made an error below.)
void on_png_warning(png_structp png, png_const_charp message) {
    auto* state = static_cast<PngState*>(png_get_error_ptr(png));
    std::snprintf(state->warning, sizeof state->warning, "%s", message);
}

void on_png_read(png_structp png, png_bytep to, std::size_t n) {
    auto* state = static_cast<PngState*>(png_get_io_ptr(png));
    if (state->bytes.size() - state->at < n) png_error(png, "the file ends too early");
    std::memcpy(to, state->bytes.data() + state->at, n);
    state->at += n;
}

void on_png_write(png_structp png, png_bytep from, std::size_t n) {
    auto* state = static_cast<PngState*>(png_get_io_ptr(png));
    state->written->append(reinterpret_cast<const char*>(from), n);
}

struct PngHeader {
    std::uint32_t width, height;
    int bit_depth, colour_type, channels;
};

// NOLINTBEGIN(cert-err52-cpp): the library's own way of telling errors
// Up to the pixels: how they will come, and what they are turned into.
bool read_png_header(PngState& s, PngHeader& header) {
    if (setjmp(png_jmpbuf(s.png))) return false;
    png_set_read_fn(s.png, &s, on_png_read);
    png_set_benign_errors(s.png, 0);
    png_set_user_limits(s.png, largest_picture_side, largest_picture_side);
    png_set_chunk_cache_max(s.png, 16);
    png_set_chunk_malloc_max(s.png, 1 << 20);
    // -1: all chunks but IHDR, PLTE, tRNS, IDAT and IEND are skipped unread.
    png_set_keep_unknown_chunks(s.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_read_info(s.png, s.info);
    header.bit_depth = png_get_bit_depth(s.png, s.info);
    header.colour_type = png_get_color_type(s.png, s.info);
    header.width = png_get_image_width(s.png, s.info);
    header.height = png_get_image_height(s.png, s.info);
    if (header.colour_type == PNG_COLOR_TYPE_PALETTE) {
        png_set_packing(s.png);  // a byte for each number; colours are put in below
    } else {
        if (header.colour_type == PNG_COLOR_TYPE_GRAY && header.bit_depth < 8)
            png_set_expand_gray_1_2_4_to_8(s.png);
        if (png_get_valid(s.png, s.info, PNG_INFO_tRNS)) png_set_tRNS_to_alpha(s.png);
        if (header.bit_depth == 16) png_set_strip_16(s.png);
    }
    png_set_interlace_handling(s.png);
    png_read_update_info(s.png, s.info);
    header.channels = png_get_channels(s.png, s.info);
    return true;
}

bool read_png_rows(PngState& s, png_bytepp rows) {
    if (setjmp(png_jmpbuf(s.png))) return false;
    png_read_image(s.png, rows);
    png_read_end(s.png, nullptr);
    return true;
}

bool write_png_rows(PngState& s, const Picture& p, png_bytepp rows) {
    constexpr int kinds[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                             PNG_COLOR_TYPE_RGB_ALPHA};
    if (setjmp(png_jmpbuf(s.png))) return false;
    png_set_write_fn(s.png, &s, on_png_write, nullptr);
    png_set_IHDR(s.png, s.info, p.width, p.height, 8, kinds[p.channels - 1], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(s.png, s.info);
    png_write_image(s.png, rows);
    png_write_end(s.png, nullptr);
    return true;
}
// NOLINTEND(cert-err52-cpp)

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i)
        value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
    return value;
}

[[noreturn]] void bad_png(const std::string& where, const std::string& message) {
    fail_with(ErrorKind::bad_input, "the file is damaged: fetch or export it again", where,
              ": is not a whole PNG: ", message);
}

[[noreturn]] void bad_png(const std::string& where, const PngState& s) {
    bad_png(where, s.warning[0] ? text_of(s.message, " (", s.warning, ")") : text_of(s.message));
}

std::vector<png_bytep> rows_of(const Picture& p) {
    std::vector<png_bytep> rows(p.height);
    for (std::uint32_t y = 0; y < p.height; ++y) rows[y] = const_cast<png_bytep>(p.at(y, 0));
    return rows;
}

// What the pixels take before they are compressed, about (interlaced ones a little more).
std::int64_t raw_bytes(std::string_view bytes, std::int64_t width, std::int64_t height) {
    constexpr std::int64_t channels_of_kind[] = {1, 1, 3, 1, 2, 1, 4};
    const auto depth = static_cast<std::uint8_t>(bytes[24]),
               kind = static_cast<std::uint8_t>(bytes[25]);
    const std::int64_t bits = width * std::min<std::int64_t>(depth, 16) *
                              (kind < std::size(channels_of_kind) ? channels_of_kind[kind] : 1);
    return height * (1 + bits / 8);
}

std::int64_t bytes_of_pixel_chunks(std::string_view bytes) {
    std::int64_t sum = 0;
    for (std::size_t at = 8; at + 12 <= bytes.size();) {
        const std::size_t length = big_endian(bytes, at);
        if (bytes.substr(at + 4, 4) == "IDAT") sum += static_cast<std::int64_t>(length);
        at += length + 12;
    }
    return sum;
}

// The header's sizes before libpng sees them, for an error a person can act upon; and whether the
// compressed data fit the pixels. Deflate makes of a byte at most 1032; and of twice as many bytes
// as the pixels have only a bomb is made (libpng would inflate all of it to find its end).
void check_png_sizes(std::string_view bytes, const std::string& where) {
    if (bytes.size() < 33 || big_endian(bytes, 8) != 13 || bytes.substr(12, 4) != "IHDR")
        bad_png(where, "IHDR is missing");
    const std::int64_t width = big_endian(bytes, 16), height = big_endian(bytes, 20);
    expect_picture_size(height, width, where);
    const std::int64_t raw = raw_bytes(bytes, width, height);
    if (raw > static_cast<std::int64_t>(bytes.size()) * 1032)
        bad_png(where, "the file is too short for the pixels its header tells of");
    if (bytes_of_pixel_chunks(bytes) > 2 * raw + 16384)
        bad_png(where, "it has more data than its pixels can need");
}

// Numbers of a palette's colours as the colours, with transparency where there is some. `indices`
// keeps the numbers; they are checked in any case.
Picture with_palette(const PngState& s, Picture numbers, bool indices, const std::string& where) {
    png_colorp colours = nullptr;
    png_bytep alpha = nullptr;
    int count = 0, alphas = 0;
    png_get_PLTE(s.png, s.info, &colours, &count);
    png_get_tRNS(s.png, s.info, &alpha, &alphas, nullptr);
    for (const std::uint8_t n : numbers.pixels)
        if (n >= count) bad_png(where, text_of("colour ", int{n}, " of a palette of ", count));
    if (indices) return numbers;
    const std::uint32_t channels = alphas > 0 ? 4 : 3;
    Picture p = blank_picture(numbers.height, numbers.width, channels, where);
    std::uint8_t* to = p.pixels.data();
    for (const std::uint8_t n : numbers.pixels) {
        *to++ = colours[n].red;
        *to++ = colours[n].green;
        *to++ = colours[n].blue;
        if (alphas > 0) *to++ = n < alphas ? alpha[n] : 255;
    }
    return p;
}

}  // namespace

bool is_png(std::string_view bytes) {
    return bytes.size() >= 8 &&
           png_sig_cmp(reinterpret_cast<png_const_bytep>(bytes.data()), 0, 8) == 0;
}

Picture decode_png(std::string_view bytes, const std::string& where, const PngOptions& options) {
    if (!is_png(bytes)) bad_png(where, "its first bytes are others");
    check_png_sizes(bytes, where);
    PngState s(true);
    s.bytes = bytes;
    s.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &s, on_png_error, on_png_warning);
    if (s.png) s.info = png_create_info_struct(s.png);
    expect(s.info != nullptr, where, ": libpng could not be started");
    PngHeader header{};
    if (!read_png_header(s, header)) bad_png(where, s);
    Picture p = blank_picture(header.height, header.width, header.channels, where);
    expect(png_get_rowbytes(s.png, s.info) == std::size_t{p.width} * p.channels, where,
           ": libpng gives rows of ", png_get_rowbytes(s.png, s.info), " bytes for ", p.width,
           " × ", p.channels);
    std::vector<png_bytep> rows = rows_of(p);
    if (!read_png_rows(s, rows.data())) bad_png(where, s);
    if (header.colour_type != PNG_COLOR_TYPE_PALETTE) return p;
    return with_palette(s, std::move(p), options.indices, where);
}

std::string encode_png(const Picture& picture) {
    expect(
        picture.channels >= 1 && picture.channels <= 4 &&
            picture.pixels.size() == std::size_t{picture.height} * picture.width * picture.channels,
        "write_png: a picture of ", picture.width, " × ", picture.height, " with ",
        picture.channels, " channels and ", picture.pixels.size(), " bytes");
    std::string bytes;
    PngState s(false);
    s.written = &bytes;
    s.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &s, on_png_error, on_png_warning);
    if (s.png) s.info = png_create_info_struct(s.png);
    expect(s.info != nullptr, "write_png: libpng could not be started");
    std::vector<png_bytep> rows = rows_of(picture);
    expect(write_png_rows(s, picture, rows.data()), "write_png: ", s.message);
    return bytes;
}

void write_png(const std::string& path, const Picture& picture) {
    write_file_atomically(path, encode_png(picture));
}

}  // namespace fovea
