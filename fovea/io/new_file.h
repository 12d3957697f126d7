#pragma once
// A file of a checkpoint in the making: created exclusively, its space reserved, hashed on the way,
// synced and closed with every result checked. Unless finish() is reached the file is removed. Its
// folder gets its name when all files are done; a file on its own is an AtomicFile (base).
// Not thread-safe: one writer, one thread.
#include <cstdint>
#include <string>
#include <string_view>

#include "fovea/io/hash.h"

namespace fovea {

class NewFile {
public:
    NewFile(std::string path, std::int64_t bytes);  // `bytes` to come, exactly
    ~NewFile();
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    void write(const void* data, std::int64_t bytes);
    void write(std::string_view text) {
        write(text.data(), static_cast<std::int64_t>(text.size()));
    }
    FileHash finish();
    const std::string& path() const { return path_; }

private:
    std::string path_;
    std::int64_t promised_, written_ = 0;
    int fd_ = -1;
    Hash128 hash_;
};

}  // namespace fovea
