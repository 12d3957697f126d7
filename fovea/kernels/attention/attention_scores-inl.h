// The scores themselves, for pointer networks, hard attention and maps; and their gradient.
#if defined(FOVEA_KERNELS_ATTENTION_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_SCORES_INL_H_
#undef FOVEA_KERNELS_ATTENTION_SCORES_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_SCORES_INL_H_
#endif

#include "fovea/kernels/attention/attention_rows-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// run(row of the tile, key of the tile, place of the pair among the row's scores) for each visible
// pair; next[r] counts the keys of row r that were passed.
template <class N, class Run>
HWY_INLINE void ForVisiblePairs(const QueryTile<N>& q, const KeyTile<N>& k, std::int64_t* next,
                                const Run& run) {
    for (int r = 0; r < q.count; ++r)
        for (int j = k.begin; j < k.end; ++j)
            if (!k.words || (k.words[j / 32 * N::kQueries + r] >> (j % 32) & 1))
                run(r, j, next[r]++);
}

struct StoreScore {
    const float* s;
    float* values;
    float by;
    int stride;
    void operator()(int r, int j, std::int64_t at) const { values[at] = s[j * stride + r] * by; }
};

struct LoadGradient {
    const float* dvalues;
    float* ds;
    float by;
    int stride;
    void operator()(int r, int j, std::int64_t at) const { ds[j * stride + r] = dvalues[at] * by; }
};

template <template <class> class Kind, class Score>
void ScoresPiece(const AttentionCall& call, const void* of, const ForwardTask& task,
                 const ScoresPlace& place) {
    const auto& score = *static_cast<const Score*>(of);
    using N = F32;
    using Tiles = Kind<N>;
    constexpr int W = N::kQueries;
    AttentionScratch& scratch = AttentionScratch::of_this_thread();
    KeySource<N> source = SourceOf<N>(call, *task.group, task.head, Needs::dots, Needs::dots,
                                      task.q_begin, task.q_end, scratch);
    RowNumbers<N> rows(scratch);
    Tiles tiles(call, score, task.head, scratch, ScoreTargets{});
    const float scale = Tiles::kScaled ? call.scale : 1.0f;
    float* s = scratch.floats(AttentionScratch::scores, N::kKeys * W);
    float* values = place.values + (task.head - call.head_begin) * place.offsets[call.sees.queries];
    KeyTile<N> k;
    for (std::int64_t first = task.q_begin; first < task.q_end; first += W) {
        const QueryTile<N> q = TileOfQueries<N>(*task.group, first, task.q_end);
        visited_tiles(call.sees, first, first + q.count, N::kKeys, scratch.tile_tiles);
        tiles.load(q);
        scratch.masks.start(call.sees, q.first, q.first + q.count, W);
        source.restart();
        std::int64_t next[W];
        std::copy_n(place.offsets + first, q.count, next);
        for (const TileRange& range : scratch.tile_tiles)
            for (std::int64_t tile = range.begin; tile < range.end; ++tile) {
                if (!FetchTile(tile, source, scratch.masks, rows, k)) continue;
                tiles.tile(q, k, s);
                ForVisiblePairs(q, k, next, StoreScore{s, values, scale, W});
            }
    }
}

template <template <class> class Kind, class Score>
void ScoresBackwardPiece(const AttentionCall& call, const void* of, const BackwardTask& task,
                         const ScoresPlace& place) {
    const auto& score = *static_cast<const Score*>(of);
    using N = F32;
    using Tiles = Kind<N>;
    constexpr int W = N::kQueries;
    AttentionScratch& scratch = AttentionScratch::of_this_thread();
    const std::int64_t width = GradientWidth(call.dk());
    float* ds = scratch.floats(AttentionScratch::dscores, N::kKeys * W);
    const float* dvalues =
        place.dvalues + (task.head - call.head_begin) * place.offsets[call.sees.queries];
    RowNumbers<N> rows(scratch);
    KeyTile<N> k;
    for (std::int64_t i = 0; i < task.count; ++i) {
        const VisibleGroup& group = call.sees.groups[static_cast<std::size_t>(task.groups[i])];
        KeySource<N> source = SourceOf<N>(call, group, task.head, Needs::dots_and_mix, Needs::dots,
                                          group.q_begin, group.q_end, scratch);
        const std::int64_t n = source.used();
        float* dk = nullptr;
        if (place.to.dk) {
            dk = scratch.floats(AttentionScratch::dkeys, n * width);
            std::fill_n(dk, n * width, 0.0f);
        }
        Tiles tiles(call, score, task.head, scratch,
                    {place.to.dq, place.to.drows, task.dparameters});
        for (std::int64_t first = group.q_begin; first < group.q_end; first += W) {
            const QueryTile<N> q = TileOfQueries<N>(group, first, group.q_end);
            visited_tiles(call.sees, first, first + q.count, N::kKeys, scratch.tile_tiles);
            tiles.load(q);
            tiles.start(q);
            scratch.masks.start(call.sees, q.first, q.first + q.count, W);
            source.restart();
            std::int64_t next[W];
            std::copy_n(place.offsets + first, q.count, next);
            for (const TileRange& range : scratch.tile_tiles)
                for (std::int64_t tile = range.begin; tile < range.end; ++tile) {
                    if (!FetchTile(tile, source, scratch.masks, rows, k)) continue;
                    std::fill_n(ds + k.begin * W, (k.end - k.begin) * W, 0.0f);
                    ForVisiblePairs(
                        q, k, next,
                        LoadGradient{dvalues, ds, Tiles::kScaled ? call.scale : 1.0f, W});
                    const std::int64_t at = k.slot * N::kKeys;
                    tiles.template tile_backward<true>(q, k, ds, dk ? dk + at * width : nullptr);
                }
            tiles.finish(q);
        }
        if (dk) source.scatter(dk, width, call.dk(), task.head * call.dk(), place.to.dk.view);
    }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
