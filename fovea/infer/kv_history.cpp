#include "fovea/infer/kv_history.h"

#include <algorithm>
#include <utility>

#include "fovea/base/error.h"

namespace fovea {
namespace {

std::int64_t length_of_history(const KeyList& list) {
    std::int64_t n = 0;
    for (const KeyRun& run : list) n += run.count;
    return n;
}

void append_row(KeyList& list, std::int64_t row) {
    if (!list.empty() && list.back().row + list.back().count == row)
        ++list.back().count;
    else
        list.push_back({row, 1});
}

}  // namespace

Visibility KvHistory::start(std::span<const Ids> prompts) {
    expect(rows_ == 0, "key-value history: started twice");
    expect(!prompts.empty(), "key-value history: no prompts");
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < prompts.size(); ++i) {
        expect(!prompts[i].empty(), "key-value history: prompt ", i, " has no tokens");
        lengths.push_back(static_cast<std::int64_t>(prompts[i].size()));
        prompts_.push_back(static_cast<std::int64_t>(i));
    }
    fresh_ = Segments::of_lengths(lengths);
    positions_.first.assign(prompts.size(), 0);
    make_room(fresh_.total());
    for (std::int64_t i = 0; i < fresh_.count(); ++i)
        lists_.push_back({{fresh_.begin(i), fresh_.length(i)}});
    rows_ = fresh_.total();
    return past(lists_, fresh_, capacity_);
}

Ids KvHistory::last_rows() const {
    Ids rows;
    for (std::int64_t i = 0; i < fresh_.count(); ++i)
        rows.push_back(static_cast<std::int32_t>(fresh_.end(i) - 1));
    return rows;
}

Visibility KvHistory::advance(std::span<const std::int64_t> parents,
                              std::span<const std::int64_t> anew) {
    expect(rows_ > 0, "key-value history: a step before the start");
    expect(anew.empty() || anew.size() == parents.size(), "key-value history: ", anew.size(),
           " numbers of rows for ", parents.size(), " hypotheses");
    std::vector<KeyList> lists;
    std::vector<std::int64_t> prompts, fresh;
    positions_.first.clear();
    for (std::size_t i = 0; i < parents.size(); ++i) {
        const std::int64_t parent = parents[i], again = anew.empty() ? 0 : anew[i];
        expect(parent >= 0 && parent < static_cast<std::int64_t>(lists_.size()),
               "key-value history: parent ", parent, " of ", lists_.size(), " hypotheses");
        lists.push_back(again > 0 ? KeyList{} : lists_[static_cast<std::size_t>(parent)]);
        fresh.push_back(std::max<std::int64_t>(1, again));
        prompts.push_back(prompts_[static_cast<std::size_t>(parent)]);
        positions_.first.push_back(length_of_history(lists.back()));
    }
    lists_ = std::move(lists);
    prompts_ = std::move(prompts);
    fresh_ = Segments::of_lengths(fresh);
    make_room(fresh_.total());
    for (std::size_t i = 0; i < lists_.size(); ++i)
        for (std::int64_t row = 0; row < fresh[i]; ++row) append_row(lists_[i], rows_++);
    return past(lists_, fresh_, capacity_);
}

// Doubles like a vector, but first looks whether dropping dead rows frees half of the caches: then
// the copying is paid for by as many new rows, as in doubling.
void KvHistory::make_room(std::int64_t fresh_rows) {
    dropped_ = false;
    if (rows_ + fresh_rows <= capacity_) return;
    std::vector<bool> alive(static_cast<std::size_t>(rows_), false);
    std::int64_t lives = 0;
    for (const KeyList& list : lists_)
        for (const KeyRun& run : list)
            for (std::int64_t r = run.row; r < run.row + run.count; ++r) {
                lives += alive[static_cast<std::size_t>(r)] ? 0 : 1;
                alive[static_cast<std::size_t>(r)] = true;
            }
    if (lives + fresh_rows <= capacity_ / 2)
        drop_dead_rows(alive);
    else
        capacity_ = std::max(rows_ + fresh_rows, 2 * std::max<std::int64_t>(capacity_, 32));
}

void KvHistory::drop_dead_rows(const std::vector<bool>& alive) {
    std::vector<std::int64_t> new_row(alive.size());
    kept_.clear();
    for (std::size_t r = 0; r < alive.size(); ++r) {
        new_row[r] = static_cast<std::int64_t>(kept_.size());
        if (alive[r]) kept_.push_back(static_cast<std::int64_t>(r));
    }
    for (KeyList& list : lists_) {
        KeyList moved;
        for (const KeyRun& run : list)
            for (std::int64_t r = run.row; r < run.row + run.count; ++r)
                append_row(moved, new_row[static_cast<std::size_t>(r)]);
        list = std::move(moved);
    }
    rows_ = static_cast<std::int64_t>(kept_.size());
    dropped_ = true;
}

void KvHistory::prepare(KvCache& cache, std::int64_t width_k, std::int64_t width_v) const {
    if (dropped_) cache.keep(kept_);
    cache.reserve(capacity_, width_k, width_v);
    expect(cache.rows() + fresh_.total() == rows_ && cache.capacity() == capacity_,
           "key-value history: the cache holds ", cache.rows(), " rows but ",
           rows_ - fresh_.total(), " were appended");
}

}  // namespace fovea
