#include "fovea/io/idx.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea {
namespace {

constexpr std::int64_t most_idx_bytes = std::int64_t{1} << 31;
constexpr std::uint8_t kind_of_bytes = 8;

// The file decompressed, as a stream: a small file may stand for gigabytes, so no more is read than
// its header tells of.
class IdxStream {
public:
    explicit IdxStream(const std::string& path) : file_(gzopen(path.c_str(), "rb")) {
        if (!file_)
            fail_with(ErrorKind::not_found, "is the name right?", path, ": cannot be opened");
    }
    ~IdxStream() { gzclose(file_); }
    IdxStream(const IdxStream&) = delete;
    IdxStream& operator=(const IdxStream&) = delete;

    std::size_t read(std::uint8_t* to, std::size_t n) {  // fewer at the end, or where it is damaged
        const int got = gzread(file_, to, static_cast<unsigned>(n));
        return got < 0 ? 0 : static_cast<std::size_t>(got);
    }

private:
    gzFile file_;
};

[[noreturn]] void bad_idx(const std::string& path, const std::string& what) {
    fail_with(ErrorKind::bad_input, "the file is damaged, or not an IDX file: fetch it again", path,
              ": ", what);
}

std::vector<std::int64_t> read_sizes(IdxStream& stream, const std::string& path) {
    std::uint8_t head[4];
    if (stream.read(head, 4) != 4 || head[0] != 0 || head[1] != 0)
        bad_idx(path, "does not begin as an IDX file");
    if (head[2] != kind_of_bytes)
        bad_idx(path,
                text_of("holds numbers of kind ", int{head[2]}, ", but only bytes (8) are read"));
    if (head[3] < 1 || head[3] > 4)
        bad_idx(path, text_of("has ", int{head[3]}, " dimensions, but 1 to 4 can be"));
    std::vector<std::int64_t> sizes;
    std::int64_t total = 1;
    for (int i = 0; i < head[3]; ++i) {
        std::uint8_t b[4];
        if (stream.read(b, 4) != 4) bad_idx(path, "ends within its header");
        sizes.push_back(std::int64_t{b[0]} << 24 | b[1] << 16 | b[2] << 8 | b[3]);
        if (sizes.back() < 1) bad_idx(path, "has a dimension of size 0");
        if (sizes.back() > most_idx_bytes / total)
            bad_idx(path, "tells of more than two gigabytes");
        total *= sizes.back();
    }
    if (sizes.size() >= 3) expect_picture_size(sizes[1], sizes[2], path);
    if (sizes.size() == 4 && sizes[3] > 4)
        bad_idx(path, text_of("has pictures of ", sizes[3], " channels, but 1 to 4 can be"));
    return sizes;
}

}  // namespace

IdxFile read_idx(const std::string& path) {
    if (!file_exists(path))
        fail_with(ErrorKind::not_found, "is the name right?", path, ": there is no such file");
    IdxStream stream(path);
    IdxFile file{read_sizes(stream, path), {}};
    std::size_t total = 1;
    for (const std::int64_t size : file.sizes) total *= static_cast<std::size_t>(size);
    // In portions: memory follows what is there, not what the header tells.
    for (std::size_t at = 0; at < total;) {
        const std::size_t portion = std::min<std::size_t>(total - at, std::size_t{1} << 22);
        file.bytes.resize(at + portion);
        const std::size_t got = stream.read(file.bytes.data() + at, portion);
        if (got != portion)
            bad_idx(path, text_of("ends after ", at + got, " of ", total, " bytes"));
        at += got;
    }
    std::uint8_t more;
    if (stream.read(&more, 1) != 0)
        bad_idx(path, text_of("goes on behind the ", total, " bytes its header tells of"));
    return file;
}

void write_idx(const std::string& path, const IdxFile& file) {
    std::string bytes{'\0', '\0', static_cast<char>(kind_of_bytes),
                      static_cast<char>(file.sizes.size())};
    for (const std::int64_t size : file.sizes)
        for (int shift = 24; shift >= 0; shift -= 8)
            bytes += static_cast<char>(size >> shift & 255);
    bytes.append(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
    write_file_atomically(path, bytes);
}

bool is_idx(const std::string& path) {
    // Only regular files: a look into a pipe would take its first bytes away.
    std::error_code unreadable;
    if (!std::filesystem::is_regular_file(path, unreadable)) return false;
    const gzFile file = gzopen(path.c_str(), "rb");
    if (!file) return false;
    std::uint8_t head[4] = {};
    const int got = gzread(file, head, 4);
    gzclose(file);
    return got == 4 && head[0] == 0 && head[1] == 0 && head[2] == kind_of_bytes && head[3] >= 1 &&
           head[3] <= 4;
}

Picture IdxFile::picture(std::int64_t i) const {
    expect(holds_pictures() && i >= 0 && i < count(), "idx: picture ", i, " of a file of ",
           sizes.size(), " dimensions and ", sizes[0], " entries");
    const std::int64_t channels = sizes.size() == 4 ? sizes[3] : 1;
    Picture p = blank_picture(sizes[1], sizes[2], channels, "idx");
    std::memcpy(p.pixels.data(), bytes.data() + static_cast<std::size_t>(i) * p.pixels.size(),
                p.pixels.size());
    return p;
}

}  // namespace fovea
