// Written row by row: as a tree of values a map would take ten times its memory.

#include <fmt/core.h>

#include <cmath>
#include <iterator>

#include "fovea/inspect/attention_view.h"
#include "fovea/inspect/map_name.h"

namespace fovea {
namespace {

void write_number(std::string& out, float x, const AttentionJsonOptions& o) {
    if (!std::isfinite(x)) {
        out += "null";
    } else if (o.digits == 0) {
        fmt::format_to(std::back_inserter(out), "{}", x);
    } else {
        std::string text = fmt::format("{:.{}f}", x, o.digits);
        text.erase(text.find_last_not_of('0') + 1);  // 0.2500 is 0.25, 1.0000 is 1
        if (text.back() == '.') text.pop_back();
        out += text;
    }
}

// [head][query][key]
void write_heads(std::string& out, const AttentionMap& m, const std::vector<HeadMap>& heads,
                 const AttentionJsonOptions& o) {
    out += '[';
    for (std::size_t h = 0; h < heads.size(); ++h) {
        out += h ? ",[" : "[";
        for (std::size_t q = 0; q < heads[h].size(); ++q) {
            out += q ? ",[" : "[";
            for (std::size_t k = 0; k < heads[h][q].size(); ++k) {
                if (k) out += ',';
                if (o.hidden_is_null && !m.visible(q, k, h))
                    out += "null";
                else
                    write_number(out, heads[h][q][k], o);
            }
            out += ']';
        }
        out += ']';
    }
    out += ']';
}

Json heads_of(const AttentionMap& m) {
    Json heads = Json::array();
    for (const std::string& head : m.heads) {
        if (head.find_first_not_of("0123456789") == std::string::npos)
            heads.push_back(std::stoi(head));
        else
            heads.push_back("mean");
    }
    return heads;
}

// The object's text without its closing brace: more fields follow.
std::string opened(const Json& object) {
    std::string text = to_text(object);
    text.pop_back();
    return text;
}

}  // namespace

std::string attention_json(const AttentionView& view, const AttentionJsonOptions& options) {
    Json head{{"schema", "fovea.attention"}, {"version", 2}, {"input", view.input}};
    head[view.has_target() ? "target" : "output"] = view.output;
    head["sides"] = view.sides;
    std::string out = opened(head) + ",\"maps\":[";
    for (const AttentionMap& m : view.maps) {
        Json about{{"name", m.name},       {"part", read_map_name(m.name).folded},
                   {"title", m.title},     {"layer", m.layer},
                   {"queries", m.queries}, {"keys", m.keys},
                   {"heads", heads_of(m)}};
        if (m.layer == 0) about["layer"] = nullptr;
        out += (&m == &view.maps[0] ? "" : ",") + opened(about);
        if (!m.weight.empty()) {
            out += ",\"weights\":";
            write_heads(out, m, m.weight, options);
        }
        if (!m.scores.empty()) {
            out += ",\"scores\":";
            write_heads(out, m, m.scores, {.digits = options.digits, .hidden_is_null = true});
        }
        out += '}';
    }
    return out + "]}";
}

}  // namespace fovea
