#include "fovea/base/atomic_file.h"

#include <unistd.h>

#include <utility>

#include "fovea/base/disk.h"
#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea {
namespace {

constexpr std::int64_t gathered = 1 << 16;  // bytes of small writes that make one system call

}  // namespace

AtomicFile::AtomicFile(std::string path, std::int64_t bytes)
    : path_(std::move(path)), temporary_(path_ + ".tmp-" + disk::unique_suffix()) {
    fd_ = disk::open_new(temporary_, path_);
    try {
        disk::allocate(fd_, bytes, path_);
    } catch (...) {
        remove();
        throw;
    }
}

AtomicFile::~AtomicFile() { remove(); }

void AtomicFile::remove() noexcept {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, std::int64_t bytes) {
    expect(fd_ >= 0 && bytes >= 0, path_, ": written to after its end");
    if (bytes < gathered) {
        buffer_.append(static_cast<const char*>(data), static_cast<std::size_t>(bytes));
        if (static_cast<std::int64_t>(buffer_.size()) >= gathered) flush();
        return;
    }
    flush();
    disk::write_all(fd_, data, bytes, path_);
}

void AtomicFile::flush() {
    disk::write_all(fd_, buffer_.data(), static_cast<std::int64_t>(buffer_.size()), path_);
    buffer_.clear();
}

void AtomicFile::finish() {
    if (fd_ < 0) return;
    flush();
    disk::sync(fd_, path_);
    disk::close(std::exchange(fd_, -1), path_);
}

void AtomicFile::publish() {
    finish();
    disk::rename_over(temporary_, path_);
    temporary_.clear();
    disk::sync_folder(parent_path(path_));
}

}  // namespace fovea
