#include "fovea/nn/asking_rows.h"

#include <algorithm>

namespace fovea {
namespace {

std::size_t index_in(std::int64_t i) { return static_cast<std::size_t>(i); }

// see(builder, its source, its step) for every row that asks, group by group.
template <class See>
Visibility seen_in_steps(const AskingRows& at, const Segments& source, See&& see) {
    VisibilityBuilder builder(source.total());
    for (std::int64_t i = 0; i < at.rows.count(); ++i) {
        const std::int64_t s = at.sources[index_in(i)];
        builder.group({.keys = {{source.begin(s), source.length(s)}}});
        for (std::int64_t t = 0; t < at.rows.length(i); ++t)
            see(builder, at.first[index_in(i)] + t, source.length(s));
    }
    return builder.build();
}

}  // namespace

AskingRows AskingRows::all(const Segments& targets) {
    AskingRows at{targets, {}, {}};
    for (std::int64_t i = 0; i < targets.count(); ++i) at.sources.push_back(i);
    at.first.assign(index_in(targets.count()), 0);
    return at;
}

AskingRows AskingRows::one_each(std::vector<std::int64_t> sources,
                                std::vector<std::int64_t> steps) {
    const auto n = static_cast<std::int64_t>(sources.size());
    return {Segments::uniform(n, 1), std::move(sources), std::move(steps)};
}

Visibility all_of(const AskingRows& at, const Segments& source, const SourceReading& reading) {
    return seen_in_steps(at, source,
                         [&](VisibilityBuilder& builder, std::int64_t step, std::int64_t n) {
                             builder.row({{0, reading.read(step, n)}});
                         });
}

Visibility window_of(const AskingRows& at, const Segments& source, std::int64_t w,
                     std::int64_t also, const SourceReading& reading) {
    return seen_in_steps(
        at, source, [&](VisibilityBuilder& builder, std::int64_t step, std::int64_t n) {
            const std::int64_t p = centre_of(step, n), end = reading.read(step, n);
            const std::int64_t from = std::clamp<std::int64_t>(p - w, 0, end);
            builder.row({{from, std::min(end, p + w + 1)}, {0, std::min(also, end)}});
        });
}

Visibility expanded_of(const AskingRows& at, const Segments& source, const ExpandedWindow& window) {
    VisibilityBuilder builder(window.keys());
    for (std::int64_t i = 0; i < at.rows.count(); ++i) {
        const std::int64_t s = at.sources[index_in(i)];
        builder.group({.keys = window.list(s)});
        for (std::int64_t t = 0; t < at.rows.length(i); ++t)
            builder.row(window.sees(s, centre_of(at.first[index_in(i)] + t, source.length(s))));
    }
    return builder.build();
}

}  // namespace fovea
