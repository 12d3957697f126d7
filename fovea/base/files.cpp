#include "fovea/base/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "fovea/base/atomic_file.h"
#include "fovea/base/error.h"

namespace fovea {
namespace {

std::string reason() { return std::strerror(errno); }

// Closes on every way out.
struct Descriptor {
    int fd = -1;
    ~Descriptor() {
        if (fd >= 0) ::close(fd);
    }
};

}  // namespace

std::string read_file(const std::string& path, std::int64_t limit) {
    Descriptor d{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (d.fd < 0) throw Error(path + ": cannot open: " + reason(), ErrorKind::not_found);
    struct stat s {};
    if (::fstat(d.fd, &s) != 0 || S_ISDIR(s.st_mode))
        throw Error(path + ": is a folder, but a file is wanted", ErrorKind::not_found);
    std::string out;
    if (S_ISREG(s.st_mode)) {
        if (s.st_size > limit)
            throw Error(
                text_of(path, ": has ", s.st_size, " bytes, but at most ", limit, " are read here"),
                ErrorKind::bad_input);
        out.reserve(static_cast<std::size_t>(s.st_size));
    }
    char piece[1 << 16];
    for (;;) {
        const ssize_t n = ::read(d.fd, piece, sizeof piece);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) throw Error(path + ": cannot read: " + reason(), ErrorKind::not_found);
        if (n == 0) return out;
        out.append(piece, static_cast<std::size_t>(n));
        if (static_cast<std::int64_t>(out.size()) > limit)
            throw Error(text_of(path, ": has more than ", limit, " bytes"), ErrorKind::bad_input);
    }
}

std::string read_file_or_gzip(const std::string& path, std::int64_t limit) {
    std::string raw = read_file(path, limit);
    if (raw.size() < 2 || static_cast<unsigned char>(raw[0]) != 0x1f ||
        static_cast<unsigned char>(raw[1]) != 0x8b)
        return raw;
    z_stream z{};
    expect(inflateInit2(&z, 15 + 16) == Z_OK, path, ": cannot start decompression");
    std::string out;
    z.next_in = reinterpret_cast<Bytef*>(raw.data());
    z.avail_in = static_cast<uInt>(raw.size());
    int code = Z_OK;
    char piece[1 << 16];
    while (code == Z_OK && static_cast<std::int64_t>(out.size()) <= limit) {
        z.next_out = reinterpret_cast<Bytef*>(piece);
        z.avail_out = sizeof piece;
        code = inflate(&z, Z_NO_FLUSH);
        out.append(piece, sizeof piece - z.avail_out);
        if (code == Z_STREAM_END && z.avail_in > 0) code = inflateReset(&z);  // next gzip member
    }
    inflateEnd(&z);
    if (static_cast<std::int64_t>(out.size()) > limit)
        throw Error(text_of(path, ": decompresses to more than ", limit, " bytes"),
                    ErrorKind::bad_input);
    if (code != Z_STREAM_END)
        throw Error(path + ": the gzip data is damaged or cut off", ErrorKind::bad_input);
    return out;
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
    AtomicFile file(path, static_cast<std::int64_t>(bytes.size()));
    file.write(bytes);
    file.publish();
}

bool file_exists(const std::string& path) {
    std::error_code e;
    return std::filesystem::exists(path, e);
}

bool is_folder(const std::string& path) {
    std::error_code e;
    return std::filesystem::is_directory(path, e);
}

std::int64_t file_size(const std::string& path) {
    std::error_code e;
    const auto n = std::filesystem::file_size(path, e);
    if (e) throw Error(path + ": " + e.message(), ErrorKind::not_found);
    return static_cast<std::int64_t>(n);
}

void make_folders(const std::string& path) {
    std::error_code e;
    std::filesystem::create_directories(path, e);
    if (e) throw Error(path + ": cannot create the folder: " + e.message());
}

// readdir rather than std::filesystem, whose iterator ends the process when memory runs out.
std::vector<std::string> list_folder(const std::string& path) {
    struct Close {
        void operator()(DIR* d) const { ::closedir(d); }
    };
    const std::unique_ptr<DIR, Close> folder(::opendir(path.c_str()));
    if (!folder) throw Error(path + ": cannot list the folder: " + reason(), ErrorKind::not_found);
    std::vector<std::string> names;
    for (;;) {
        errno = 0;
        const dirent* entry = ::readdir(folder.get());
        if (!entry && errno != 0)
            throw Error(path + ": cannot list the folder: " + reason(), ErrorKind::not_found);
        if (!entry) break;
        const std::string name = entry->d_name;
        if (name != "." && name != "..") names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string join_path(const std::string& a, const std::string& b) {
    return (std::filesystem::path(a) / b).string();
}

std::string parent_path(const std::string& path) {
    const std::string p = std::filesystem::path(path).parent_path().string();
    return p.empty() ? "." : p;
}

std::string base_name(const std::string& path) {
    return std::filesystem::path(path).filename().string();
}

LineReader::LineReader(const std::string& path) : path_(path) {
    if (path == "-") {
        typed_ = ::isatty(0) == 1;
        file_ = gzdopen(::dup(0), "rb");
    } else {
        if (is_folder(path))
            throw Error(path + ": is a folder, but a file is wanted", ErrorKind::not_found);
        file_ = gzopen(path.c_str(), "rb");
    }
    if (!file_) throw Error(path + ": cannot open: " + reason(), ErrorKind::not_found);
    gzbuffer(static_cast<gzFile>(file_), 1 << 16);
}

LineReader::~LineReader() { gzclose(static_cast<gzFile>(file_)); }

bool LineReader::fill() {
    buffer_.erase(0, at_);
    at_ = 0;
    char piece[1 << 16];
    if (typed_) {  // zlib would wait until the piece is full
        const ssize_t n = ::read(0, piece, sizeof piece);
        if (n > 0) buffer_.append(piece, static_cast<std::size_t>(n));
        return n > 0;
    }
    const int n = gzread(static_cast<gzFile>(file_), piece, sizeof piece);
    int code = Z_OK;
    const char* message = gzerror(static_cast<gzFile>(file_), &code);
    if (n < 0 || code < 0) {
        std::string what = message;
        if (what.rfind(path_ + ": ", 0) == 0) what.erase(0, path_.size() + 2);  // zlib names it too
        throw Error(text_of(path_, ":", number_ + 1, ": cannot read: ", what),
                    ErrorKind::bad_input);
    }
    if (n == 0) return false;
    buffer_.append(piece, static_cast<std::size_t>(n));
    return true;
}

bool LineReader::next(std::string& line) {
    std::size_t from = at_;
    for (;;) {
        const std::size_t newline = buffer_.find('\n', from);
        if (newline != std::string::npos) {
            line.assign(buffer_, at_, newline - at_);
            at_ = newline + 1;
            break;
        }
        from = buffer_.size() - at_;  // fill() moves the rest to the front
        if (end_ || !fill()) {
            end_ = true;
            if (at_ == buffer_.size()) return false;
            line.assign(buffer_, at_, std::string::npos);
            at_ = buffer_.size();
            break;
        }
    }
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (number_ == 0 && line.rfind("\xEF\xBB\xBF", 0) == 0) line.erase(0, 3);
    ++number_;
    return true;
}

}  // namespace fovea
