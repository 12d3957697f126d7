#pragma once
// What a Visibility is made of, as plain data that kernels take. See tensor/visibility.h.
//
// Query rows come in groups of consecutive packed rows. The keys of a group are one *logical list*:
// runs of packed key rows laid end to end (its sequence; memory, then segment; shared prefix, then
// own rows). Intervals, tiles and lanes count in logical indices, never in packed rows: that alone
// makes packed = alone = cached = full forward, bit for bit.
#include <cstdint>
#include <span>

namespace fovea {

struct KeyRun {  // packed key rows [row, row + count)
    std::int64_t row = 0;
    std::int64_t count = 0;
    bool operator==(const KeyRun&) const = default;
};

struct KeyInterval {  // logical indices [begin, end)
    std::int64_t begin = 0;
    std::int64_t end = 0;
    bool operator==(const KeyInterval&) const = default;
};

struct VisibleGroup {
    std::int64_t q_begin = 0, q_end = 0;      // packed query rows
    std::int64_t run_begin = 0, run_end = 0;  // its part of VisibilityView::runs
    std::int64_t keys = 0;                    // length of the logical list
    std::int64_t position = 0;  // logical index of the first query itself (0 in cross-attention)
};

struct VisibilityView {
    std::int64_t queries = 0, keys = 0;    // packed rows of q and of k
    std::span<const VisibleGroup> groups;  // in order, every query row in exactly one of them
    std::span<const KeyRun> runs;
    std::span<const std::int64_t> rows;      // [queries + 1], offsets into intervals
    std::span<const KeyInterval> intervals;  // of each row: sorted, disjoint, not adjacent
    // Groups that share key rows form a cluster; backward walks a cluster's groups in order on one
    // thread, so that a key's gradient is summed in a fixed order without atomics.
    std::span<const std::int64_t> cluster_offsets;  // [clusters + 1], into cluster_groups
    std::span<const std::int64_t> cluster_groups;

    std::span<const KeyInterval> of_row(std::int64_t i) const {
        const auto b = static_cast<std::size_t>(rows[static_cast<std::size_t>(i)]);
        const auto e = static_cast<std::size_t>(rows[static_cast<std::size_t>(i) + 1]);
        return intervals.subspan(b, e - b);
    }
    std::span<const KeyRun> runs_of(const VisibleGroup& g) const {
        return runs.subspan(static_cast<std::size_t>(g.run_begin),
                            static_cast<std::size_t>(g.run_end - g.run_begin));
    }
    std::int64_t clusters() const { return static_cast<std::int64_t>(cluster_offsets.size()) - 1; }
};

// The packed row of a logical index of this list (which has at least index + 1 keys).
inline std::int64_t packed_row(std::span<const KeyRun> runs, std::int64_t index) {
    for (const KeyRun& run : runs) {
        if (index < run.count) return run.row + index;
        index -= run.count;
    }
    return -1;
}

}  // namespace fovea
