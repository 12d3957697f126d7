// Attention backward: the scores again, tile by tile, and five products on them.
#if defined(FOVEA_KERNELS_ATTENTION_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_BACKWARD_INL_H_
#undef FOVEA_KERNELS_ATTENTION_BACKWARD_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_BACKWARD_INL_H_
#endif

#include "fovea/kernels/attention/attention_rows-inl.h"
#include "fovea/kernels/simd_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// What backward needs of a query tile beyond the score's own: dO in both layouts, log-sum-exp, and
// each row's mean of dP, Σⱼ pⱼ dpⱼ = Σ_c dO[c] O[c].
template <class N>
struct BackwardRows {
    static constexpr int W = N::kQueries;
    using Value = typename N::Value;

    BackwardRows(std::int64_t d, AttentionScratch& scratch)
        : dv(d),
          dout(scratch.take<Value>(AttentionScratch::dout, N::query_values(d))),
          dout_rows(scratch.take<Value>(AttentionScratch::dout_rows, N::query_row_values(d))),
          columns(scratch.floats(AttentionScratch::out, 2 * d * W)) {}

    void load(const QueryTile<N>& q, int head, const BackwardInput& in, RowNumbers<N>& rows) {
        const FloatTag d;
        const ConstView dy = in.dout.block(q.first, q.first + q.count, head * dv, (head + 1) * dv);
        const ConstView y = in.out.block(q.first, q.first + q.count, head * dv, (head + 1) * dv);
        N::pack_queries(dy, nullptr, q.vectors, dout);
        N::pack_query_rows(dy, nullptr, dout_rows);
        float *a = columns, *b = columns + dv * W;
        PackColumns(dy, nullptr, q.vectors, W, a);
        PackColumns(y, nullptr, q.vectors, W, b);
        // The chain of Dots: in f32, a row that sees one key has dp = mean and a gradient of 0.
        for (int n = 0; n < q.vectors; ++n) {
            FloatVec mean = hn::Zero(d);
            for (std::int64_t c = 0; c < dv; ++c) {
                const std::int64_t at = c * W + n * kLanes;
                mean = Fma(hn::Load(d, a + at), hn::Load(d, b + at), mean);
            }
            hn::Store(mean, d, rows.mean + n * kLanes);
        }
        std::fill_n(rows.lse, W, 0.0f);
        std::copy_n(in.lse.row(head) + q.first, q.count, rows.lse);
    }

    std::int64_t dv;
    Value *dout, *dout_rows;
    float* columns;
};

template <bool Careful, class N, class Tiles>
void BackwardTiles(const AttentionCall& call, Tiles& tiles, int head, const VisibleGroup& group,
                   KeySource<N>& source, float* dk, float* dv, AttentionScratch& scratch,
                   const BackwardInput& in) {
    constexpr int W = N::kQueries;
    const std::int64_t width = call.dv(), k_width = GradientWidth(call.dk());
    const std::int64_t v_width = GradientWidth(width);
    const float scale = Tiles::kScaled ? call.scale : 1.0f;
    float* p = scratch.floats(AttentionScratch::scores, N::kKeys * W);
    float* dp = scratch.floats(AttentionScratch::dscores, N::kKeys * W);
    const bool factors = call.dropout.p > 0 || Tiles::kFactor;
    float* f = factors ? scratch.floats(AttentionScratch::factors, N::kKeys * W) : nullptr;
    float* pf = factors ? scratch.floats(AttentionScratch::weights, N::kKeys * W) : p;
    BackwardRows<N> out(width, scratch);
    RowNumbers<N> rows(scratch);
    KeyTile<N> k;
    for (std::int64_t first = group.q_begin; first < group.q_end; first += W) {
        const QueryTile<N> q = TileOfQueries<N>(group, first, group.q_end);
        visited_tiles(call.sees, first, first + q.count, N::kKeys, scratch.tile_tiles);
        tiles.load(q);
        tiles.start(q);
        out.load(q, head, in, rows);
        if (call.dropout.p > 0) rows.name_rows(call.dropout, q);
        scratch.masks.start(call.sees, q.first, q.first + q.count, W);
        source.restart();
        for (const TileRange& range : scratch.tile_tiles)
            for (std::int64_t tile = range.begin; tile < range.end; ++tile) {
                if (!FetchTile(tile, source, scratch.masks, rows, k)) continue;
                tiles.tile(q, k, p);
                SoftmaxWeights(p, W, k.begin, k.end, q.vectors, scale, k.words, rows.lse);
                if (factors) {
                    MakeFactors(call, tiles, head, q, k, rows, f);
                    MultiplyTiles(p, f, W, k.begin, k.end, q.vectors, pf);
                }
                const std::int64_t at = k.slot * N::kKeys;
                if (dv) {
                    const auto w = N::weigh(pf, k.begin, k.end, q.vectors, Needs::dots, scratch);
                    N::template outer<Careful>(w, k.begin, k.end, q.count, out.dout_rows, width,
                                               dv + at * v_width);
                }
                N::dots(k.v, k.begin, k.end, width, out.dout, q.vectors, dp);
                if constexpr (Tiles::kFactor) tiles.factor_backward(q, k, pf, dp);
                ScoreGradients(p, f, rows.mean, scale, W, k.begin, k.end, q.vectors, dp);
                tiles.template tile_backward<Careful>(q, k, dp, dk ? dk + at * k_width : nullptr);
            }
        tiles.finish(q);
    }
}

