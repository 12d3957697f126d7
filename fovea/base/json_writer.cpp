#include "fovea/base/json_writer.h"

#include <charconv>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"

namespace fovea {

void JsonWriter::open(char bracket) {
    separate();
    out_ += bracket;
    ++depth_;
    first_ = true;
}

void JsonWriter::close(char bracket) {
    --depth_;
    if (!first_) new_line();
    out_ += bracket;
    first_ = false;
}

JsonWriter& JsonWriter::key(std::string_view name) {
    separate();
    quote(name);
    out_ += indented_ ? ": " : ":";
    after_key_ = true;
    return *this;
}

void JsonWriter::value(std::string_view s) {
    separate();
    quote(s);
}

void JsonWriter::value(double x) {
    expect(std::isfinite(x), "json: ", x, " cannot be written");
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, x).ptr;
    const std::string_view s(text, static_cast<std::size_t>(end - text));
    raw(s);
    // so that it is read as a fraction again, -0.0 too
    if (s.find_first_of(".e") == std::string_view::npos) out_ += ".0";
}

void JsonWriter::raw(std::string_view s) {
    separate();
    out_ += s;
}

void JsonWriter::separate() {
    if (after_key_) {
        after_key_ = false;
        return;
    }
    if (depth_ == 0) return;
    if (!first_) out_ += ',';
    first_ = false;
    new_line();
}

void JsonWriter::new_line() {
    if (!indented_) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(depth_) * 2, ' ');
}

void JsonWriter::quote(std::string_view s) {
    if (!is_utf8(s)) return quote(repair_utf8(s));
    // What follows the backslash for the control characters from \b (8) to \r (13); \v has none.
    static constexpr char digits[] = "0123456789abcdef";
    out_ += '"';
    for (const char c : s) {
        const auto b = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out_ += '\\';
            out_ += c;
        } else if (b >= 0x20) {
            out_ += c;
        } else if (b >= 8 && b <= 13 && b != 11) {
            out_ += '\\';
            out_ += "btn?fr"[b - 8];
        } else {
            out_ += "\\u00";
            out_ += digits[b >> 4];
            out_ += digits[b & 15];
        }
    }
    out_ += '"';
}

}  // namespace fovea
