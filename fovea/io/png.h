#pragma once
// PNG by libpng's low-level interface: grey, palette, 16 bit, transparency and interlaced ones are
// read. Chunks other than IHDR, PLTE, tRNS, IDAT and IEND are skipped unread (compressed texts and
// profiles are where libpng's holes were), and what libpng only warns of is an error.
#include <string>
#include <string_view>

#include "fovea/io/picture.h"

namespace fovea {

bool is_png(std::string_view bytes);

struct PngOptions {
    bool indices = false;  // the numbers of a palette's colours instead of the colours
};

// Channels as in the file: 1 to 4; a palette gives 3, or 4 where it has transparency.
Picture decode_png(std::string_view bytes, const std::string& where,
                   const PngOptions& options = {});

// 1 channel grey, 2 grey and transparency, 3 colours, 4 colours and transparency; 8 bits each.
std::string encode_png(const Picture& picture);
void write_png(const std::string& path, const Picture& picture);

}  // namespace fovea
