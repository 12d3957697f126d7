#pragma once
// The system calls that saving makes, in one place: each checks its result, says which file failed
// and why, and can be made to fail by a test. fsync is never tried twice on one file: after a
// failure the kernel may have dropped the data and report success.
#include <cstdint>
#include <functional>
#include <string>

namespace fovea::disk {

enum class Call {
    open,
    allocate,
    write,
    sync,
    close,
    rename,
    unlink,
    make_folder,
    remove_folder,
    sync_folder
};

// Tests only (not thread-safe): asked before every call; 0 goes on, short_write lets a write take
// half of its bytes, any other number is the errno to fail with.
inline constexpr int short_write = -1;
using Hook = std::function<int(Call, const std::string& path)>;
void set_hook(Hook hook);

// The file must not exist yet; mode 0644. Errors speak of `named`: the file a user knows, where
// `path` is a temporary.
int open_new(const std::string& path, const std::string& named);
void allocate(int fd, std::int64_t bytes, const std::string& path);  // no disk: now, not at 99 %
void write_all(int fd, const void* data, std::int64_t bytes, const std::string& path);
void sync(int fd, const std::string& path);
void close(int fd, const std::string& path);
void rename_new(const std::string& from, const std::string& to);  // `to` must not exist
void rename_over(const std::string& from, const std::string& to);
void make_folder(const std::string& path);  // must not exist yet
void sync_folder(const std::string& path);

void unlink_file(const std::string& path);
void remove_tree(const std::string& folder);  // the folder and all it holds

// Bytes that an ordinary user may still write there; -1 where nobody knows.
std::int64_t free_space(const std::string& folder);

// A name for a temporary beside `path` that no other process picks.
std::string unique_suffix();

}  // namespace fovea::disk
