// The keys of a group, tile by tile in logical order.
#if defined(FOVEA_KERNELS_ATTENTION_KEYS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_KEYS_INL_H_
#undef FOVEA_KERNELS_ATTENTION_KEYS_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_KEYS_INL_H_
#endif

#include <cassert>
#include <cstdint>

#include "fovea/kernels/attention/attention.h"
#include "fovea/kernels/attention/attention_driver.h"
#include "fovea/kernels/attention/attention_numbers-inl.h"
#include "fovea/kernels/attention/attention_tiles.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

template <class N>
struct QueryTile {
    const VisibleGroup* group;
    std::int64_t first;  // packed row
    int count, vectors;  // rows, and vectors that hold them

    std::int64_t position(int r) const { return group->position + first - group->q_begin + r; }
};

template <class N>
struct KeyTile {
    std::int64_t first;          // logical index of its key 0
    std::int64_t slot;           // which of the source's tiles this is
    int begin, end;              // keys that some row of the query tile sees
    const std::uint32_t* words;  // row masks, or null: all rows see all of [begin, end)
    typename N::Rows k, v;
    const std::int64_t* row;  // packed, of each key of the tile
};

// The tiles of one group and head that a piece's query rows touch, read in place (few queries:
// decoding copies nothing) or packed side by side once for all query tiles.
template <class N>
class KeySource {
public:
    KeySource(const AttentionCall& call, const VisibleGroup& group, int head, Needs k_needs,
              Needs v_needs, bool in_place, const std::vector<TileRange>& ranges,
              AttentionScratch& scratch)
        : ranges_(ranges),
          tiles_(count_tiles(ranges)),
          keys_(tiles_ * N::kKeys, call.dk(), k_needs, in_place, kKeyStore, scratch),
          values_(call.v.data ? tiles_ * N::kKeys : 0, call.v.data ? call.dv() : 0, v_needs,
                  in_place, kValueStore, scratch),
          rows_(scratch.take<std::int64_t>(AttentionScratch::packed_rows, tiles_ * N::kKeys)) {
        const std::int64_t dk = call.dk(), dv = call.v.data ? call.dv() : 0;
        std::int64_t slot = 0;
        const auto runs = call.sees.runs_of(group);
        for (const TileRange& r : ranges)
            for (std::int64_t tile = r.begin; tile < r.end; ++tile, ++slot) {
                const std::int64_t at = slot * N::kKeys;
                const int n = find_rows(runs, tile * N::kKeys, group.keys, rows_ + at);
                for (int j = 0; j < n; ++j) {
                    const std::int64_t row = rows_[at + j];
                    keys_.put(at + j, call.k.row(row) + head * dk);
                    if (dv > 0) values_.put(at + j, call.v.row(row) + head * dv);
                }
                used_ = at + n;
            }
        keys_.finish(used_);
        if (dv > 0) values_.finish(used_);
    }

    // Rows of keys in use, the last tile's cut to what there is: the gradients' rows.
    std::int64_t used() const { return used_; }

    // Tiles of rising number; restart() before going back.
    void restart() {
        range_ = 0;
        slot_ = 0;
    }
    void fetch(std::int64_t tile, KeyTile<N>& t) {
        while (tile >= ranges_[range_].end) {
            slot_ += ranges_[range_].end - ranges_[range_].begin;
            ++range_;
        }
        assert(tile >= ranges_[range_].begin);
        t.first = tile * N::kKeys;
        t.slot = slot_ + tile - ranges_[range_].begin;
        t.k = keys_.rows(t.slot * N::kKeys);
        t.v = values_.rows(t.slot * N::kKeys);
        t.row = rows_ + t.slot * N::kKeys;
    }

    // to.row(packed row of key i)[offset + e] += from[i][e], for all keys in use.
    void scatter(const float* from, std::int64_t width, std::int64_t d, std::int64_t offset,
                 View to) const {
        for (std::int64_t i = 0; i < used_; ++i) {
            float* y = to.row(rows_[i]) + offset;
            for (std::int64_t e = 0; e < d; ++e) y[e] += from[i * width + e];
        }
    }

private:
    static std::int64_t count_tiles(const std::vector<TileRange>& ranges) {
        std::int64_t n = 0;
        for (const TileRange& r : ranges) n += r.end - r.begin;
        return n;
    }

    // The packed rows of a tile's keys; returns how many there are.
    static int find_rows(std::span<const KeyRun> runs, std::int64_t first, std::int64_t keys,
                         std::int64_t* rows) {
        const auto n = static_cast<int>(HWY_MIN(keys - first, std::int64_t{N::kKeys}));
        std::int64_t skip = first;
        int j = 0;
        for (const KeyRun& run : runs) {
            for (; skip < run.count && j < n; ++skip) rows[j++] = run.row + skip;
            if (j == n) break;
            skip -= run.count;
        }
        return n;
    }

    const std::vector<TileRange>& ranges_;
    std::int64_t tiles_;
    typename N::Store keys_, values_;
    std::int64_t* rows_;
    std::int64_t used_ = 0;
    std::size_t range_ = 0;
    std::int64_t slot_ = 0;
};

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
