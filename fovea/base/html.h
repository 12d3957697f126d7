#pragma once
// Text inside a page. Thread-safety: pure functions.
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

// JSON inside a <script> element, which nothing in it can end.
inline std::string json_in_page(std::string_view json) {
    std::string out;
    for (const char c : json) {
        if (c == '<')
            out += "\\u003c";
        else
            out += c;
    }
    return out;
}

}  // namespace fovea
