// Two-stream attention (Yang et al. 2019, §2.3): the same layers called twice over the same keys.
// Rows are stored in the order of factorisation, so that "who was predicted before me" is an
// interval: the tokens that are not predicted come first and see each other, each target's content
// row sees all up to itself, its query row all before itself. Positions travel with the rows.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/models/xlnet.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/rows/positions.h"

namespace fovea {
namespace {

void expect_order(const XlnetOrder& o, const Segments& s) {
    expect(static_cast<std::int64_t>(o.order.size()) == s.total(), "xlnet: an order of ",
           o.order.size(), " positions for ", s.total(), " tokens");
    expect(static_cast<std::int64_t>(o.predicted.size()) == s.count(),
           "xlnet: numbers of targets for ", o.predicted.size(), " sequences, but there are ",
           s.count());
    std::vector<char> seen;
    for (std::int64_t g = 0; g < s.count(); ++g) {
        const std::int64_t n = s.length(g), targets = o.predicted[static_cast<std::size_t>(g)];
        expect(targets >= 0 && targets <= n, "xlnet: sequence ", g, " has ", n, " tokens but ",
               targets, " targets");
        seen.assign(static_cast<std::size_t>(n), 0);
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int32_t at = o.order[static_cast<std::size_t>(s.begin(g) + i)];
            expect(at >= 0 && at < n && !seen[static_cast<std::size_t>(at)], "xlnet: sequence ", g,
                   " of ", n, " tokens: ", at, " in its order is outside of it or there twice");
            seen[static_cast<std::size_t>(at)] = 1;
        }
    }
}

bool goes_left_to_right(const XlnetOrder& o, const Segments& s) {
    for (std::int64_t g = 0; g < s.count(); ++g)
        if (!std::is_sorted(o.order.begin() + s.begin(g), o.order.begin() + s.end(g))) return false;
    return true;
}

// Packed rows of the tokens in the order's order.
Ids stored_rows(const XlnetOrder& o, const Segments& s) {
    Ids rows;
    for (std::int64_t g = 0; g < s.count(); ++g)
        for (std::int64_t i = s.begin(g); i < s.end(g); ++i)
            rows.push_back(
                static_cast<std::int32_t>(s.begin(g) + o.order[static_cast<std::size_t>(i)]));
    return rows;
}

// Of values in the order's order, those of the targets.
Ids of_targets(const Ids& stored, const XlnetOrder& o, const Segments& s) {
    Ids out;
    for (std::int64_t g = 0; g < s.count(); ++g)
        out.insert(out.end(), stored.begin() + s.end(g) - o.predicted[static_cast<std::size_t>(g)],
                   stored.begin() + s.end(g));
    return out;
}

Ids gathered(const Ids& values, const Ids& rows) {
    Ids out;
    for (const std::int32_t r : rows) out.push_back(values[static_cast<std::size_t>(r)]);
    return out;
}

// before() for the target rows alone.
Visibility before_targets(const XlnetOrder& o, const Segments& s) {
    VisibilityBuilder b(s.total());
    for (std::int64_t g = 0; g < s.count(); ++g) {
        const std::int64_t n = s.length(g), given = n - o.predicted[static_cast<std::size_t>(g)];
        b.group({.keys = {{s.begin(g), n}}, .position = given});
        for (std::int64_t i = given; i < n; ++i) b.row({{0, i}});
    }
    return b.build();
}

Visibility content_sees(const XlnetOrder& o, const Segments& s, bool causal) {
    if (causal) return past(s);
    std::vector<std::int64_t> given;
    for (std::int64_t g = 0; g < s.count(); ++g)
        given.push_back(s.length(g) - o.predicted[static_cast<std::size_t>(g)]);
    return prefix(s, given);
}

// Where each stored row comes from, turned round: where each row of the text is stored.
Ids inverse_of(const Ids& rows) {
    Ids out(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        out[static_cast<std::size_t>(rows[i])] = static_cast<std::int32_t>(i);
    return out;
}

struct TwoStreams {
    Ids rows;          // of the batch, in the order they are stored
    XlnetStream h, g;  // content and query
};

// Fills in the places of the rows that are looked at: the memory's, then the stored ones.
TwoStreams lay_out(const TokenBatch& batch, const XlnetOrder& order, const Segments& memory,
                   XlnetPlaces& to) {
    const Segments& s = batch.segments;
    TwoStreams two;
    two.rows = stored_rows(order, s);
    // A memory of m rows stands at positions 0 … m-1, the sequence behind it.
    for (std::int64_t g = 0; g < s.count(); ++g)
        for (std::int64_t i = s.begin(g); i < s.end(g); ++i)
            two.h.positions.push_back(
                order.order[static_cast<std::size_t>(i)] +
                static_cast<std::int32_t>(memory.count() > 0 ? memory.length(g) : 0));
    two.g.positions = of_targets(two.h.positions, order, s);
    to.positions = position_ids(memory);
    to.positions.insert(to.positions.end(), two.h.positions.begin(), two.h.positions.end());
    if (batch.types.empty()) return two;
    two.h.types = gathered(batch.types, two.rows);
    two.g.types = of_targets(two.h.types, order, s);
    to.types.resize(static_cast<std::size_t>(memory.total()));  // the memory is of A
    to.types.insert(to.types.end(), two.h.types.begin(), two.h.types.end());
    return two;
}

}  // namespace

XlnetOrder XlnetOrder::left_to_right(const Segments& segments, std::int64_t given) {
    XlnetOrder o;
    o.order = position_ids(segments);
    for (std::int64_t g = 0; g < segments.count(); ++g)
        o.predicted.push_back(std::max<std::int64_t>(0, segments.length(g) - given));
    return o;
}

Segments XlnetOrder::targets(const Segments& segments) const {
    const auto samples = segments.samples();
    return Segments::of_lengths(predicted, {samples.begin(), samples.end()});
}

Ids XlnetOrder::target_tokens(const Ids& tokens, const Segments& segments) const {
    expect_order(*this, segments);
    return gathered(tokens, of_targets(stored_rows(*this, segments), *this, segments));
}

Tensor Xlnet::target_rows(const TokenBatch& batch, const XlnetOrder& order,
                          const XlnetMemory& memory, XlnetMemory* remembered) const {
    const Segments& s = batch.segments;
    check(batch, memory);
    expect_order(order, s);
    expect(
        !config.causal || goes_left_to_right(order, s),
        "xlnet: a model that reads one way (attn_type \"uni\") predicts from left to right only");
    XlnetPlaces to = places(s, memory.segments);
    TwoStreams two = lay_out(batch, order, memory.segments, to);
    two.h.sees = content_sees(order, s, config.causal);
    two.g.sees = before_targets(order, s);
    if (!memory.empty())
        for (XlnetStream* stream : {&two.h, &two.g})
            stream->sees = with_memory(memory.segments, stream->sees);

    Tensor h = gather_rows(word_embedding, gathered(batch.tokens, two.rows));
    h.set_row_names(s);
    h = dropout(h, config.dropout);
    const Segments targets = order.targets(s);
    Tensor g = gather_rows(mask_emb, Ids(static_cast<std::size_t>(targets.total())));
    g.set_row_names(targets);
    g = dropout(g, config.dropout);
    for (std::size_t i = 0; i < layer.size(); ++i) {
        if (remembered) remembered->rows.push_back(gather_rows(h, inverse_of(two.rows)));
        const Tensor seen = memory.empty() ? h : concat_rows({memory.rows[i], h});
        const XlnetAttention::Keys keys = layer[i].rel_attn.keys(seen, to);
        g = layer[i](g, keys, two.g, to);
        if (i + 1 < layer.size()) h = layer[i](h, keys, two.h, to);
    }
    if (remembered) remembered->segments = s;
    return dropout(g, config.dropout);
}

}  // namespace fovea
