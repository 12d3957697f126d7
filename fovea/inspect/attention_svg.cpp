// Attention maps as pictures of lines and squares: for pages and for documents.
#include <fmt/core.h>

#include <algorithm>

#include "fovea/base/html.h"
#include "fovea/base/utf8.h"
#include "fovea/inspect/attention_view.h"

namespace fovea {
namespace {

constexpr int cell = 18, gap = 24;

// So many letters at most, or the picture is all margin.
std::string short_token(const std::string& token) {
    const std::u32string letters = decode_utf8(token);
    if (letters.size() <= 12) return html_escaped(token);
    std::string out;
    for (const char32_t c : letters.substr(0, 11)) append_utf8(out, c);
    return html_escaped(out + "…");
}

int widest(const std::vector<std::string>& tokens) {
    std::size_t most = 1;
    for (const std::string& t : tokens)
        most = std::max(most, std::min<std::size_t>(12, decode_utf8(t).size()));
    return static_cast<int>(most);
}

struct Margins {
    int left, top, right;  // right: the last key's name leans over the edge
};

Margins margins_of(const AttentionView& view, const AttentionMap& map) {
    const int keys = widest(view.keys(map));
    return {12 + 7 * widest(view.queries(map)), 12 + 7 * keys, 4 + 4 * keys};
}

}  // namespace

SvgSize map_svg_size(const AttentionView& view, const AttentionMap& map) {
    const Margins m = margins_of(view, map);
    return {m.left + cell * static_cast<int>(view.keys(map).size()) + m.right,
            m.top + cell * static_cast<int>(view.queries(map).size()) + 4};
}

std::string map_svg(const AttentionView& view, const AttentionMap& map, int x, int y) {
    const SvgSize size = map_svg_size(view, map);
    const Margins m = margins_of(view, map);
    const auto &queries = view.queries(map), &keys = view.keys(map);
    std::string svg = fmt::format(
        "<svg x='{2}' y='{3}' width='{0}' height='{1}' "
        "viewBox='0 0 {0} {1}' role='img' font-family='sans-serif' font-size='12' fill='#777'>",
        size.width, size.height, x, y);
    for (std::size_t k = 0; k < keys.size(); ++k)
        svg += fmt::format("<text transform='translate({},{}) rotate(-60)'>{}</text>",
                           m.left + cell * static_cast<int>(k) + cell / 2 + 4, m.top - 6,
                           short_token(keys[k]));
    for (std::size_t q = 0; q < queries.size(); ++q) {
        const int line = m.top + cell * static_cast<int>(q);
        svg += fmt::format("<text x='{}' y='{}' text-anchor='end'>{}</text>", m.left - 6,
                           line + cell - 5, short_token(queries[q]));
        for (std::size_t k = 0; k < keys.size(); ++k) {
            const int column = m.left + cell * static_cast<int>(k);
            if (!map.visible(q, k)) {  // a dot: the mask hides it
                svg += fmt::format("<circle cx='{}' cy='{}' r='1' fill='#aaa'/>", column + cell / 2,
                                   line + cell / 2);
                continue;
            }
            svg += fmt::format(
                "<rect x='{}' y='{}' width='{}' height='{}' fill='#1b6ca8' fill-opacity='{:.3f}' "
                "stroke='#999' stroke-opacity='0.3'><title>{} → {}: {:.3f}</title></rect>",
                column, line, cell - 1, cell - 1, map.weight[0][q][k], html_escaped(queries[q]),
                html_escaped(keys[k]), map.weight[0][q][k]);
        }
    }
    return svg + "</svg>";
}

std::string attention_svg(const AttentionView& view) {
    int width = gap, height = 0;
    std::string inside;
    for (const AttentionMap& map : view.maps) {
        const SvgSize size = map_svg_size(view, map);
        const std::string title =
            html_escaped(map.title + (map.heads.size() > 1 ? ", head " + map.heads[0] : ""));
        const int wide = std::max(size.width, 7 * static_cast<int>(title.size()));
        inside += fmt::format("<text x='{}' y='18'>{}</text>", width, title) +
                  map_svg(view, map, width, 28) + "\n";
        width += wide + gap;
        height = std::max(height, size.height);
    }
    return fmt::format(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' viewBox='0 0 {0} {1}' "
        "font-family='sans-serif' font-size='13' fill='#777'>\n{2}</svg>\n",
        width, height + 40, inside);
}

}  // namespace fovea
