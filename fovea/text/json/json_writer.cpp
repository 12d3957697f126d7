#include "fovea/text/json/json_writer.h"

#include <charconv>
#include <cmath>

#include "fovea/base/error.h"

namespace fovea::text {

void JsonWriter::quote(std::string_view s) {
    out_ += '"';
    for (const char c : s) {
        switch (c) {
            case '"':
                out_ += "\\\"";
                break;
            case '\\':
                out_ += "\\\\";
                break;
            case '\n':
                out_ += "\\n";
                break;
            case '\r':
                out_ += "\\r";
                break;
            case '\t':
                out_ += "\\t";
                break;
            case '\b':
                out_ += "\\b";
                break;
            case '\f':
                out_ += "\\f";
                break;
            default:
                if (static_cast<unsigned char>(c) < 0x20) {
                    static const char digits[] = "0123456789abcdef";
                    out_ += "\\u00";
                    out_ += digits[c >> 4];
                    out_ += digits[c & 15];
                } else {
                    out_ += c;
                }
        }
    }
    out_ += '"';
}

void JsonWriter::value(double x) {
    expect(std::isfinite(x), "json: ", x, " cannot be written");
    separate();
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, x).ptr;
    const std::string_view s(text, static_cast<std::size_t>(end - text));
    out_ += s;
    if (s.find_first_of(".e") == std::string_view::npos) out_ += ".0";
}

}  // namespace fovea::text
