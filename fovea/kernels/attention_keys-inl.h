// The keys of a group, tile by tile in logical order.
#if defined(FOVEA_KERNELS_ATTENTION_KEYS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_KEYS_INL_H_
#undef FOVEA_KERNELS_ATTENTION_KEYS_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_KEYS_INL_H_
#endif

#include <cassert>
#include <cstdint>

#include "fovea/base/checked.h"
#include "fovea/kernels/attention.h"
#include "fovea/kernels/attention_driver.h"
#include "fovea/kernels/attention_layout-inl.h"
#include "fovea/kernels/attention_tiles.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

// Tile sizes and arithmetic of f32. The key tile decides bits, the query tile does not.
struct F32 {
    static constexpr int kKeys = 64;
    static constexpr int kQueries = 48;  // three vectors of AVX-512, six of AVX2
};

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
    int count;                   // keys of the list in this tile
    int begin, end;              // those that some row of the query tile sees
    const std::uint32_t* words;  // row masks, or null: all rows see all of [begin, end)
    const float* k[N::kKeys];
    const float* v[N::kKeys];
    std::int64_t row[N::kKeys];  // packed
};

// Hands out the tiles of one group and head, read in place (few queries: decoding copies nothing)
// or packed side by side once for all query tiles.
template <class N>
class KeySource {
public:
    KeySource(const AttentionCall& call, const VisibleGroup& group, int head, bool pack,
              const std::vector<TileRange>& ranges, AttentionScratch& scratch)
        : call_(call), group_(group), ranges_(ranges), head_(head), packed_(pack) {
        if (!pack) return;
        const std::int64_t n = tiles() * N::kKeys;
        k_ = scratch.floats(AttentionScratch::keys, n * dk());
        v_ = scratch.floats(AttentionScratch::values, n * dv());
        std::int64_t slot = 0;
        KeyTile<N> t;
        for (const TileRange& r : ranges)
            for (std::int64_t tile = r.begin; tile < r.end; ++tile, ++slot) {
                find_rows(tile, t);
                for (int j = 0; j < t.count; ++j) {
                    PackRow(key(t.row[j]), dk(), dk(), k_ + (slot * N::kKeys + j) * dk());
                    PackRow(value(t.row[j]), dv(), dv(), v_ + (slot * N::kKeys + j) * dv());
                }
            }
    }

    std::int64_t tiles() const {
        std::int64_t n = 0;
        for (const TileRange& r : ranges_) n += r.end - r.begin;
        return n;
    }

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
        find_rows(tile, t);
        t.slot = slot_ + tile - ranges_[range_].begin;
        for (int j = 0; j < t.count; ++j) {
            t.k[j] = packed_ ? k_ + (t.slot * N::kKeys + j) * dk() : key(t.row[j]);
            t.v[j] = packed_ ? v_ + (t.slot * N::kKeys + j) * dv() : value(t.row[j]);
        }
    }

private:
    std::int64_t dk() const { return call_.dk(); }
    std::int64_t dv() const { return call_.v.data ? call_.dv() : 0; }
    const float* key(std::int64_t row) const { return call_.k.row(row) + head_ * dk(); }
    const float* value(std::int64_t row) const { return call_.v.row(row) + head_ * dv(); }

    void find_rows(std::int64_t tile, KeyTile<N>& t) const {
        t.first = tile * N::kKeys;
        t.count = static_cast<int>(HWY_MIN(group_.keys - t.first, std::int64_t{N::kKeys}));
        std::int64_t skip = t.first;
        int j = 0;
        for (const KeyRun& run : call_.sees.runs_of(group_)) {
            for (; skip < run.count && j < t.count; ++skip) t.row[j++] = run.row + skip;
            if (j == t.count) break;
            skip -= run.count;
        }
    }

    const AttentionCall& call_;
    const VisibleGroup& group_;
    const std::vector<TileRange>& ranges_;
    int head_;
    bool packed_;
    float *k_ = nullptr, *v_ = nullptr;
    std::size_t range_ = 0;
    std::int64_t slot_ = 0;
};

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
