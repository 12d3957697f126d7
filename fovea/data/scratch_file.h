#pragma once
// A file without a name, for what does not fit in memory: gone with its last handle, whatever
// happens. Not thread-safe while it is written.
#include <cstdint>
#include <memory>
#include <string>

namespace fovea {

class ScratchFile {
public:
    ScratchFile();  // in $TMPDIR, else /tmp

    void append(const void* data, std::int64_t bytes);
    std::int64_t size() const;
    std::string path() const;  // by which this process can open it again
    // All that was written, mapped for reading; lives as long as the handle.
    const void* map() const;

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace fovea
