#include "fovea/cli/compare_maps.h"

#include <fmt/core.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/html.h"
#include "fovea/inspect/attention_view.h"

namespace fovea {
namespace {

constexpr std::size_t most_cells = 4096;  // drawn on a page of many

std::string figure_of(const AttentionView& view, const AttentionMap& map,
                      const std::string& caption) {
    const bool fits = view.queries(map).size() * view.keys(map).size() <= most_cells;
    return "<figure>" +
           (fits ? map_svg(view, map) : "<p>(too large for this page: fovea inspect)</p>") +
           "<figcaption>" + html_escaped(caption) + "</figcaption></figure>";
}

}  // namespace

std::string map_figures(const Predictor& predictor, const std::string& model,
                        const std::vector<std::string>& inputs,
                        const std::vector<std::string>& parts) {
    std::string all;
    LookOptions look;
    look.choice.layer = "last";
    look.choice.head = "mean";
    const auto wanted = [&](const AttentionMap& map) {
        return parts.empty() || std::any_of(parts.begin(), parts.end(), [&](const auto& part) {
                   return map.name.find(part) != std::string::npos;
               });
    };
    for (const std::string& input : inputs) {
        AttentionView view;
        try {
            view = look_inside(predictor, Json{{"text", input}}, look);
        } catch (const Error& e) {  // a model without attention is compared, too
            return fmt::format("<figure><figcaption>{}: {}</figcaption></figure>",
                               html_escaped(model), html_escaped(e.hint()));
        }
        for (const AttentionMap& map : view.maps)
            if (wanted(map))
                all += figure_of(view, map, model + ": " + map.title + " → " + view.output);
    }
    return all;
}

}  // namespace fovea
