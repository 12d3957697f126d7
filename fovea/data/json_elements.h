#pragma once
// The records of a JSON file, one after the other: the lines of JSON lines, or the elements of one
// list ([{…}, {…}], over as many lines as it likes), without reading the whole of it.
// Not thread-safe: it belongs to one thread.
#include <cstdint>
#include <memory>
#include <string>

#include "fovea/data/line_source.h"

namespace fovea {

class JsonElements {
public:
    explicit JsonElements(std::shared_ptr<LineSource> lines);

    // The text of the next record; false at the end. What is no JSON is handed on as it is: the
    // parser says what is wrong with it.
    bool next(std::string& text);
    std::int64_t line_number() const { return line_; }  // where it begins, from 1
    const std::string& path() const { return lines_->path(); }

private:
    bool next_of_list(std::string& text);
    bool next_byte(char& c);

    std::shared_ptr<LineSource> lines_;
    bool list_ = false;
    bool ended_ = false;
    std::string buffer_;  // the line that is being read
    std::size_t at_ = 0;
    std::int64_t line_ = 0;
};

}  // namespace fovea
