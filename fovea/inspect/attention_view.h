#pragma once
// The attention of one example, captured on the fast path and rebuilt head by head: for the
// terminal as shades, for a browser as one self-contained HTML file (no network, no scripts from
// elsewhere). Plain values and functions: safe to use from several threads at once.
#include <string>
#include <vector>

#include "fovea/tasks/seq2seq_model.h"

namespace fovea {

// One attention of the model: weight[head][query][key].
struct AttentionMap {
    std::string name;  // "encoder layer 1", "decoder layer 2", "cross layer 2"
    std::string kind;  // encoder | decoder | cross
    int layer = 0;
    std::vector<std::vector<std::vector<float>>> weight;
    bool keys_are_source = true, queries_are_source = true;

    // The decoder's mask: a row sees itself and what came before.
    bool sees(std::size_t query, std::size_t key) const {
        return kind != "decoder" || key <= query;
    }
};

struct AttentionView {
    std::string source_text, target_text;
    std::vector<std::string> source_tokens, target_tokens;  // target as read: begins with the start
    std::vector<AttentionMap> maps;

    const std::vector<std::string>& queries(const AttentionMap& m) const {
        return m.queries_are_source ? source_tokens : target_tokens;
    }
    const std::vector<std::string>& keys(const AttentionMap& m) const {
        return m.keys_are_source ? source_tokens : target_tokens;
    }
};

// Runs the model over source and its own best translation (or the given target) under a Probe.
AttentionView look_inside(const Seq2SeqModel& model, const std::string& source,
                          const std::string& target = "");

// The mean over heads as shaded cells, one line a query, keys written from top to bottom: for
// people at a terminal of so many columns. Keys that find no room are counted below.
std::string terminal_picture(const AttentionView& view, const AttentionMap& map, int width);
std::string terminal_legend();  // what the shades mean

// A page with all layers and heads, light and dark: pick one, point at a cell to read its weight.
std::string html_page(const AttentionView& view);

}  // namespace fovea
