#include "fovea/nn/pooling.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/ops/attention/attention.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/rows/pooling.h"
#include "fovea/tensor/visibility.h"

namespace fovea {
namespace {

constexpr struct {
    const char* name;
    Pool pool;
} pools[] = {{"first", Pool::first},         {"last", Pool::last},
             {"mean", Pool::mean},           {"max", Pool::max},
             {"attention", Pool::attention}, {"positions", Pool::positions},
             {"queries", Pool::queries}};

// `count` queries for each sequence: rows 0 … count - 1 of a table again and again.
Ids repeated(std::int64_t sequences, std::int64_t count) {
    Ids ids;
    for (std::int64_t s = 0; s < sequences; ++s)
        for (std::int64_t c = 0; c < count; ++c) ids.push_back(static_cast<std::int32_t>(c));
    return ids;
}

// The place of each row in its sequence, at most `last`.
Ids places(const Segments& segments, std::int64_t last) {
    Ids ids;
    for (std::int64_t s = 0; s < segments.count(); ++s)
        for (std::int64_t i = 0; i < segments.length(s); ++i)
            ids.push_back(static_cast<std::int32_t>(std::min(i, last)));
    return ids;
}

}  // namespace

const char* name_of(Pool pool) {
    for (const auto& p : pools)
        if (p.pool == pool) return p.name;
    return "?";
}

std::vector<std::string> pool_names() {
    std::vector<std::string> names;
    for (const auto& p : pools) names.emplace_back(p.name);
    return names;
}

Pool pool_of(const std::string& name) {
    std::string known;
    for (const auto& p : pools) {
        if (name == p.name) return p.pool;
        known += std::string(known.empty() ? "" : ", ") + p.name;
    }
    fail_with(ErrorKind::usage, "pooling may be one of " + known, "there is no pooling `", name,
              "`");
}

Pooling::Pooling(int width, const PoolingOptions& o, const Params& p)
    : options(o), name(p.path().empty() ? "pooling" : p.path()) {
    if (o.pool == Pool::attention) query = p.get("query", {1, width}, xavier());
    if (o.pool == Pool::queries) query = p.get("query", {o.classes, width}, xavier());
    if (o.pool == Pool::positions) weights = p.exact("weights", {o.max_positions, 1}, zeros());
}

Tensor Pooling::operator()(const Tensor& rows, const Segments& segments) const {
    switch (options.pool) {
        case Pool::first:
            return segment_first(rows, segments);
        case Pool::last:
            return segment_last(rows, segments);
        case Pool::mean:
            return segment_mean(rows, segments);
        case Pool::max:
            return segment_max(rows, segments);
        default:
            break;
    }
    const std::int64_t n = options.pool == Pool::queries ? options.classes : 1;
    const Segments one_each = Segments::of_lengths(
        std::vector<std::int64_t>(static_cast<std::size_t>(segments.count()), n),
        {segments.samples().begin(), segments.samples().end()});
    const Visibility sees = everything(one_each, segments);
    const AttentionOptions named{.name = name};
    if (options.pool == Pool::positions) {
        const Tensor scores = gather_rows(weights, places(segments, options.max_positions - 1));
        Tensor y =
            attention(Tensor::full({segments.count(), 1}, 1.0f), scores, rows, 1, sees, named);
        y.set_row_names(one_each);
        return y;
    }
    const Tensor q = gather_rows(query, repeated(segments.count(), n));
    Tensor y = attention(q, rows, rows, 1, sees, named);
    y.set_row_names(one_each);
    return y;
}

}  // namespace fovea
