#include "fovea/cli/compare_maps.h"

#include <fmt/core.h>

#include "fovea/base/error.h"
#include "fovea/base/html.h"
#include "fovea/inspect/attention_view.h"

namespace fovea {
namespace {

std::string figure_of(const AttentionView& view, const AttentionMap& map,
                      const std::string& caption) {
    constexpr int cell = 18, left = 90, top = 70;
    const auto &queries = view.queries(map), &keys = view.keys(map);
    const int width = left + cell * static_cast<int>(keys.size()) + 4;
    const int height = top + cell * static_cast<int>(queries.size()) + 4;
    std::string svg = fmt::format(
        "<figure><svg width='{0}' height='{1}' viewBox='0 0 {0} {1}' role='img'>", width, height);
    for (std::size_t k = 0; k < keys.size(); ++k) {
        const int x = left + cell * static_cast<int>(k) + cell / 2 + 4;
        svg += fmt::format("<text transform='translate({},{}) rotate(-60)' class='axis'>{}</text>",
                           x, top - 6, html_escaped(keys[k]));
    }
    for (std::size_t q = 0; q < queries.size(); ++q) {
        const int y = top + cell * static_cast<int>(q);
        svg += fmt::format("<text x='{}' y='{}' text-anchor='end' class='axis'>{}</text>", left - 6,
                           y + cell - 5, html_escaped(queries[q]));
        for (std::size_t k = 0; k < keys.size(); ++k)
            svg += fmt::format(
                "<rect x='{}' y='{}' width='{}' height='{}' fill='#1b6ca8' fill-opacity='{:.3f}'>"
                "<title>{} → {}: {:.3f}</title></rect>",
                left + cell * static_cast<int>(k), y, cell - 1, cell - 1, map.weight[0][q][k],
                html_escaped(queries[q]), html_escaped(keys[k]), map.weight[0][q][k]);
    }
    return svg + fmt::format("</svg><figcaption>{}</figcaption></figure>", html_escaped(caption));
}

}  // namespace

std::string map_figures(const Predictor& predictor, const std::string& model,
                        const std::vector<std::string>& inputs, const std::string& part) {
    std::string all;
    LookOptions look;
    look.choice = {.part = part, .layer = "last", .head = "mean"};
    for (const std::string& input : inputs) {
        AttentionView view;
        try {
            view = look_inside(predictor, Json{{"text", input}}, look);
        } catch (const Error& e) {  // a model without attention is compared, too
            return fmt::format("<figure><figcaption>{}: {}</figcaption></figure>",
                               html_escaped(model), html_escaped(e.hint()));
        }
        for (const AttentionMap& map : view.maps)
            all += figure_of(view, map, model + ": " + map.title + " → " + view.output);
    }
    return all;
}

}  // namespace fovea
