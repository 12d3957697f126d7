#pragma once
// Pictures in memory, and the files they come from. The format is known by the file's first bytes,
// never by its name: PNG and JPEG are read; what else is known is refused by name, with the way
// out. Files are hostile: sizes are taken from the header and checked before memory is asked for.
// Thread-safety: calls for different files may run at once.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

// Rows from the top, in a row pixels from the left, in a pixel its channels side by side:
// pixels[(y * width + x) * channels + c].
struct Picture {
    std::uint32_t height = 0, width = 0, channels = 0;
    std::vector<std::uint8_t> pixels;

    const std::uint8_t* at(std::uint32_t y, std::uint32_t x) const {
        return pixels.data() + (std::size_t{y} * width + x) * channels;
    }
    std::uint8_t* at(std::uint32_t y, std::uint32_t x) {
        return pixels.data() + (std::size_t{y} * width + x) * channels;
    }
    bool operator==(const Picture&) const = default;
};

inline constexpr std::int64_t largest_picture_side = 8192;
inline constexpr std::int64_t most_picture_pixels = 40'000'000;

struct PictureReadOptions {
    // 3 = red, green, blue; 1 = grey (Rec. 601, as Pillow's mode L); both drop a transparency. 0 =
    // as in the file: 1 grey, 2 grey and transparency, 3 colours, 4 colours and transparency.
    int channels = 3;
    // A picture with a palette gives one channel: the numbers of its colours. Masks are stored so.
    // Others are as without it.
    bool indices = false;
};

// Reads a PNG or JPEG file. 16-bit channels keep their high byte; a JPEG is turned upright as its
// EXIF tells.
Picture read_picture(const std::string& path, const PictureReadOptions& options = {});
Picture decode_picture(std::string_view bytes, const std::string& where,
                       const PictureReadOptions& options = {});

// A picture of that size, all zero; refuses sizes beyond the limits.
Picture blank_picture(std::int64_t height, std::int64_t width, std::int64_t channels,
                      const std::string& where);
void expect_picture_size(std::int64_t height, std::int64_t width, const std::string& where);

// The same picture with 1 or 3 channels; 0 leaves it as it is.
Picture with_channels(Picture picture, int channels);

// Whether the file's name is that of a picture (.png, .jpg, .jpeg, .jpe, and formats that are
// refused by name when read: a folder of them should be told so, not be called empty).
bool has_picture_name(std::string_view path);

}  // namespace fovea
