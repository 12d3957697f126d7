#include "fovea/inspect/attention_view.h"

#include <algorithm>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/inspect/map_name.h"
#include "fovea/ops/attention/probe.h"

namespace fovea {
namespace {

const AttentionSides& sides_of(const ForwardPass& pass, const std::string& name) {
    for (const AttentionSides& s : pass.sides)
        if (name.find(s.part) != std::string::npos) return s;
    fail("inspect: the task does not say whose tokens the attention \"", name, "\" looks at");
}

// Within a sequence: that frames of a clip do not see each other hides nothing of a frame.
bool hides_something(const Visibility& sees) {
    const VisibilityView view = sees.view();
    for (const VisibleGroup& g : view.groups) {
        std::int64_t keys = 0;
        for (const KeyRun& run : view.runs_of(g)) keys += run.count;
        for (std::int64_t q = g.q_begin; q < g.q_end; ++q)
            if (sees.visible(q) < keys) return true;
    }
    return false;
}

std::string title_of(const AttentionMap& m) {
    const MapName n = read_map_name(m.name);
    if (n.layer == 0 && n.stack == "attention") return m.queries + " at " + m.keys;
    if (n.layer == 0) return n.stack + (m.queries == m.keys ? " self-attention" : " attention");
    std::string title = n.stack + (n.stack.empty() ? "" : " ");
    if (m.name.ends_with("temporal_attention")) title += "temporal ";
    if (m.queries == m.keys)
        title += std::string(hides_something(m.sees[0]) ? "masked " : "") + "self-attention";
    else
        title += "cross-attention";
    return title + ", layer " + std::to_string(n.layer);
}

// Keys behind those of the tokens are means of them (nn/expanded_window.h): a side of their own.
std::string side_with_means(ForwardPass& pass, const std::string& side, std::int64_t keys) {
    const auto tokens = pass.tokens.find(side);
    if (tokens == pass.tokens.end()) return side;
    const std::int64_t means = keys - static_cast<std::int64_t>(tokens->second.size());
    if (means <= 0) return side;
    const std::string name = text_of(side, " and ", means, " means");
    std::vector<std::string> all = tokens->second;
    for (std::int64_t i = 1; i <= means; ++i) all.push_back(text_of("mean ", i));
    pass.tokens.emplace(name, std::move(all));
    return name;
}

// Everything but the numbers.
AttentionMap described(const Probe& probe, std::size_t call, ForwardPass& pass) {
    AttentionMap m;
    m.call = call;
    m.name = probe.name(call);
    const AttentionSides& sides = sides_of(pass, m.name);
    m.layer = read_map_name(m.name).layer;
    m.queries = sides.queries;
    m.keys = sides.keys;
    for (int h = 0; h < probe.heads(call); ++h) {
        m.heads.push_back(std::to_string(h + 1));
        m.sees.push_back(probe.visibility(call, h));
    }
    if (std::all_of(m.sees.begin(), m.sees.end(),
                    [&](const Visibility& own) { return own.same_handle(m.sees[0]); }))
        m.sees.resize(1);
    m.title = title_of(m);
    const auto fits = [&](const std::string& side, std::int64_t rows) {
        const auto tokens = pass.tokens.find(side);
        expect(
            tokens != pass.tokens.end() && static_cast<std::int64_t>(tokens->second.size()) == rows,
            "inspect: the attention \"", m.name, "\" has ", rows, " rows of \"", side,
            "\", but the task names ", tokens == pass.tokens.end() ? 0 : tokens->second.size(),
            " tokens");
    };
    m.keys = side_with_means(pass, m.keys, m.sees[0].keys());
    fits(m.queries, m.sees[0].queries());
    fits(m.keys, m.sees[0].keys());
    return m;
}

// Rows over the keys as they are packed, which is the order of the tokens.
HeadMap full_rows(const Ragged& rows, const Visibility& sees, bool all_keys, float hidden) {
    HeadMap out(static_cast<std::size_t>(sees.queries()));
    const VisibilityView view = sees.view();
    for (const VisibleGroup& g : view.groups) {
        std::vector<std::int64_t> column;  // of each key of the group's list
        for (const KeyRun& run : view.runs_of(g))
            for (std::int64_t i = 0; i < run.count; ++i) column.push_back(run.row + i);
        for (std::int64_t q = g.q_begin; q < g.q_end; ++q) {
            std::vector<float>& row = out[static_cast<std::size_t>(q)];
            row.assign(static_cast<std::size_t>(sees.keys()), hidden);
            const float* next = rows.row(q).data();
            for (const KeyInterval& x : view.of_row(q))
                for (std::int64_t k = x.begin; k < x.end; ++k)
                    row[static_cast<std::size_t>(column[static_cast<std::size_t>(k)])] =
                        all_keys ? rows.row(q)[static_cast<std::size_t>(k)] : *next++;
        }
    }
    return out;
}

void fill(AttentionMap& m, const Probe& probe, bool scores) {
    constexpr float hidden = -std::numeric_limits<float>::infinity();
    for (const std::string& head : m.heads) {
        const int h = std::stoi(head) - 1;
        const Visibility& sees = probe.visibility(m.call, h);
        m.weight.push_back(full_rows(probe.map(m.call, h), sees, false, 0.0f));
        if (scores) m.scores.push_back(full_rows(probe.scores(m.call, h), sees, true, hidden));
    }
}

// Maps are square in the length of a text: asked for too much, the way out is a choice.
void check_size(const std::vector<AttentionMap>& maps) {
    constexpr double most = 1 << 25;  // as JSON some 700 MB
    double cells = 0;
    for (const AttentionMap& m : maps)
        cells += static_cast<double>(m.heads.size()) * static_cast<double>(m.sees[0].queries()) *
                 static_cast<double>(m.sees[0].keys());
    if (cells > most)
        fail_with(ErrorKind::usage,
                  "a shorter text, or fewer maps: --layer last --head 1, --map PART",
                  "inspect: ", maps.size(), " maps have ", static_cast<std::int64_t>(cells),
                  " weights together, but at most ", static_cast<std::int64_t>(most), " are drawn");
}

}  // namespace

bool AttentionMap::visible(std::size_t query, std::size_t key, std::size_t head) const {
    const auto q = static_cast<std::int64_t>(query), k = static_cast<std::int64_t>(key);
    if (sees.size() == weight.size()) return sees[head].sees(q, k);
    return std::any_of(sees.begin(), sees.end(),
                       [&](const Visibility& own) { return own.sees(q, k); });
}

AttentionView look_inside(const Predictor& predictor, const Json& input,
                          const LookOptions& options) {
    AttentionView v;
    Probe probe;
    ForwardPass pass = predictor.forward(input);
    std::map<std::string, int> calls;
    for (std::size_t i = 0; i < probe.count(); ++i) {
        AttentionMap m = described(probe, i, pass);
        // A module that is called again (a second stream) gets a name of its own.
        if (const int times = ++calls[m.name]; times > 1) {
            m.title += ", call " + std::to_string(times);
            m.name += "#" + std::to_string(times);
        }
        v.maps.push_back(std::move(m));
    }
    choose_maps(v.maps, options.choice);
    if (options.weights) {
        check_size(v.maps);
        for (AttentionMap& m : v.maps) {
            fill(m, probe, options.scores && options.choice.head != "mean");
            if (options.choice.head == "mean") m = mean_of_heads(m);
        }
    }
    v.input = std::move(pass.input);
    v.output = std::move(pass.output);
    v.sides = std::move(pass.tokens);
    v.seen = std::move(pass.seen);
    return v;
}

AttentionMap mean_of_heads(const AttentionMap& map) {
    AttentionMap mean = map;
    mean.heads = {"mean of " + std::to_string(map.weight.size()) + " heads"};
    mean.scores.clear();
    mean.weight.resize(1);
    const auto count = static_cast<float>(map.weight.size());
    for (std::size_t q = 0; q < mean.weight[0].size(); ++q)
        for (std::size_t k = 0; k < mean.weight[0][q].size(); ++k) {
            float sum = 0;
            for (const HeadMap& head : map.weight) sum += head[q][k] / count;
            mean.weight[0][q][k] = sum;
        }
    return mean;
}

}  // namespace fovea
