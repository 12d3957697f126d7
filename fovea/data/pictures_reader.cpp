// Pictures by their names.
#include <charconv>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/pictures.h"
#include "fovea/data/split.h"

namespace fovea {

std::shared_ptr<const IdxFile> PictureReader::idx(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const IdxFile>& file = files_[path];
    if (!file) file = std::make_shared<const IdxFile>(read_idx(path));
    return file;
}

std::optional<Picture> PictureReader::idx_entry(const std::string& name) const {
    const std::size_t mark = name.rfind('#');
    if (mark == std::string::npos || file_exists(name)) return {};
    std::int64_t entry = -1;
    const char* end = name.data() + name.size();
    const auto number = std::from_chars(name.data() + mark + 1, end, entry);
    const std::shared_ptr<const IdxFile> file = idx(name.substr(0, mark));
    expect_input(number.ec == std::errc() && number.ptr == end && entry >= 0 &&
                     file->holds_pictures() && entry < file->count(),
                 name, ": there is no such picture");
    return file->picture(entry);
}

Picture PictureReader::read_one(const std::string& name, int channels) const {
    if (std::optional<Picture> entry = idx_entry(name))
        return with_channels(std::move(*entry), channels);
    return read_picture(name, {.channels = channels});
}

std::uint64_t PictureReader::content_hash(std::span<const std::string> names) const {
    std::vector<std::string> contents;
    for (const std::string& name : names) {
        if (const std::optional<Picture> entry = idx_entry(name))
            contents.emplace_back(entry->pixels.begin(), entry->pixels.end());
        else
            contents.push_back(read_file(name));
    }
    return record_hash(contents);
}

Picture PictureReader::read(std::span<const std::string> names, int channels) const {
    expect(!names.empty(), "pictures: no name");
    if (names.size() == 1) return read_one(names[0], channels);
    std::vector<Picture> parts;
    std::uint32_t total = 0;
    for (const std::string& name : names) {
        parts.push_back(read_one(name, channels));
        const Picture &first = parts[0], &own = parts.back();
        expect_input(own.height == first.height && own.width == first.width, name, ": is ",
                     own.width, " × ", own.height, " pixels, but ", names[0], " is ", first.width,
                     " × ", first.height);
        total += own.channels;
    }
    expect_input(total <= 96, names[0], ": ", total,
                 " channels with those beside it, but at most 96 can be");
    Picture joined = blank_picture(parts[0].height, parts[0].width, total, names[0]);
    std::uint8_t* to = joined.pixels.data();
    for (std::size_t i = 0; i < std::size_t{joined.height} * joined.width; ++i)
        for (const Picture& p : parts) {
            std::memcpy(to, p.pixels.data() + i * p.channels, p.channels);
            to += p.channels;
        }
    return joined;
}

}  // namespace fovea
