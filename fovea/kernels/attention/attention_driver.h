#pragma once
// What every score's attention has in common outside the instruction-set levels: how the work is
// cut into pieces (by sizes alone, never by the number of threads) and where its memory comes from.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "fovea/base/checked.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/aligned_buffer.h"
#include "fovea/kernels/attention/attention.h"
#include "fovea/kernels/attention/attention_tiles.h"

namespace fovea::kernels {

// A thread's working memory; it grows to what the largest piece needs and stays.
class AttentionScratch {
public:
    enum Use {
        // of a piece: keys and values packed, where their rows are, their gradients, and tables by
        // distance
        keys,
        keys_columns,
        values,
        values_columns,
        key_rows,
        value_rows,
        packed_rows,
        dkeys,
        dvalues,
        table,
        table_columns,
        table_rows,
        dtable,
        // of a query tile; the second set is RelativeDot's other bias
        queries,
        query_rows,
        dqueries,
        queries2,
        query_rows2,
        dqueries2,
        out,
        dout,
        dout_rows,
        distances,
        ddistances,
        rows,
        // of a pair of tiles; the weights as products want them, by columns and by rows
        scores,
        weights,
        factors,
        dscores,
        weight_columns,
        weight_rows,
        packing,
        // of a call: parameters' gradients, slab by slab
        partials,
        uses
    };
    template <class T>
    T* take(Use use, std::int64_t n) {
        return buffers_[static_cast<std::size_t>(use)].reserve<T>(n);
    }
    float* floats(Use use, std::int64_t n) { return take<float>(use, n); }

    std::vector<TileRange> piece_tiles, tile_tiles;
    RowMasks masks;

    static AttentionScratch& of_this_thread();

private:
    std::array<AlignedBuffer, uses> buffers_;
};

struct ForwardTask {  // some query rows of one group, one head
    const VisibleGroup* group;
    std::int64_t q_begin, q_end;
    int head;
};

struct BackwardTask {  // groups of some clusters in order, one head
    const std::int64_t* groups;
    std::int64_t count;
    int head;
    float* dparameters;  // of this head and slab, or null
};

struct ForwardResult {
    View out, lse;
};

struct BackwardInput {
    ConstView out, lse, dout;
    AttentionGradients to;
};

struct ScoresPlace {
    const std::int64_t* offsets;
    float* values;         // written, or
    const float* dvalues;  // read
    AttentionGradients to;
};

// The functions of one score at one level and precision.
template <class Score>
struct AttentionPieces {
    void (*forward)(const AttentionCall&, const Score&, const ForwardTask&, const ForwardResult&);
    void (*backward)(const AttentionCall&, const Score&, const BackwardTask&, const BackwardInput&);
    void (*scores)(const AttentionCall&, const Score&, const ForwardTask&, const ScoresPlace&);
    void (*scores_backward)(const AttentionCall&, const Score&, const BackwardTask&,
                            const ScoresPlace&);
};

// Of the active level; in the score's own file.
AttentionPieces<ScaledDot> pieces_of(const ScaledDot&, Precision precision);
AttentionPieces<RelativeDot> pieces_of(const RelativeDot&, Precision precision);
AttentionPieces<BiasedDot> pieces_of(const BiasedDot&, Precision precision);
AttentionPieces<Additive> pieces_of(const Additive&, Precision precision);
AttentionPieces<Gaussian> pieces_of(const Gaussian&, Precision precision);

// Query rows of a group in pieces of at most this many: keys are packed once a piece.
inline constexpr std::int64_t kAttentionPieceRows = 528;

std::vector<ForwardTask> forward_tasks(const AttentionCall& call);

// Pieces of a parallel_for over `n` tasks that share `pairs` visible pairs of d numbers each.
std::int64_t attention_grain(const AttentionCall& call, std::int64_t tasks);

// Offsets into cluster_groups of the slabs per batch is cut into for backward: all clusters by
// themselves, or a few runs of clusters where a score's parameters are shared by all.
std::vector<std::int64_t> backward_slabs(const AttentionCall& call, bool shared_parameters);

// Zeroes the columns of the call's heads of a gradient that is to be assigned.
void clear_heads(const AttentionCall& call, const GradientView& gradient);

// gradient[i] += Σ_slab partial[slab][i], slab by slab.
void add_slabs(const float* partial, std::int64_t slabs, std::int64_t n, float* gradient);

template <class Score, class Task>
void for_slabs(const AttentionCall& call, const Score& score, const Task& task) {
    std::int64_t size = 0;
    float* dparameters = nullptr;
    if constexpr (requires { score.dparameters; }) {
        size = score.parameters(call);
        dparameters = score.dparameters;
    }
    const std::int64_t heads = call.head_end - call.head_begin;
    const auto slabs = backward_slabs(call, dparameters != nullptr);
    const auto n_slabs = static_cast<std::int64_t>(slabs.size()) - 1;
    float* partial = nullptr;
    if (dparameters) {
        const std::int64_t n = checked_mul(n_slabs * heads, size);
        partial = AttentionScratch::of_this_thread().floats(AttentionScratch::partials, n);
        std::fill_n(partial, n, 0.0f);
    }
    parallel_for(
        n_slabs * heads, attention_grain(call, n_slabs * heads),
        [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const auto slab = static_cast<std::size_t>(i / heads);
                const std::int64_t head = i % heads;
                task(BackwardTask{.groups = call.sees.cluster_groups.data() + slabs[slab],
                                  .count = slabs[slab + 1] - slabs[slab],
                                  .head = call.head_begin + static_cast<int>(head),
                                  .dparameters = dparameters ? partial + i * size : nullptr});
            }
        });
    if (dparameters)
        add_slabs(partial, n_slabs, heads * size, dparameters + call.head_begin * size);
}

template <class Score>
void attention_forward(const AttentionCall& call, const Score& score, View out, View lse) {
    const auto piece = pieces_of(score, call.precision).forward;
    const std::vector<ForwardTask> tasks = forward_tasks(call);
    const auto n = static_cast<std::int64_t>(tasks.size());
    parallel_for(n, attention_grain(call, n), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            piece(call, score, tasks[static_cast<std::size_t>(i)], {out, lse});
    });
}

template <class Score>
void attention_backward(const AttentionCall& call, const Score& score, ConstView out, ConstView lse,
                        ConstView dout, const AttentionGradients& gradients) {
    const auto piece = pieces_of(score, call.precision).backward;
    clear_heads(call, gradients.dk);
    clear_heads(call, gradients.dv);
    for_slabs(call, score, [&](const BackwardTask& task) {
        piece(call, score, task, {out, lse, dout, gradients});
    });
}

template <class Score>
void attention_scores(const AttentionCall& call, const Score& score, const std::int64_t* offsets,
                      float* values) {
    const auto piece = pieces_of(score, Precision::f32).scores;
    const std::vector<ForwardTask> tasks = forward_tasks(call);
    const auto n = static_cast<std::int64_t>(tasks.size());
    parallel_for(n, attention_grain(call, n), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            piece(call, score, tasks[static_cast<std::size_t>(i)], {offsets, values, nullptr, {}});
    });
}

template <class Score>
void attention_scores_backward(const AttentionCall& call, const Score& score,
                               const std::int64_t* offsets, const float* dvalues,
                               const AttentionGradients& gradients) {
    const auto piece = pieces_of(score, Precision::f32).scores_backward;
    clear_heads(call, gradients.dk);
    for_slabs(call, score, [&](const BackwardTask& task) {
        piece(call, score, task, {offsets, nullptr, dvalues, gradients});
    });
}

}  // namespace fovea::kernels
