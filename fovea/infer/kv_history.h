#pragma once
// Which rows of a key-value cache each hypothesis sees: its prompt, then what it has produced.
// Beams and samples of one sentence share the rows of their common past; nothing is copied when
// hypotheses fork or are re-ordered. Knows no model: any decoder with a KvCache per layer uses it.
//
//     const Visibility sees = history.advance(parents);   // or start(prompts)
//     for (KvCache& cache : caches) history.prepare(cache, width);
//     ... append the new rows to each cache, at history.positions(), attending by `sees` ...
//
// Rows that no hypothesis sees any more are dropped whenever the caches would have to grow and
// at least half of them is dead, so memory follows the live hypotheses, not the search so far.
// Not thread-safe: a history belongs to one search.
#include <cstdint>
#include <span>
#include <vector>

#include "fovea/nn/kv_cache.h"
#include "fovea/ops/rows/positions.h"
#include "fovea/tensor/segments.h"
#include "fovea/tensor/visibility.h"

namespace fovea {

class KvHistory {
public:
    // The new rows are the tokens of all prompts, end to end; each sees its own prompt up to
    // itself.
    Visibility start(std::span<const Ids> prompts);

    // One new row per hypothesis: it continues hypothesis parents[i] of the call before (after
    // start: prompt parents[i]) and sees that one's history and itself. Where anew[i] is not 0, the
    // hypothesis begins again instead, like a prompt of so many rows.
    Visibility advance(std::span<const std::int64_t> parents,
                       std::span<const std::int64_t> anew = {});

    // Of the last call: the new rows, one sequence per prompt or hypothesis, …
    const Segments& fresh() const { return fresh_; }
    // … the position of each sequence's first row (prompts differ in length, so these do too), …
    const Positions& positions() const { return positions_; }
    // … and the prompt that hypothesis i began with.
    std::int64_t prompt_of(std::int64_t i) const { return prompts_[static_cast<std::size_t>(i)]; }
    const std::vector<std::int64_t>& prompts() const { return prompts_; }  // of all of them
    // The last of the new rows of each sequence, from which its next token is told.
    Ids last_rows() const;

    // Makes a layer's cache ready for the new rows of the last call, once per call: drops dead rows
    // and makes room. Widths are the columns of keys and of values.
    void prepare(KvCache& cache, std::int64_t width_k, std::int64_t width_v) const;

private:
    void make_room(std::int64_t fresh_rows);
    void drop_dead_rows(const std::vector<bool>& alive);

    std::vector<KeyList> lists_;  // cache rows of each hypothesis, in the order of its tokens
    std::vector<std::int64_t> prompts_;
    Segments fresh_;
    Positions positions_;
    std::vector<std::int64_t> kept_;  // rows that survived the last call, if `dropped_`
    bool dropped_ = false;
    std::int64_t rows_ = 0, capacity_ = 0;  // of every cache, with the new rows
};

}  // namespace fovea
