#include "fovea/data/json_elements.h"

#include <cctype>

#include "fovea/base/error.h"

namespace fovea {
namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// A file whose first line opens a list of records. A line that is a list of plain values,
// ["a text", "a label"], is a record of JSON lines.
bool opens_list_of_records(const std::string* line) {
    if (!line) return false;
    std::size_t at = 0;
    const auto skip = [&] {
        while (at < line->size() && is_space((*line)[at])) ++at;
    };
    skip();
    if (at == line->size() || (*line)[at] != '[') return false;
    ++at;
    skip();
    return at == line->size() || (*line)[at] == '{' || (*line)[at] == '[';
}

}  // namespace

JsonElements::JsonElements(std::shared_ptr<LineSource> lines) : lines_(std::move(lines)) {
    list_ = opens_list_of_records(lines_->peek());
    char c = 0;
    while (list_ && next_byte(c) && c != '[') {
    }
}

bool JsonElements::next_byte(char& c) {
    while (at_ >= buffer_.size()) {
        if (!lines_->next(buffer_)) return false;
        buffer_.push_back('\n');
        at_ = 0;
    }
    c = buffer_[at_++];
    return true;
}

bool JsonElements::next(std::string& text) {
    if (list_) return next_of_list(text);
    if (!lines_->next(text)) return false;
    line_ = lines_->line_number();
    return true;
}

// Up to the comma or bracket that ends it: braces and brackets inside are counted, strings passed.
bool JsonElements::next_of_list(std::string& text) {
    text.clear();
    int depth = 0;
    bool quoted = false, escaped = false;
    char c = 0;
    while (!ended_) {
        if (!next_byte(c)) {
            if (!text.empty()) break;  // the parser says what is wrong with it
            fail_with(ErrorKind::bad_input, "is the file cut off?", path(), ":",
                      lines_->line_number(), ": the list of records does not end");
        }
        if (text.empty() && (is_space(c) || c == ',')) continue;
        if (!quoted && depth == 0 && (c == ',' || c == ']')) {
            ended_ = c == ']';
            break;
        }
        if (text.empty()) line_ = lines_->line_number();
        text.push_back(c == '\n' ? ' ' : c);
        if (quoted) {
            quoted = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            ++depth;
        } else if (c == '}' || c == ']') {
            --depth;
        }
    }
    while (!text.empty() && is_space(text.back())) text.pop_back();
    return !text.empty();
}

}  // namespace fovea
