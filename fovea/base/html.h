#pragma once
// Text inside a page. Thread-safety: a pure function.
#include <string>
#include <string_view>

namespace fovea {

// So that no text can be taken for markup, inside elements and quoted attributes.
inline std::string html_escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

}  // namespace fovea
