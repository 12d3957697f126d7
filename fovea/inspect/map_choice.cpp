#include <algorithm>
#include <map>
#include <set>

#include "fovea/base/error.h"
#include "fovea/inspect/attention_view.h"
#include "fovea/inspect/map_name.h"

namespace fovea {
namespace {

// A number from 1, or 0 where the text is one of the words.
int number_or_word(const char* what, const std::string& text, const char* word) {
    if (text == word || text == "all") return 0;
    const bool digits =
        !text.empty() && text.size() <= 6 &&
        std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!digits || std::stoi(text) == 0)
        fail_with(ErrorKind::usage, text_of("a number from 1, ", word, " or all"), "inspect: the ",
                  what, " is `", text, "`");
    return std::stoi(text);
}

std::string list_of(const std::set<int>& numbers) {
    std::string text;
    for (const int n : numbers) text += (text.empty() ? "" : ", ") + std::to_string(n);
    return text;
}

void choose_part(std::vector<AttentionMap>& maps, const std::string& part) {
    if (maps.empty())
        fail_with(ErrorKind::usage, "the model has no attention",
                  "inspect: there is nothing to draw");
    std::string names;
    for (const AttentionMap& m : maps) names += "\n  " + m.name;
    std::erase_if(maps, [&](const AttentionMap& m) { return m.name.find(part) == m.name.npos; });
    if (maps.empty())
        fail_with(ErrorKind::usage, "a part of one of these names:" + names,
                  "inspect: no map has `", part, "` in its name");
}

void choose_last_layers(std::vector<AttentionMap>& maps) {
    std::map<std::string, int> last;
    for (const AttentionMap& m : maps) {
        int& n = last[read_map_name(m.name).folded];
        n = std::max(n, m.layer);
    }
    std::erase_if(
        maps, [&](const AttentionMap& m) { return m.layer < last[read_map_name(m.name).folded]; });
}

void choose_layer(std::vector<AttentionMap>& maps, int layer) {
    std::set<int> known;
    for (const AttentionMap& m : maps)
        if (m.layer > 0) known.insert(m.layer);
    std::erase_if(maps, [&](const AttentionMap& m) { return m.layer != layer; });
    if (maps.empty())
        fail_with(ErrorKind::usage,
                  known.empty() ? "these maps belong to no layer: leave --layer out"
                                : "layers with a map: " + list_of(known),
                  "inspect: there is no map of layer ", layer);
}

void choose_head(std::vector<AttentionMap>& maps, int head) {
    std::size_t most = 0;
    for (const AttentionMap& m : maps) most = std::max(most, m.heads.size());
    const auto wanted = static_cast<std::size_t>(head);
    std::erase_if(maps, [&](const AttentionMap& m) { return m.heads.size() < wanted; });
    if (maps.empty())
        fail_with(ErrorKind::usage, text_of("heads from 1 to ", most, ", mean or all"),
                  "inspect: there is no head ", head);
    for (AttentionMap& m : maps) {
        m.heads = {m.heads[wanted - 1]};
        if (m.sees.size() > 1) m.sees = {m.sees[wanted - 1]};
    }
}

}  // namespace

void choose_maps(std::vector<AttentionMap>& maps, const MapChoice& choice) {
    const int layer = number_or_word("layer", choice.layer, "last"),
              head = number_or_word("head", choice.head, "mean");
    choose_part(maps, choice.part);
    if (choice.layer == "last") choose_last_layers(maps);
    if (layer > 0) choose_layer(maps, layer);
    if (head > 0) choose_head(maps, head);
}

}  // namespace fovea