template <bool Careful, class N, class Tiles, class Score>
void BackwardGroup(const AttentionCall& call, const Score& score, const VisibleGroup& group,
                   const BackwardTask& task, const BackwardInput& in) {
    AttentionScratch& scratch = AttentionScratch::of_this_thread();
    [[maybe_unused]] typename N::Session session;
    const std::int64_t dk = call.dk(), dv = call.dv();
    const std::int64_t k_width = GradientWidth(dk), v_width = GradientWidth(dv);
    const int h = task.head;
    KeySource<N> source = SourceOf<N>(call, group, h, Needs::dots_and_mix, Needs::dots,
                                      group.q_begin, group.q_end, scratch);
    const std::int64_t n = round_up(source.used(), std::int64_t{16});
    float* dk_rows = nullptr;
    float* dv_rows = nullptr;
    if (in.to.dk) {
        dk_rows = scratch.floats(AttentionScratch::dkeys, n * k_width);
        std::fill_n(dk_rows, n * k_width, 0.0f);
    }
    if (in.to.dv) {
        dv_rows = scratch.floats(AttentionScratch::dvalues, n * v_width);
        std::fill_n(dv_rows, n * v_width, 0.0f);
    }
    Tiles tiles(call, score, h, scratch, {in.to.dq, in.to.drows, task.dparameters});
    BackwardTiles<Careful>(call, tiles, h, group, source, dk_rows, dv_rows, scratch, in);
    if (dk_rows) source.scatter(dk_rows, k_width, dk, h * dk, in.to.dk.view);
    if (dv_rows) source.scatter(dv_rows, v_width, dv, h * dv, in.to.dv.view);
}

template <class N, template <class> class Tiles, class Score>
void BackwardPiece(const AttentionCall& call, const void* of, const BackwardTask& task,
                   const BackwardInput& in) {
    using C = typename N::Careful;
    const auto& score = *static_cast<const Score*>(of);
    const std::int64_t dk = call.dk(), dv = call.dv(), h = task.head;
    for (std::int64_t i = 0; i < task.count; ++i) {
        const VisibleGroup& group = call.sees.groups[static_cast<std::size_t>(task.groups[i])];
        bool finite = AllFinite(call.q.block(group.q_begin, group.q_end, h * dk, (h + 1) * dk)) &&
                      AllFinite(in.dout.block(group.q_begin, group.q_end, h * dv, (h + 1) * dv));
        for (const KeyRun& run : call.sees.runs_of(group))
            finite = finite &&
                     AllFinite(call.k.block(run.row, run.row + run.count, h * dk, (h + 1) * dk)) &&
                     AllFinite(call.v.block(run.row, run.row + run.count, h * dv, (h + 1) * dv));
        if (finite)
            BackwardGroup<false, N, Tiles<N>>(call, score, group, task, in);
        else
            BackwardGroup<true, C, Tiles<C>>(call, score, group, task, in);
    }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
