#include "fovea/io/jpeg.h"

#include <algorithm>

namespace fovea {
namespace {

constexpr unsigned orientation_tag = 0x0112, short_type = 3;

// Numbers of an EXIF block in its own byte order; beyond its end they are 0.
struct TiffBytes {
    std::string_view bytes;
    bool little;

    unsigned byte(std::size_t at) const {
        return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0;
    }
    unsigned two(std::size_t at) const {
        return little ? byte(at) | byte(at + 1) << 8 : byte(at) << 8 | byte(at + 1);
    }
    std::size_t four(std::size_t at) const {
        const std::size_t a = two(at), b = two(at + 2);
        return little ? a | b << 16 : a << 16 | b;
    }
};

}  // namespace

int exif_orientation(std::string_view block) {
    constexpr std::string_view mark("Exif\0\0", 6);
    if (!block.starts_with(mark)) return 1;
    block.remove_prefix(mark.size());
    const TiffBytes tiff{block, block.starts_with("II")};
    if ((!tiff.little && !block.starts_with("MM")) || tiff.two(2) != 42) return 1;
    const std::size_t directory = tiff.four(4);
    if (directory >= block.size()) return 1;
    for (unsigned i = 0, n = tiff.two(directory); i < n; ++i) {
        const std::size_t entry = directory + 2 + std::size_t{12} * i;
        if (entry + 12 > block.size()) break;
        if (tiff.two(entry) != orientation_tag) continue;
        const unsigned value = tiff.two(entry + 8);
        return tiff.two(entry + 2) == short_type && value >= 1 && value <= 8
                   ? static_cast<int>(value)
                   : 1;
    }
    return 1;
}

Picture upright(Picture picture, int orientation) {
    if (orientation <= 1 || orientation > 8) return picture;
    // 5 to 8 lie on their side. Row and column of the stored picture from those of the upright one:
    // first transposed (5 to 8), then mirrored.
    const bool transposed = orientation >= 5;
    const bool flip_rows =
        orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
    const bool flip_columns =
        orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
    const std::uint32_t height = transposed ? picture.width : picture.height,
                        width = transposed ? picture.height : picture.width, c = picture.channels;
    Picture to{height, width, c, std::vector<std::uint8_t>(picture.pixels.size())};
    for (std::uint32_t y = 0; y < height; ++y)
        for (std::uint32_t x = 0; x < width; ++x) {
            const std::uint32_t mirrored_y = flip_rows ? height - 1 - y : y,
                                mirrored_x = flip_columns ? width - 1 - x : x;
            const std::uint8_t* from = transposed ? picture.at(mirrored_x, mirrored_y)
                                                  : picture.at(mirrored_y, mirrored_x);
            std::copy_n(from, c, to.at(y, x));
        }
    return to;
}

}  // namespace fovea
