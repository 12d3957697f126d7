#pragma once
// Who sees whom, as data: for each query row, the intervals of key rows it may read. Causal, local,
// cross, cached, prefix-shared, hybrid and XLNet's permutation are builders of this one value, and
// there is one attention kernel. A cheap handle; immutable after construction, so thread-safe.
//
// Query rows come in groups; a group's keys are a *logical list* made of runs of packed key rows,
// and its rows' intervals count in that list (see base/visibility_view.h). A row that sees nothing
// is allowed: attention gives it zeros.
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "fovea/base/visibility_view.h"
#include "fovea/tensor/segments.h"

namespace fovea {

class Visibility {
public:
    Visibility();  // no queries, no keys

    std::int64_t queries() const;  // rows of q
    std::int64_t keys() const;     // rows of k and v
    VisibilityView view() const;

    std::int64_t visible(std::int64_t query) const;         // how many keys this row sees
    bool sees(std::int64_t query, std::int64_t key) const;  // packed rows; for people and tests
    Segments visible_counts() const;  // one segment a query row: the layout of a Ragged map

    bool same_handle(const Visibility& other) const { return data_ == other.data_; }

private:
    friend class VisibilityBuilder;
    struct Data;
    explicit Visibility(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
    std::shared_ptr<const Data> data_;
};

using KeyList = std::vector<KeyRun>;

// The way to make any Visibility: groups in the order of the packed query rows, then their rows.
//     VisibilityBuilder b(k.rows());
//     b.group({.keys = {{0, 10}, {64, 2}}, .position = 10});
//     b.row({{0, 11}});
//     b.row({{0, 12}});
//     const Visibility sees = b.build();
class VisibilityBuilder {
public:
    struct Group {
        KeyList keys;
        std::int64_t position = 0;  // logical index of the first query itself
    };

    explicit VisibilityBuilder(std::int64_t keys);  // rows of k and v
    void group(const Group& group);
    // Sorted or not, overlapping or not: merged here. Each must lie within the group's list.
    void row(std::span<const KeyInterval> intervals);
    void row(std::initializer_list<KeyInterval> intervals) {
        row(std::span<const KeyInterval>(intervals.begin(), intervals.size()));
    }
    Visibility build();  // once

private:
    std::shared_ptr<Visibility::Data> data_;
    std::vector<KeyInterval> sorted_;
};

// Builders. Row i of a sequence of n rows; intervals count within its own sequence.

Visibility everything(const Segments& q, const Segments& k);  // [0, n of k)
// The same with keys anywhere: list i belongs to query sequence i; lists may share rows (beams over
// one source). `keys` = rows of k.
Visibility everything(const Segments& q, std::span<const KeyList> lists, std::int64_t keys);

Visibility past(const Segments& s);    // causal: [0, i + 1)
Visibility before(const Segments& s);  // XLNet's query stream: [0, i)
Visibility window(const Segments& s, std::int64_t left, std::int64_t right);  // [i-l, i+r+1)

// Decoding with a cache: the last fresh.length(i) keys of list i are the new rows themselves; each
// sees all keys up to itself. A list may have several runs (beams: shared prefix, then own rows).
Visibility past(std::span<const KeyList> lists, const Segments& fresh, std::int64_t keys);
// Transformer-XL: k = memory rows of all sequences, then the rows of s.
Visibility past(const Segments& memory, const Segments& s);
// Any self-visibility with a memory of which all rows are seen; k as above. For XLNet:
// with_memory(m, prefix(s, p)) and with_memory(m, before(s)).
Visibility with_memory(const Segments& memory, const Visibility& own);

// Prefix LM: the first p rows see each other, later rows their past: [0, max(p, i + 1)). With rows
// stored in factorisation order this is XLNet's content stream. One p, or one per sequence.
Visibility prefix(const Segments& s, std::int64_t p);
Visibility prefix(const Segments& s, std::span<const std::int64_t> p);

// Luong et al. 2015, local-p: row i sees the integers of [centre - D, centre + D] in its source.
Visibility around(const Segments& q, const Segments& k, std::span<const float> centres, double d);

// Every row sees these rows of its sequence (global tokens); these rows see everything.
Visibility columns(const Segments& s, std::span<const std::int64_t> cols);
Visibility columns(const Segments& s, std::initializer_list<std::int64_t> cols);
Visibility global_rows(const Segments& s, std::span<const std::int64_t> which);
Visibility global_rows(const Segments& s, std::initializer_list<std::int64_t> which);

// Images of height x width rows in reading order: |y - y'| <= ry and |x - x'| <= rx.
Visibility window_2d(std::int64_t images, std::int64_t height, std::int64_t width, std::int64_t ry,
                     std::int64_t rx);

// Whatever a or b lets a row see. Same query groups. Where the key lists differ, the list is a's,
// then b's (no row in both): window(s, l, r) united with pooled summary rows appended to the keys.
Visibility unite(const Visibility& a, const Visibility& b);

// The same pattern where its keys begin at row `first` of a larger k of `keys` rows.
Visibility shift_keys(const Visibility& sees, std::int64_t first, std::int64_t keys);

}  // namespace fovea
