// The attention kernel: a template over the score's tiles (see attention_scaled.cpp for the
// smallest) and the numbers (tile sizes). Tile of query rows outside, tiles of keys inside.
//
// A score is a class of tiles for one head:
//     load(query tile)                    packs what it needs of the queries
//     tile(query tile, key tile, s)       s[j][q] = score, for keys [begin, end) of the tile
//     start(query tile)                   before the backward of a query tile
//     tile_backward<Careful>(query tile, key tile, ds, dk)   ds overwritten freely; dk rows added
//     to finish(query tile)                  writes the gradient of the queries
// and constants: kScaled (ds is to be multiplied by call.scale), kFactor (weights are multiplied
// after the softmax, by factor() and factor_backward()).
#if defined(FOVEA_KERNELS_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_INL_H_
#undef FOVEA_KERNELS_ATTENTION_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <limits>

#include "fovea/kernels/attention_driver.h"
#include "fovea/kernels/attention_keys-inl.h"
#include "fovea/kernels/attention_layout-inl.h"
#include "fovea/kernels/attention_products-inl.h"
#include "fovea/kernels/attention_softmax-inl.h"
#include "fovea/kernels/simd_math-inl.h"
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

template <class N>
HWY_NOINLINE void Multiply(const float* a, const float* b, const QueryTile<N>& q,
                           const KeyTile<N>& k, float* y) {
    const FloatTag d;
    for (int j = k.begin; j < k.end; ++j)
        for (int n = 0; n < q.vectors; ++n) {
            const int at = j * N::kQueries + n * kLanes;
            hn::Store(hn::Mul(hn::Load(d, a + at), hn::Load(d, b + at)), d, y + at);
        }
}

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
                Multiply(s, f, q, k, s);
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
    Tiles tiles(call, score, task.head, *task.group, scratch);
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
void ForwardPiece(const AttentionCall& call, const Score& score, const ForwardTask& task,
                  const ForwardResult& result) {
    using C = typename N::Careful;
    static_assert(C::kQueries == N::kQueries && C::kKeys == N::kKeys);
    for (const std::int64_t first : ForwardRows<false, N, Tiles<N>>(call, score, task, result)) {
        ForwardTask again = task;
        again.q_begin = first;
        again.q_end = HWY_MIN(task.q_end, first + N::kQueries);
        ForwardRows<true, C, Tiles<C>>(call, score, again, result);
    }
}

inline bool AllFinite(ConstView x) {
    const FloatTag d;
    FloatVec sum = hn::Zero(d);
    for (std::int64_t i = 0; i < x.rows; ++i) {
        std::int64_t e = 0;
        for (; e + kLanes <= x.cols; e += kLanes)
            sum = Fma(hn::LoadU(d, x.row(i) + e), hn::Zero(d), sum);
        if (e < x.cols) sum = Fma(LoadSome(d, x.row(i) + e, x.cols - e), hn::Zero(d), sum);
    }
    return hn::AllTrue(d, hn::Eq(sum, hn::Zero(d)));
}

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

// ds = p ∘ (dp ∘ f − mean) · by, into dp.
template <class N>
HWY_NOINLINE void ScoreGradients(const float* HWY_RESTRICT p, const float* HWY_RESTRICT f,
                                 const float* mean, float by, const QueryTile<N>& q,
                                 const KeyTile<N>& k, float* HWY_RESTRICT dp) {
    const FloatTag d;
    for (int n = 0; n < q.vectors; ++n) {
        const FloatVec m = hn::Load(d, mean + n * kLanes);
        for (int j = k.begin; j < k.end; ++j) {
            const int at = j * N::kQueries + n * kLanes;
            FloatVec x = hn::Load(d, dp + at);
            if (f) x = hn::Mul(x, hn::Load(d, f + at));
            const FloatVec w = hn::Load(d, p + at);
            const FloatVec ds = hn::Mul(hn::Mul(w, hn::Set(d, by)), hn::Sub(x, m));
            // A key the row does not see may make dp NaN; its weight is 0 and so is its gradient.
            hn::Store(hn::IfThenZeroElse(hn::Eq(w, hn::Zero(d)), ds), d, dp + at);
        }
    }
}

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
                    Multiply(p, f, q, k, pf);
                }
                const std::int64_t at = k.slot * N::kKeys;
                if (dv) {
                    const auto w = N::weigh(pf, k.begin, k.end, q.vectors, Needs::dots, scratch);
                    N::template outer<Careful>(w, k.begin, k.end, q.count, out.dout_rows, width,
                                               dv + at * v_width);
                }
                N::dots(k.v, k.begin, k.end, width, out.dout, q.vectors, dp);
                if constexpr (Tiles::kFactor) tiles.factor_backward(q, k, pf, dp);
                ScoreGradients(p, f, rows.mean, scale, q, k, dp);
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
    Tiles tiles(call, score, h, group, scratch, in.to.dq, task.dparameters);
    BackwardTiles<Careful>(call, tiles, h, group, source, dk_rows, dv_rows, scratch, in);
    if (dk_rows) source.scatter(dk_rows, k_width, dk, h * dk, in.to.dk.view);
    if (dv_rows) source.scatter(dv_rows, v_width, dv, h * dv, in.to.dv.view);
}

template <class N, template <class> class Tiles, class Score>
void BackwardPiece(const AttentionCall& call, const Score& score, const BackwardTask& task,
                   const BackwardInput& in) {
    using C = typename N::Careful;
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
void ScoresPiece(const AttentionCall& call, const Score& score, const ForwardTask& task,
                 const ScoresPlace& place) {
    using N = F32;
    using Tiles = Kind<N>;
    constexpr int W = N::kQueries;
    AttentionScratch& scratch = AttentionScratch::of_this_thread();
    KeySource<N> source = SourceOf<N>(call, *task.group, task.head, Needs::dots, Needs::dots,
                                      task.q_begin, task.q_end, scratch);
    RowNumbers<N> rows(scratch);
    Tiles tiles(call, score, task.head, *task.group, scratch);
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
void ScoresBackwardPiece(const AttentionCall& call, const Score& score, const BackwardTask& task,
                         const ScoresPlace& place) {
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
        Tiles tiles(call, score, task.head, group, scratch, place.to.dq, task.dparameters);
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
