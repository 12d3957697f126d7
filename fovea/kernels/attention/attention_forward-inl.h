// Attention forward: one pass over the key tiles with the online softmax.
#if defined(FOVEA_KERNELS_ATTENTION_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_FORWARD_INL_H_
#undef FOVEA_KERNELS_ATTENTION_FORWARD_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_FORWARD_INL_H_
#endif

#include <vector>

#include "fovea/kernels/attention/attention_rows-inl.h"
#include "fovea/kernels/simd_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// One tile of query rows. False where the result is not finite and Careful might help.
template <bool Careful, class N, class Tiles>
bool ForwardTile(const AttentionCall& call, Tiles& tiles, int head, const QueryTile<N>& q,
                 KeySource<N>& source, RowNumbers<N>& rows, AttentionScratch& scratch,
                 const ForwardResult& result) {
    constexpr int W = N::kQueries;
    const FloatTag d;
    const std::int64_t dv = call.dv();
    const float scale = Tiles::kScaled ? call.scale : 1.0f;
    float* s = scratch.floats(AttentionScratch::scores, N::kKeys * W);
    const bool factors = call.dropout.p > 0 || Tiles::kFactor;
    float* f = factors ? scratch.floats(AttentionScratch::factors, N::kKeys * W) : nullptr;
    // O [dv][W]; for a single row a row, whose lanes are the columns of the values.
    const bool one_row = N::kInPlace && q.count == 1;
    const std::int64_t o_size = one_row ? round_up(dv, kLanes) : GradientWidth(dv) * W;
    float* o = scratch.floats(AttentionScratch::out, o_size);
    if (one_row) std::fill_n(o, o_size, 0.0f);
    rows.start_softmax();

    scratch.masks.start(call.sees, q.first, q.first + q.count, W);
    source.restart();
    std::int64_t visited = 0;
    KeyTile<N> k;
    for (const TileRange& range : scratch.tile_tiles)
        for (std::int64_t tile = range.begin; tile < range.end; ++tile) {
            if (!FetchTile(tile, source, scratch.masks, rows, k)) continue;
            const Found found = visited++ == 0 ? Found::nothing : Found::sum;
            tiles.tile(q, k, s);
            const bool rescale =
                SoftmaxStep(s, W, k.begin, k.end, q.vectors, scale, k.words, rows.softmax);
            if (factors) {
                MakeFactors(call, tiles, head, q, k, rows, f);
                MultiplyTiles(s, f, W, k.begin, k.end, q.vectors, s);
            }
            if constexpr (N::kInPlace) {
                if (one_row) {
                    MixOneRow<Careful>(k.v, k.begin, k.end, dv, s, W, rows.softmax.alpha[0], o);
                    continue;
                }
            }
            const auto w = N::weigh(s, k.begin, k.end, q.vectors, Needs::mix, scratch);
            N::template mix<Careful>(k.v, k.begin, k.end, dv, w,
                                     rescale && found == Found::sum ? Found::sum_to_scale : found,
                                     rows.softmax.alpha, q.vectors, o);
        }
    count_attention_tiles(visited);
    if (visited == 0) std::fill_n(o, o_size, 0.0f);

    // Divide by the sums (a row that saw nothing: 0) and see to it that a zero is +0. Σ 0·o is 0
    // where all are finite.
    FloatVec finite = hn::Zero(d);
    float* inverse = rows.softmax.alpha;
    for (int n = 0; n < q.vectors; ++n) {
        const FloatVec sum = hn::Load(d, rows.softmax.sum + n * kLanes);
        const auto nothing = hn::Eq(sum, hn::Zero(d));
        hn::Store(hn::IfThenZeroElse(nothing, hn::Div(hn::Set(d, 1.0f), sum)), d,
                  inverse + n * kLanes);
        const FloatVec max = hn::Mul(hn::Set(d, scale), hn::Load(d, rows.softmax.max + n * kLanes));
        const FloatVec lse = hn::Add(max, Log(d, sum));
        hn::Store(hn::IfThenZeroElse(nothing, lse), d, rows.lse + n * kLanes);
    }
    const std::int64_t o_rows = one_row ? 1 : dv;
    for (std::int64_t c = 0; c < o_rows; ++c)
        for (std::int64_t n = 0; n < (one_row ? o_size / kLanes : q.vectors); ++n) {
            float* at = o + c * W + n * kLanes;
            const FloatVec x =
                hn::Mul(hn::Load(d, at),
                        one_row ? hn::Set(d, inverse[0]) : hn::Load(d, inverse + n * kLanes));
            finite = Fma(x, hn::Zero(d), finite);
            hn::Store(hn::Add(x, hn::Zero(d)), d, at);
        }
    if (!Careful && !hn::AllTrue(d, hn::Eq(finite, hn::Zero(d)))) return false;

    const View to = result.out.block(q.first, q.first + q.count, head * dv, (head + 1) * dv);
    if (one_row)
        std::copy_n(o, dv, to.row(0));
    else
        UnpackColumns(o, W, to, false);
    std::copy_n(rows.lse, q.count, result.lse.row(head) + q.first);
    return true;
}

// Rows [q_begin, q_end) of a task. Returns the query tiles whose result is not finite: a key that
// nobody sees may be the cause, so they are to be done again with care.
template <bool Careful, class N, class Tiles, class Score>
std::vector<std::int64_t> ForwardRows(const AttentionCall& call, const Score& score,
                                      const ForwardTask& task, const ForwardResult& result) {
    AttentionScratch& scratch = AttentionScratch::of_this_thread();
    [[maybe_unused]] typename N::Session session;
    KeySource<N> source = SourceOf<N>(call, *task.group, task.head, Needs::dots, Needs::mix,
                                      task.q_begin, task.q_end, scratch);
    RowNumbers<N> rows(scratch);
    Tiles tiles(call, score, task.head, scratch, ScoreTargets{});
    std::vector<std::int64_t> doubtful;
    for (std::int64_t first = task.q_begin; first < task.q_end; first += N::kQueries) {
        const QueryTile<N> q = TileOfQueries<N>(*task.group, first, task.q_end);
        visited_tiles(call.sees, first, first + q.count, N::kKeys, scratch.tile_tiles);
        tiles.load(q);
        if (call.dropout.p > 0) rows.name_rows(call.dropout, q);
        if (!ForwardTile<Careful>(call, tiles, task.head, q, source, rows, scratch, result))
            doubtful.push_back(first);
    }
    return doubtful;
}

template <class N, template <class> class Tiles, class Score>
void ForwardPiece(const AttentionCall& call, const void* of, const ForwardTask& task,
                  const ForwardResult& result) {
    using C = typename N::Careful;
    const auto& score = *static_cast<const Score*>(of);
    static_assert(C::kQueries == N::kQueries && C::kKeys == N::kKeys);
    for (const std::int64_t first : ForwardRows<false, N, Tiles<N>>(call, score, task, result)) {
        ForwardTask again = task;
        again.q_begin = first;
        again.q_end = HWY_MIN(task.q_end, first + N::kQueries);
        ForwardRows<true, C, Tiles<C>>(call, score, again, result);
    }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
