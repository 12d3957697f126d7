#include "fovea/io/new_file.h"

#include <unistd.h>

#include <utility>

#include "fovea/base/disk.h"
#include "fovea/base/error.h"

namespace fovea {

NewFile::NewFile(std::string path, std::int64_t bytes) : path_(std::move(path)), promised_(bytes) {
    fd_ = disk::open_new(path_, path_);
    try {
        disk::allocate(fd_, bytes, path_);
    } catch (...) {
        ::close(std::exchange(fd_, -1));
        ::unlink(path_.c_str());
        throw;
    }
}

NewFile::~NewFile() {
    if (fd_ < 0) return;
    ::close(fd_);
    ::unlink(path_.c_str());
}

void NewFile::write(const void* data, std::int64_t bytes) {
    expect(bytes >= 0 && bytes <= promised_ - written_, path_, ": ", written_ + bytes,
           " bytes written but ", promised_, " promised");
    disk::write_all(fd_, data, bytes, path_);
    hash_.add(data, bytes);
    written_ += bytes;
}

FileHash NewFile::finish() {
    expect(written_ == promised_, path_, ": ", written_, " bytes written but ", promised_,
           " promised");
    disk::sync(fd_, path_);
    try {
        disk::close(std::exchange(fd_, -1), path_);
    } catch (...) {
        ::unlink(path_.c_str());
        throw;
    }
    return {written_, hash_.hex()};
}

}  // namespace fovea
