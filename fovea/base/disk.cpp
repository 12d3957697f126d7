#include "fovea/base/disk.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea::disk {
namespace {

Hook& hook() {
    static Hook h;
    return h;
}

// What a test wants of this call: 0, short_write or an errno.
int wish(Call call, const std::string& path) { return hook() ? hook()(call, path) : 0; }

[[noreturn]] void fail_io(const char* what, const std::string& path, int error) {
    const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    fail_with(ErrorKind::failed,
              full ? "free some space on that disk, or save elsewhere; files written before are "
                     "untouched"
                   : "",
              path, ": cannot ", what, ": ", std::strerror(error));
}

void check(bool ok, const char* what, const std::string& path) {
    if (!ok) fail_io(what, path, errno);
}

void obey(Call call, const char* what, const std::string& path) {
    if (const int error = wish(call, path); error > 0) fail_io(what, path, error);
}

}  // namespace

void set_hook(Hook h) { hook() = std::move(h); }

int open_new(const std::string& path, const std::string& named) {
    obey(Call::open, "create", named);
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    check(fd >= 0, "create", named);
    return fd;
}

void allocate(int fd, std::int64_t bytes, const std::string& path) {
    obey(Call::allocate, "reserve space", path);
    if (bytes == 0) return;
    int error = 0;
    do error = ::posix_fallocate(fd, 0, bytes);
    while (error == EINTR);
    // Some file systems cannot reserve; there the writes will tell.
    if (error != 0 && error != EOPNOTSUPP && error != EINVAL) fail_io("reserve space", path, error);
}

void write_all(int fd, const void* data, std::int64_t bytes, const std::string& path) {
    const char* at = static_cast<const char*>(data);
    while (bytes > 0) {
        std::int64_t piece = std::min<std::int64_t>(bytes, 1 << 20);
        ssize_t n = -1;
        const int wanted = wish(Call::write, path);
        if (wanted > 0) {
            errno = wanted;
        } else {
            if (wanted == short_write) piece = std::max<std::int64_t>(1, piece / 2);
            n = ::write(fd, at, static_cast<std::size_t>(piece));
        }
        if (n < 0 && errno == EINTR) continue;
        check(n > 0, "write", path);
        at += n;
        bytes -= n;
    }
}

void sync(int fd, const std::string& path) {
    obey(Call::sync, "sync", path);
    check(::fsync(fd) == 0, "sync", path);
}

void close(int fd, const std::string& path) {
    const int wanted = wish(Call::close, path);
    const bool closed = ::close(fd) == 0 || errno == EINTR;  // the descriptor is gone either way
    if (wanted > 0) fail_io("close", path, wanted);
    check(closed, "close", path);
}

void rename_new(const std::string& from, const std::string& to) {
    obey(Call::rename, "rename", to);
    check(::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0 ||
              // file systems without the flag: look first (the folder is locked by us)
              (errno == EINVAL && !file_exists(to) && ::rename(from.c_str(), to.c_str()) == 0),
          "rename to", to);
}

void rename_over(const std::string& from, const std::string& to) {
    obey(Call::rename, "rename", to);
    check(::rename(from.c_str(), to.c_str()) == 0, "rename to", to);
}

void make_folder(const std::string& path) {
    obey(Call::make_folder, "create the folder", path);
    check(::mkdir(path.c_str(), 0755) == 0, "create the folder", path);
}

void sync_folder(const std::string& path) {
    obey(Call::sync_folder, "sync the folder", path);
    const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == EACCES) return;  // we may write there but not look: nobody can sync it
    check(fd >= 0, "open the folder", path);
    const bool done = ::fsync(fd) == 0 || errno == EINVAL;  // EINVAL: this kind has no fsync
    const int error = errno;
    ::close(fd);
    if (!done) fail_io("sync the folder", path, error);
}

void unlink_file(const std::string& path) {
    obey(Call::unlink, "delete", path);
    check(::unlink(path.c_str()) == 0, "delete", path);
}

void remove_tree(const std::string& folder) {
    struct stat self {};
    check(::lstat(folder.c_str(), &self) == 0, "look at", folder);
    if (!S_ISDIR(self.st_mode)) return unlink_file(folder);  // a link goes, what it leads to stays
    for (const std::string& name : list_folder(folder)) {
        const std::string path = join_path(folder, name);
        struct stat s {};
        check(::lstat(path.c_str(), &s) == 0, "look at", path);
        if (S_ISDIR(s.st_mode))
            remove_tree(path);
        else
            unlink_file(path);
    }
    obey(Call::remove_folder, "delete the folder", folder);
    check(::rmdir(folder.c_str()) == 0, "delete the folder", folder);
}

std::int64_t free_space(const std::string& folder) {
    struct statvfs v {};
    if (::statvfs(folder.c_str(), &v) != 0) return -1;
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(static_cast<std::int64_t>(v.f_bavail),
                               static_cast<std::int64_t>(v.f_frsize), &bytes))
        return -1;
    return bytes;
}

std::string unique_suffix() {
    std::uint64_t random = 0;
    if (::getrandom(&random, sizeof random, 0) != sizeof random)
        random = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&random));
    char text[48];
    std::snprintf(text, sizeof text, "%ld.%08x", static_cast<long>(::getpid()),
                  static_cast<unsigned>(random));
    return text;
}

}  // namespace fovea::disk
