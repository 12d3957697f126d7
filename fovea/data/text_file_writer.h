#pragma once
// A text file written piece by piece that appears under its name whole and synced, or not at all.
// Not thread-safe: one writer, one thread.
#include <string>
#include <string_view>

namespace fovea {

class TextFileWriter {
public:
    explicit TextFileWriter(std::string path);  // the folder must be there
    ~TextFileWriter();                          // not finished: leaves nothing behind
    TextFileWriter(const TextFileWriter&) = delete;
    TextFileWriter& operator=(const TextFileWriter&) = delete;

    void write(std::string_view text);
    void finish();   // the file is complete, under another name
    void publish();  // and gets its own; replaces what was there
    const std::string& path() const { return path_; }

private:
    void flush();
    std::string path_, temporary_, buffer_;
    int fd_ = -1;
};

}  // namespace fovea
