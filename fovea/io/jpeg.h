#pragma once
// JPEG by libjpeg-turbo: baseline and progressive, grey and colours. What the library only warns of
// is an error, so that half a picture never passes for a whole one; a file of more than a hundred
// scans is refused (they make a small file work for minutes), and so is one that wants more memory
// than the largest picture needs. CMYK and 12 bit are refused by name.
#include <string>
#include <string_view>

#include "fovea/io/picture.h"

namespace fovea {

bool is_jpeg(std::string_view bytes);

// 1 channel or 3, turned upright as its EXIF orientation tells.
Picture decode_jpeg(std::string_view bytes, const std::string& where);

// Orientation 1 to 8 of an EXIF block ("Exif\0\0", then TIFF's header); 1 where there is none or it
// is damaged: the picture itself is not.
int exif_orientation(std::string_view block);

// The picture turned and mirrored from that orientation to upright.
Picture upright(Picture picture, int orientation);

}  // namespace fovea
