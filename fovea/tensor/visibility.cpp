#include "fovea/tensor/visibility.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/checked.h"

namespace fovea {

struct Visibility::Data {
    std::int64_t keys = 0;
    std::vector<VisibleGroup> groups;
    std::vector<KeyRun> runs;
    std::vector<std::int64_t> rows{0};
    std::vector<KeyInterval> intervals;
    std::vector<std::int64_t> cluster_offsets{0};
    std::vector<std::int64_t> cluster_groups;
};

namespace {

// Groups that read a common key row, found by sorting all runs by row: overlapping neighbours are
// joined (union-find with the smallest group as root, so clusters keep the groups' order).
void find_clusters(const std::vector<VisibleGroup>& groups, const std::vector<KeyRun>& runs,
                   std::vector<std::int64_t>& offsets, std::vector<std::int64_t>& members) {
    struct Piece {
        std::int64_t row, end, group;
    };
    std::vector<Piece> pieces;
    for (std::size_t g = 0; g < groups.size(); ++g)
        for (std::int64_t r = groups[g].run_begin; r < groups[g].run_end; ++r) {
            const KeyRun& run = runs[static_cast<std::size_t>(r)];
            if (run.count > 0)
                pieces.push_back({run.row, run.row + run.count, static_cast<std::int64_t>(g)});
        }
    const auto by_row = [](const Piece& a, const Piece& b) { return a.row < b.row; };
    if (!std::is_sorted(pieces.begin(), pieces.end(), by_row))
        std::stable_sort(pieces.begin(), pieces.end(), by_row);

    std::vector<std::int64_t> parent(groups.size());
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&](std::int64_t g) {
        while (parent[static_cast<std::size_t>(g)] != g) {
            auto& up = parent[static_cast<std::size_t>(g)];
            up = parent[static_cast<std::size_t>(up)];
            g = up;
        }
        return g;
    };
    std::int64_t end = 0, group = -1;
    for (const Piece& p : pieces) {
        if (group >= 0 && p.row < end) {
            const std::int64_t a = root(group), b = root(p.group);
            parent[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
        }
        if (group < 0 || p.end >= end) {
            end = p.end;
            group = p.group;
        }
    }
    std::vector<std::int64_t> cluster(groups.size());
    std::int64_t count = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const std::int64_t r = root(static_cast<std::int64_t>(g));
        cluster[g] =
            r == static_cast<std::int64_t>(g) ? count++ : cluster[static_cast<std::size_t>(r)];
    }
    offsets.assign(static_cast<std::size_t>(count) + 1, 0);
    for (const std::int64_t c : cluster) ++offsets[static_cast<std::size_t>(c) + 1];
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    members.resize(groups.size());
    std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
    for (std::size_t g = 0; g < groups.size(); ++g)
        members[static_cast<std::size_t>(next[static_cast<std::size_t>(cluster[g])]++)] =
            static_cast<std::int64_t>(g);
}

void expect_disjoint(std::span<const KeyRun> runs, std::size_t group) {
    if (runs.size() < 2) return;
    std::vector<KeyRun> sorted(runs.begin(), runs.end());
    std::sort(sorted.begin(), sorted.end(),
              [](const KeyRun& a, const KeyRun& b) { return a.row < b.row; });
    for (std::size_t i = 1; i < sorted.size(); ++i)
        expect(sorted[i - 1].row + sorted[i - 1].count <= sorted[i].row || sorted[i].count == 0,
               "visibility: the key list of group ", group, " names row ", sorted[i].row, " twice");
}

}  // namespace

Visibility::Visibility() : data_(std::make_shared<const Data>()) {}

std::int64_t Visibility::queries() const {
    return static_cast<std::int64_t>(data_->rows.size()) - 1;
}

std::int64_t Visibility::keys() const { return data_->keys; }

VisibilityView Visibility::view() const {
    const Data& d = *data_;
    return {.queries = queries(),
            .keys = d.keys,
            .groups = d.groups,
            .runs = d.runs,
            .rows = d.rows,
            .intervals = d.intervals,
            .cluster_offsets = d.cluster_offsets,
            .cluster_groups = d.cluster_groups};
}

