#pragma once
// The attention of one example, captured on the fast path and rebuilt head by head, for any model
// of any task: for the terminal as shades, for programs as JSON, for a browser as one
// self-contained HTML file (no network, no scripts from elsewhere).
// Thread-safety: plain values and functions: safe to use from several threads at once.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/tasks/task.h"
#include "fovea/tensor/visibility.h"

namespace fovea {

using HeadMap = std::vector<std::vector<float>>;  // [query][key]

// One attention of the model.
struct AttentionMap {
    std::string name;           // the path of its parameters: "model.decoder.layers.1.encoder_attn"
    std::string title;          // for people: "decoder cross-attention, layer 2"
    int layer = 0;              // from 1, by the number in the path; 0: the path has none
    std::string queries, keys;  // names of AttentionView::sides
    std::vector<std::string> heads;  // of weight and scores: "1", "2", … or "mean of 4 heads"
    std::vector<HeadMap> weight;     // 0 where hidden
    std::vector<HeadMap> scores{};   // before the softmax; -infinity where hidden; where asked for
    std::vector<Visibility> sees{};  // of each head, or one for all
    std::size_t call = 0;            // which attention of the pass it is, from 0

    // May the row look at the key? Of a mean: in any head.
    bool visible(std::size_t query, std::size_t key, std::size_t head = 0) const;
};

struct AttentionView {
    std::string input, output;                              // as text
    std::map<std::string, std::vector<std::string>> sides;  // tokens as a person reads them
    std::vector<AttentionMap> maps;                         // in the order of the pass
    std::optional<SeenPicture> seen{};                      // what it read, where that is no text

    const std::vector<std::string>& queries(const AttentionMap& m) const {
        return sides.at(m.queries);
    }
    const std::vector<std::string>& keys(const AttentionMap& m) const { return sides.at(m.keys); }
    // Was the output given, and not the model's own?
    bool has_target() const { return sides.count("target") > 0; }
};

// Which maps and heads. A choice that leaves nothing is a usage error that lists what there is.
struct MapChoice {
    std::string part{};         // of the name, such as "encoder_attn"
    std::string layer = "all";  // a number from 1; last: of every stack; all
    std::string head = "all";   // a number from 1; mean; all
};
void choose_maps(std::vector<AttentionMap>& maps, const MapChoice& choice);

struct LookOptions {
    MapChoice choice{};
    bool weights = true;  // false: names, layers, heads and sides alone
    bool scores = false;
};

// One pass of the model over the input (see Predictor::forward) under a Probe.
AttentionView look_inside(const Predictor& predictor, const Json& input,
                          const LookOptions& options = {});

// The map as one head: the mean of its weights, without scores.
AttentionMap mean_of_heads(const AttentionMap& map);

// One head (by its place in map.heads) as shaded cells, one line for each query, keys written from
// top to bottom: for people at a terminal of so many columns. Keys that find no room are counted
// below.
struct PictureOptions {
    std::size_t head = 0;
    int width = 80;
};
std::string terminal_picture(const AttentionView& view, const AttentionMap& map,
                             const PictureOptions& options);
std::string terminal_legend();  // what the shades mean

// {"schema": "fovea.attention", …}: tokens by side, weights and (where captured) scores as
// [head][query][key]; a score that the mask hides is null.
struct AttentionJsonOptions {
    int digits = 0;               // behind the point; 0: as many as tell floats apart
    bool hidden_is_null = false;  // weights that the mask hides: null instead of 0
};
std::string attention_json(const AttentionView& view, const AttentionJsonOptions& options = {});

// A map (its first head) as an SVG element: darker is heavier, a dot is a key that the mask hides.
struct SvgSize {
    int width = 0, height = 0;
};
SvgSize map_svg_size(const AttentionView& view, const AttentionMap& map);
std::string map_svg(const AttentionView& view, const AttentionMap& map, int x = 0, int y = 0);
// A file with all maps side by side, each under its title.
std::string attention_svg(const AttentionView& view);

// A page with all layers and heads, light and dark: pick one, point at a cell to read its weight.
// Where a picture was read, the weights lie over it (picture_page.cpp).
std::string html_page(const AttentionView& view);
std::string picture_page(const AttentionView& view);
// Does a file with this beginning come from html_page()?
bool is_own_page(std::string_view beginning);

}  // namespace fovea
