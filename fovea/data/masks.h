#pragma once
// Pictures with masks that say what each pixel shows. They come as
//   a folder that holds two, of pictures (images, pictures, imgs, photos) and of masks (masks,
//     labels, annotations), whose files have equal names but for the ending;
//   two such folders, as images,masks;
//   a list of names (a .txt file) beside two such folders: one name a line, without the ending;
//   a table (.tsv, .csv, .jsonl) of a picture and a mask a row, paths relative to the table.
// Masks are PNG files of one channel (or a palette), as large as their pictures.
// Thread-safety: pure functions and plain values.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fovea/data/records.h"
#include "fovea/io/picture.h"

namespace fovea {

struct MaskedPicture {
    std::string picture, mask;  // paths
};

struct MaskedFiles {
    std::vector<std::string> paths;
    std::string picture_key{}, mask_key{};  // columns of a table; empty: by the names people use
    std::int64_t limit = 0;                 // only the first so many; 0: all
};

std::vector<MaskedPicture> read_masked(const MaskedFiles& files);

// Does the folder hold one of pictures and one of masks?
bool is_masked_folder(const std::string& path);

// Which number of a mask file is which label. The numbers are those of all masks: 0 and 255 (or 0
// and 1) are the background and the one thing there is; 0, 1, 2 … are labels, and 255 among three
// or more is no label at all: such a pixel does not count.
struct MaskValues {
    static constexpr std::uint8_t ignored = 255;
    std::vector<std::uint8_t> values;  // of label 0, 1, …, rising
    bool has_ignored = false;

    std::size_t labels() const { return values.size(); }
    // `ignored` for a value that does not count; an unknown one is an error that names the file.
    std::vector<std::uint8_t> labels_of(const Picture& mask, const std::string& where) const;
    Picture mask_of(const std::vector<std::uint8_t>& labels, std::uint32_t height,
                    std::uint32_t width) const;
};

// Of values that were seen (with how often). More than 64 different ones are no mask.
MaskValues mask_values_of(const std::map<int, std::int64_t>& seen, const std::string& where);

Picture read_mask(const std::string& path);  // one channel, numbers as in the file

// A picture with its mask, of equal sizes; other sizes are an error that names both.
struct LoadedMask {
    Picture picture, mask;
};
LoadedMask load_masked(const MaskedPicture& files, int channels);

// Otsu 1979: the grey level that parts a picture into two classes of the least variance within.
// Pixels above it are 1.
std::vector<std::uint8_t> otsu_mask(const Picture& picture);

}  // namespace fovea
