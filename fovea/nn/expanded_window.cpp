#include "fovea/nn/expanded_window.h"

#include <algorithm>

#include "fovea/ops/rows/concat.h"
#include "fovea/ops/rows/pooling.h"

namespace fovea {
namespace {

constexpr std::int64_t most_summaries = 40;  // w 2³⁹ rows: longer than any text

std::size_t place(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

ExpandedWindow::ExpandedWindow(const Segments& segments, std::int64_t window,
                               std::int64_t summaries)
    : segments_(segments), window_(window) {
    expect(window > 0, "expanded window: w is ", window, " but must be at least 1");
    expect(summaries > 0 && summaries <= most_summaries, "expanded window: m is ", summaries,
           " but must be from 1 to ", most_summaries);
    for (std::int64_t level = 0; level < summaries; ++level) {
        const std::int64_t size = window << level;
        sizes_.push_back(size);
        std::vector<std::int64_t> lengths, first{0};
        for (std::int64_t s = 0; s < segments.count(); ++s) {
            for (std::int64_t at = 0; at < segments.length(s); at += size)
                lengths.push_back(std::min(size, segments.length(s) - at));
            first.push_back(static_cast<std::int64_t>(lengths.size()));
        }
        blocks_.push_back(Segments::of_lengths(lengths));
        first_.push_back(std::move(first));
    }
}

Tensor ExpandedWindow::appended(const Tensor& rows) const {
    std::vector<Tensor> parts{rows};
    for (const Segments& blocks : blocks_) parts.push_back(segment_mean(rows, blocks));
    return concat_rows(parts);
}

std::int64_t ExpandedWindow::keys() const {
    std::int64_t n = segments_.total();
    for (const Segments& blocks : blocks_) n += blocks.count();
    return n;
}

KeyList ExpandedWindow::list(std::int64_t s) const {
    KeyList runs{{segments_.begin(s), segments_.length(s)}};
    std::int64_t at = segments_.total();
    for (std::size_t level = 0; level < blocks_.size(); ++level) {
        const std::vector<std::int64_t>& first = first_[level];
        runs.push_back({at + first[place(s)], first[place(s + 1)] - first[place(s)]});
        at += blocks_[level].count();
    }
    return runs;
}

std::vector<KeyInterval> ExpandedWindow::sees(std::int64_t s, std::int64_t p) const {
    const std::int64_t n = segments_.length(s);
    std::vector<KeyInterval> seen{{std::clamp<std::int64_t>(p - window_, 0, n),
                                   std::clamp<std::int64_t>(p + window_ + 1, 0, n)}};
    std::int64_t right = p + window_ + 1, left = p - window_ - 1, list_at = n;
    for (std::size_t level = 0; level < blocks_.size(); ++level) {
        const std::int64_t size = sizes_[level];
        const auto see = [&](std::int64_t block) {
            seen.push_back({list_at + block, list_at + block + 1});
        };
        if (right < n) {
            see(right / size);
            right = (right / size + 1) * size;
        }
        if (left >= 0) {
            see(left / size);
            left = left / size * size - 1;
        }
        list_at += first_[level][place(s + 1)] - first_[level][place(s)];
    }
    return seen;
}

Visibility expanded_self(const ExpandedWindow& window, const Segments& segments) {
    VisibilityBuilder builder(window.keys());
    for (std::int64_t s = 0; s < segments.count(); ++s) {
        builder.group({.keys = window.list(s)});
        for (std::int64_t p = 0; p < segments.length(s); ++p) builder.row(window.sees(s, p));
    }
    return builder.build();
}

}  // namespace fovea
