#pragma once
// Writes JSON straight into a string, members in the order they come, without a tree of values: a
// vocabulary of 50,000 tokens through a tree would take a second and 20 MB, and nlohmann's tree
// allocates when it is destroyed, so that running out of memory in the middle of a save would end
// the process. Here it is an exception like any other.
// Thread-safety: a plain value.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace fovea {

class JsonWriter {
public:
    enum class Style { one_line, indented };  // {"a":1} or two spaces for each level
    explicit JsonWriter(Style style = Style::one_line) : indented_(style == Style::indented) {}

    void open(char bracket);   // { or [, as a value
    void close(char bracket);  // } or ]
    JsonWriter& key(std::string_view name);
    void value(std::string_view s);  // bytes that are not UTF-8 become U+FFFD
    void value(const char* s) { value(std::string_view(s)); }
    void value(bool b) { raw(b ? "true" : "false"); }
    void value(int n) { value(std::int64_t{n}); }
    void value(std::int64_t n) { raw(std::to_string(n)); }
    void value(std::uint64_t n) { raw(std::to_string(n)); }
    void value(double x);  // the shortest text that reads back as the same number; must be finite
    void null() { raw("null"); }

    const std::string& text() const { return out_; }
    std::string take() { return std::move(out_); }

private:
    void raw(std::string_view s);
    void separate();  // the comma and the line before a value or a key
    void new_line();
    void quote(std::string_view s);

    std::string out_;
    bool indented_;
    int depth_ = 0;
    bool first_ = true;  // nothing yet in this object or array
    bool after_key_ = false;
};

}  // namespace fovea
