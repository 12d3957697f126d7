#pragma once
// The lines of a text file, the first of which can be looked at before it is taken: the only way
// to tell what a pipe holds. Not thread-safe: it belongs to one thread.
#include <optional>
#include <string>
#include <utility>

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

}  // namespace fovea
