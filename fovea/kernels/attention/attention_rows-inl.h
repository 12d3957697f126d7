// What the forward, backward and score loops share: the rows of a query tile, and its next key
// tile.
#if defined(FOVEA_KERNELS_ATTENTION_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_ROWS_INL_H_
#undef FOVEA_KERNELS_ATTENTION_ROWS_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <limits>

#include "fovea/kernels/attention/attention_driver.h"
#include "fovea/kernels/attention/attention_keys-inl.h"
#include "fovea/kernels/attention/attention_softmax-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Numbers of the rows of a query tile, and the weights' factors that go with them.
template <class N>
struct RowNumbers {
    static constexpr int W = N::kQueries;

    explicit RowNumbers(AttentionScratch& scratch) {
        float* at = scratch.floats(AttentionScratch::rows, 8 * W + words_floats());
        softmax = {at, at + W, at + 2 * W};
        lse = at + 3 * W;
        mean = at + 4 * W;
        auto* u = reinterpret_cast<std::uint32_t*>(at + 5 * W);
        dropout = {u, u + W, u + 2 * W};
        words = u + 3 * W;
    }

    void start_softmax() {
        std::fill_n(softmax.max, W, -std::numeric_limits<float>::infinity());
        std::fill_n(softmax.sum, W, 0.0f);
    }

    void name_rows(const AttentionDropout& d, const QueryTile<N>& t) {
        for (int r = 0; r < W; ++r) {
            const bool real = r < t.count;
            const std::uint64_t sample = real ? d.samples[t.first + r] : 0;
            dropout.position[r] = real ? d.positions[t.first + r] : 0;
            dropout.sample_low[r] = static_cast<std::uint32_t>(sample);
            dropout.sample_high[r] = static_cast<std::uint32_t>(sample >> 32);
        }
    }

    SoftmaxRows softmax;
    float *lse, *mean;
    DropoutRows dropout;
    std::uint32_t* words;

private:
    static constexpr std::int64_t words_floats() { return N::kKeys / 32 * W; }
};

// The next key tile: where it is and who sees it. False where no row of the query tile sees it
// (its rows see other tiles of the same range).
template <class N>
bool FetchTile(std::int64_t tile, KeySource<N>& source, RowMasks& masks, RowNumbers<N>& rows,
               KeyTile<N>& t) {
    source.fetch(tile, t);
    const RowMasks::Seen seen = masks.look(t.first, N::kKeys, rows.words);
    t.begin = seen.begin;
    t.end = seen.end;
    t.words = seen.all ? nullptr : rows.words;
    return seen.begin < seen.end;
}

template <class N>
QueryTile<N> TileOfQueries(const VisibleGroup& group, std::int64_t first, std::int64_t end) {
    const auto count = static_cast<int>(HWY_MIN(end - first, std::int64_t{N::kQueries}));
    return {&group, first, count, (count + kLanes - 1) / kLanes};
}

// Multiplies the tile p by factors of dropout and score; f holds them afterwards.
template <class N, class Tiles>
void MakeFactors(const AttentionCall& call, Tiles& tiles, int head, const QueryTile<N>& q,
                 const KeyTile<N>& k, const RowNumbers<N>& rows, float* f) {
    constexpr int W = N::kQueries;
    if (call.dropout.p > 0)
        DropoutFactors(call.dropout, head, rows.dropout, k.first, k.begin, k.end, W, q.vectors, f);
    if constexpr (Tiles::kFactor) {
        if (call.dropout.p == 0) std::fill_n(f + k.begin * W, (k.end - k.begin) * W, 1.0f);
        tiles.factor(q, k, f);
    }
}

// Keys are worth packing where they are read often enough: by several query tiles, or often by one
// when there are so many that they would push each other out of the first cache.
template <class N>
KeySource<N> SourceOf(const AttentionCall& call, const VisibleGroup& group, int head, Needs k_needs,
                      Needs v_needs, std::int64_t q_begin, std::int64_t q_end,
                      AttentionScratch& scratch) {
    visited_tiles(call.sees, q_begin, q_end, N::kKeys, scratch.piece_tiles);
    const std::int64_t n = q_end - q_begin;
    const bool pack = n > N::kQueries || (n > kLanes && group.keys > 24);
    return KeySource<N>(call, group, head, k_needs, v_needs, N::kInPlace && !pack,
                        scratch.piece_tiles, scratch);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
