#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/inspect/attention_view.h"

namespace fovea {
namespace {

struct Shade {
    float from;
    const char* cell;
    const char* says;
};
constexpr Shade shades[] = {{0.6f, "██", "60 % and more"},
                            {0.3f, "▓▓", "30 %"},
                            {0.12f, "▒▒", "12 %"},
                            {0.04f, "░░", "4 %"},
                            {0.0f, "· ", "less"}};

const char* shade_of(float weight) {
    for (const Shade& s : shades)
        if (weight >= s.from) return s.cell;
    return shades[4].cell;
}

// Letters that a terminal draws two columns wide: East Asian ones and pictures (Unicode's
// EastAsianWidth.txt, by its large blocks).
bool is_wide(char32_t c) {
    return (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) ||
           (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) ||
           (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
           (c >= 0xFFE0 && c <= 0xFFE6) || (c >= 0x1F300 && c <= 0x1FAFF) ||
           (c >= 0x20000 && c <= 0x3FFFD);
}

struct Letter {
    std::string text;
    std::size_t columns = 1;
};

// A token's first letters, so many columns at most. Control codes become pictures of themselves:
// a text must not move the cursor.
std::vector<Letter> letters_of(const std::string& token, std::size_t most) {
    std::vector<Letter> letters;
    std::size_t columns = 0;
    for (std::size_t at = 0; at < token.size();) {
        const std::size_t from = at;
        const char32_t c = next_code_point(token, at);
        Letter l{token.substr(from, at - from), is_wide(c) ? std::size_t{2} : std::size_t{1}};
        if (c < 0x20) l.text = std::string("\xE2\x90") + static_cast<char>(0x80 + c);
        if (c == 0x7F || (c >= 0x80 && c < 0xA0) || c == replacement_char) l.text = "\xE2\x90\xA1";
        if ((columns += l.columns) > most) break;
        letters.push_back(std::move(l));
    }
    return letters;
}

Letter one_line(const std::string& token, std::size_t most) {
    Letter all{"", 0};
    for (const Letter& l : letters_of(token, most)) {
        all.text += l.text;
        all.columns += l.columns;
    }
    return all;
}

// Keys from top to bottom, ending right above their column.
std::string key_lines(const std::vector<std::string>& keys, std::size_t count, std::size_t indent) {
    constexpr std::size_t longest = 8;
    std::vector<std::vector<Letter>> columns;
    std::size_t height = 1;
    for (std::size_t k = 0; k < count; ++k) {
        columns.push_back(letters_of(keys[k], longest));
        height = std::max(height, columns.back().size());
    }
    std::string out;
    for (std::size_t line = 0; line < height; ++line) {
        std::string text(indent, ' ');
        for (const auto& letters : columns) {
            const std::size_t above = height - letters.size();
            if (line < above)
                text += "  ";
            else
                text += letters[line - above].text + (letters[line - above].columns > 1 ? "" : " ");
        }
        out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
    }
    return out;
}

}  // namespace

std::string terminal_legend() {
    std::string out = "weights:";
    for (const Shade& s : shades) out += std::string("  ") + s.cell + " " + s.says;
    return out + "   blank: hidden by the mask\n";
}

std::string terminal_picture(const AttentionView& view, const AttentionMap& map,
                             const PictureOptions& options) {
    constexpr std::size_t longest = 12;  // columns of a query's name
    const auto &queries = view.queries(map), &keys = view.keys(map);
    std::size_t label = 0;
    for (const std::string& q : queries) label = std::max(label, one_line(q, longest).columns);
    const auto room =
        static_cast<std::size_t>(std::max(8, (options.width - static_cast<int>(label) - 4) / 2));
    const std::size_t shown_keys = std::min(keys.size(), room);
    const std::string& head = map.heads[options.head];
    const bool numbered = head.find_first_not_of("0123456789") == std::string::npos;
    std::string out = map.title + " (" + (numbered ? "head " : "") + head + ")\n" +
                      key_lines(keys, shown_keys, label + 2);
    for (std::size_t q = 0; q < queries.size(); ++q) {
        const Letter name = one_line(queries[q], longest);
        out += std::string(label - name.columns, ' ') + name.text + " ▕";
        for (std::size_t k = 0; k < shown_keys; ++k)
            out +=
                map.visible(q, k, options.head) ? shade_of(map.weight[options.head][q][k]) : "  ";
        out += "▏\n";
    }
    if (shown_keys < keys.size())
        out += text_of("(", keys.size() - shown_keys,
                       " more keys: widen the terminal, or see the page)\n");
    return out;
}

}  // namespace fovea
