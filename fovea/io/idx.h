#pragma once
// IDX, the format of MNIST and its kin (may be gzipped): two zero bytes, the kind of the numbers,
// how many dimensions, their sizes (32 bit, the high byte first), then the numbers. Only bytes are
// read: kind 8. Pictures are [count, height, width], or [count, height, width, channels]; labels
// [count].
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/io/picture.h"

namespace fovea {

struct IdxFile {
    std::vector<std::int64_t> sizes;
    std::vector<std::uint8_t> bytes;

    std::int64_t count() const { return sizes[0]; }
    bool holds_pictures() const { return sizes.size() == 3 || sizes.size() == 4; }
    Picture picture(std::int64_t i) const;
};

IdxFile read_idx(const std::string& path);
void write_idx(const std::string& path, const IdxFile& file);  // not gzipped

// Whether the file begins as an IDX file of bytes does (gzipped or not); false where it cannot be
// read or is no regular file.
bool is_idx(const std::string& path);

}  // namespace fovea