std::int64_t Visibility::visible(std::int64_t query) const {
    expect(query >= 0 && query < queries(), "visibility: query row ", query, " of ", queries());
    std::int64_t n = 0;
    for (const KeyInterval& i : view().of_row(query)) n += i.end - i.begin;
    return n;
}

bool Visibility::sees(std::int64_t query, std::int64_t key) const {
    expect(query >= 0 && query < queries(), "visibility: query row ", query, " of ", queries());
    const VisibilityView v = view();
    const auto group =
        std::upper_bound(v.groups.begin(), v.groups.end(), query,
                         [](std::int64_t q, const VisibleGroup& g) { return q < g.q_end; });
    for (const KeyInterval& i : v.of_row(query))
        for (std::int64_t j = i.begin; j < i.end; ++j)
            if (packed_row(v.runs_of(*group), j) == key) return true;
    return false;
}

Segments Visibility::visible_counts() const {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(queries()));
    for (std::int64_t i = 0; i < queries(); ++i) counts[static_cast<std::size_t>(i)] = visible(i);
    return Segments::of_lengths(counts);
}

VisibilityBuilder::VisibilityBuilder(std::int64_t keys)
    : data_(std::make_shared<Visibility::Data>()) {
    expect(keys >= 0, "visibility: ", keys, " key rows");
    data_->keys = keys;
}

void VisibilityBuilder::group(const Group& group) {
    Visibility::Data& d = *data_;
    VisibleGroup g;
    g.q_begin = g.q_end = static_cast<std::int64_t>(d.rows.size()) - 1;
    g.run_begin = static_cast<std::int64_t>(d.runs.size());
    g.position = group.position;
    for (const KeyRun& run : group.keys) {
        expect(run.row >= 0 && run.count >= 0 && run.row <= d.keys - run.count,
               "visibility: the keys of group ", d.groups.size(), " are rows ", run.row, " to ",
               run.row + run.count, " but there are ", d.keys);
        if (run.count == 0) continue;
        g.keys += run.count;
        // Runs that touch are one run: what is one list has one form.
        if (static_cast<std::int64_t>(d.runs.size()) > g.run_begin &&
            d.runs.back().row + d.runs.back().count == run.row)
            d.runs.back().count += run.count;
        else
            d.runs.push_back(run);
    }
    g.run_end = static_cast<std::int64_t>(d.runs.size());
    expect_disjoint(std::span(d.runs).subspan(static_cast<std::size_t>(g.run_begin)),
                    d.groups.size());
    d.groups.push_back(g);
}

void VisibilityBuilder::row(std::span<const KeyInterval> intervals) {
    Visibility::Data& d = *data_;
    expect(!d.groups.empty(), "visibility: a row before the first group");
    const std::int64_t keys = d.groups.back().keys;
    sorted_.clear();
    for (const KeyInterval& i : intervals) {
        if (i.begin >= i.end) continue;
        expect(i.begin >= 0 && i.end <= keys, "visibility: row ", d.rows.size() - 1, " sees keys ",
               i.begin, " to ", i.end, " but its list has ", keys);
        sorted_.push_back(i);
    }
    std::sort(sorted_.begin(), sorted_.end(),
              [](const KeyInterval& a, const KeyInterval& b) { return a.begin < b.begin; });
    const auto first = static_cast<std::int64_t>(d.intervals.size());
    for (const KeyInterval& i : sorted_) {
        if (static_cast<std::int64_t>(d.intervals.size()) > first &&
            i.begin <= d.intervals.back().end)
            d.intervals.back().end = std::max(d.intervals.back().end, i.end);
        else
            d.intervals.push_back(i);
    }
    d.rows.push_back(static_cast<std::int64_t>(d.intervals.size()));
    ++d.groups.back().q_end;
}

Visibility VisibilityBuilder::build() {
    expect(data_ != nullptr, "visibility: build() called twice");
    find_clusters(data_->groups, data_->runs, data_->cluster_offsets, data_->cluster_groups);
    return Visibility(std::exchange(data_, nullptr));
}

}  // namespace fovea
