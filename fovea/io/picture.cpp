#include "fovea/io/picture.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/io/jpeg.h"
#include "fovea/io/png.h"

namespace fovea {
namespace {

using namespace std::string_view_literals;

constexpr std::int64_t largest_picture_file = std::int64_t{1} << 28;

struct FormatMark {
    std::string_view mark;
    std::size_t at;
    const char* name;
};

// Formats that people have, but that are not read.
constexpr FormatMark refused_formats[] = {
    {"WEBP"sv, 8, "WebP"},
    {"II*\0"sv, 0, "TIFF"},
    {"MM\0*"sv, 0, "TIFF"},
    {"II+\0"sv, 0, "TIFF"},
    {"MM\0+"sv, 0, "TIFF"},
    {"GIF87a"sv, 0, "GIF"},
    {"GIF89a"sv, 0, "GIF"},
    {"BM"sv, 0, "BMP"},
    {"ftypavif"sv, 4, "AVIF"},
    {"ftypheic"sv, 4, "HEIC"},
    {"ftypheix"sv, 4, "HEIC"},
    {"ftypmif1"sv, 4, "HEIC"},
    {"\0\0\0\x0CjP  "sv, 0, "JPEG 2000"},
    {"\xFF\x0A"sv, 0, "JPEG XL"},
    {"\0\0\0\x0CJXL "sv, 0, "JPEG XL"},
    {"8BPS"sv, 0, "Photoshop"},
    {"%PDF"sv, 0, "PDF"},
    {"P4\n"sv, 0, "PBM"},
    {"P5\n"sv, 0, "PGM"},
    {"P6\n"sv, 0, "PPM"},
};

[[noreturn]] void refuse_format(std::string_view bytes, const std::string& where) {
    for (const FormatMark& f : refused_formats)
        if (bytes.size() >= f.at + f.mark.size() && bytes.substr(f.at, f.mark.size()) == f.mark)
            fail_with(ErrorKind::bad_input,
                      text_of("convert it to PNG, for example: magick ", where, " ", where, ".png"),
                      where, ": is a ", f.name, " file, but only PNG and JPEG are read");
    if (bytes.empty())
        fail_with(ErrorKind::bad_input, "leave it out", where, ": is empty, not a picture");
    fail_with(ErrorKind::bad_input, "PNG and JPEG are read; the first bytes tell, not the name",
              where, ": is not a picture");
}

// Rec. 601 in 16-bit fixed point, rounded: Pillow's conversion to mode L.
std::uint8_t grey_of(const std::uint8_t* rgb) {
    return static_cast<std::uint8_t>(
        (rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16);
}

}  // namespace

void expect_picture_size(std::int64_t height, std::int64_t width, const std::string& where) {
    if (height >= 1 && width >= 1 && height <= largest_picture_side &&
        width <= largest_picture_side && height * width <= most_picture_pixels)
        return;
    if (height < 1 || width < 1)
        fail_with(ErrorKind::bad_input, "leave it out", where, ": has no pixels (", width, " × ",
                  height, ")");
    fail_with(ErrorKind::bad_input,
              text_of("make it smaller first: magick ", where, " -resize 2048x2048 smaller.png"),
              where, ": is ", width, " × ", height, " pixels, but at most ", largest_picture_side,
              " a side and ", most_picture_pixels / 1'000'000, " million in all are read");
}

Picture blank_picture(std::int64_t height, std::int64_t width, std::int64_t channels,
                      const std::string& where) {
    expect_picture_size(height, width, where);
    expect(channels >= 1 && channels <= 96, where, ": ", channels, " channels, but 1 to 96 can be");
    Picture p{static_cast<std::uint32_t>(height),
              static_cast<std::uint32_t>(width),
              static_cast<std::uint32_t>(channels),
              {}};
    p.pixels.resize(static_cast<std::size_t>(height * width * channels));
    return p;
}

Picture with_channels(Picture picture, int channels) {
    expect(channels == 0 || channels == 1 || channels == 3, "a picture of ", channels,
           " channels was asked for, but 0, 1 or 3 can be");
    const std::uint32_t has = picture.channels, wants = static_cast<std::uint32_t>(channels);
    if (wants == 0 || wants == has) return picture;
    expect(has >= 1 && has <= 4, "a picture of ", has, " channels has no colours");
    Picture to{picture.height, picture.width, wants, {}};
    const std::size_t pixels = std::size_t{picture.height} * picture.width;
    to.pixels.resize(pixels * wants);
    for (std::size_t i = 0; i < pixels; ++i) {
        const std::uint8_t* from = picture.pixels.data() + i * has;
        std::uint8_t* out = to.pixels.data() + i * wants;
        if (wants == 1)
            *out = has >= 3 ? grey_of(from) : *from;
        else
            for (std::uint32_t c = 0; c < 3; ++c) out[c] = from[has >= 3 ? c : 0];
    }
    return to;
}

Picture decode_picture(std::string_view bytes, const std::string& where,
                       const PictureReadOptions& options) {
    expect(options.channels == 0 || options.channels == 1 || options.channels == 3, where, ": ",
           options.channels, " channels were asked for, but 0, 1 or 3 can be");
    if (is_png(bytes)) {
        Picture p = decode_png(bytes, where, {.indices = options.indices});
        return options.indices && p.channels == 1 ? p
                                                  : with_channels(std::move(p), options.channels);
    }
    if (is_jpeg(bytes)) return with_channels(decode_jpeg(bytes, where), options.channels);
    refuse_format(bytes, where);
}

Picture read_picture(const std::string& path, const PictureReadOptions& options) {
    return decode_picture(read_file(path, largest_picture_file), path, options);
}

bool has_picture_name(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    if (dot == std::string_view::npos) return false;
    std::string ending(path.substr(dot + 1));
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    constexpr std::array names{"png"sv,  "jpg"sv, "jpeg"sv, "jpe"sv,  "webp"sv, "tif"sv,
                               "tiff"sv, "gif"sv, "bmp"sv,  "avif"sv, "heic"sv};
    return std::find(names.begin(), names.end(), ending) != names.end();
}

}  // namespace fovea
