#pragma once
// The one way in which a file gets its name: written under another name in the same folder, synced,
// renamed, the folder synced. The old file or the new one is there, never half of one, whatever
// happens in between. Not thread-safe: one writer, one thread.
#include <cstdint>
#include <string>
#include <string_view>

namespace fovea {

class AtomicFile {
public:
    // The folder must be there. Where the size is known its space is reserved at once: a full disk
    // says so now.
    explicit AtomicFile(std::string path, std::int64_t bytes = 0);
    ~AtomicFile();  // not published: leaves nothing behind
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    void write(const void* data, std::int64_t bytes);
    void write(std::string_view text) {
        write(text.data(), static_cast<std::int64_t>(text.size()));
    }
    void finish();   // complete and synced, still under another name
    void publish();  // finished, and under its own name; replaces what was there
    const std::string& path() const { return path_; }

private:
    void flush();
    void remove() noexcept;
    std::string path_, temporary_, buffer_;
    int fd_ = -1;
};

}  // namespace fovea
