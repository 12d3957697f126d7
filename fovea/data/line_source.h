#pragma once
// The lines of a text file, the first of which can be looked at before it is taken: the only way
// to tell what a pipe holds. Not thread-safe: it belongs to one thread.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fovea/base/files.h"

namespace fovea {

class LineSource {
public:
    explicit LineSource(const std::string& path) : in_(path) {}

    const std::string* peek() {  // the next line; nullptr at the end of the file
        if (!next_) {
            std::string line;
            if (!in_.next(line)) return nullptr;
            next_ = std::move(line);
        }
        return &*next_;
    }

    bool next(std::string& line) {
        if (next_) {
            line = std::move(*next_);
            next_.reset();
            ++taken_;
            return true;
        }
        if (!in_.next(line)) return false;
        ++taken_;
        return true;
    }

    std::int64_t line_number() const { return taken_; }  // of the line last taken, from 1
    const std::string& path() const { return in_.path(); }

private:
    LineReader in_;
    std::optional<std::string> next_;
    std::int64_t taken_ = 0;
};

// The first `most` lines of a file, up to 4 MiB of them: a look before it is read.
inline constexpr std::size_t lines_for_a_guess = 20000;
inline std::vector<std::string> first_lines(const std::string& path, std::size_t most) {
    LineSource source(path);
    std::vector<std::string> lines;
    std::size_t bytes = 0;
    for (std::string line;
         lines.size() < most && bytes < (std::size_t{4} << 20) && source.next(line);) {
        bytes += line.size();
        lines.push_back(std::move(line));
    }
    return lines;
}

}  // namespace fovea
