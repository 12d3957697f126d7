#pragma once
// What every score's attention has in common outside the instruction-set levels: how the work is
// cut into pieces (by sizes alone, never by the number of threads) and where its memory comes from.
#include <array>
#include <cstdint>
#include <vector>

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
        // what only one score needs: own(0) … own(11), numbered by the score itself
        first_own,
        uses = first_own + 12
    };
    static constexpr Use own(int i) { return static_cast<Use>(first_own + i); }

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

// The functions of one score at one level and precision; `score` points at its struct.
struct AttentionPieces {
    void (*forward)(const AttentionCall&, const void* score, const ForwardTask&,
                    const ForwardResult&);
    void (*backward)(const AttentionCall&, const void* score, const BackwardTask&,
                     const BackwardInput&);
    void (*scores)(const AttentionCall&, const void* score, const ForwardTask&, const ScoresPlace&);
    void (*scores_backward)(const AttentionCall&, const void* score, const BackwardTask&,
                            const ScoresPlace&);
};

// Query rows of a group in pieces of at most this many: keys are packed once a piece.
inline constexpr std::int64_t kAttentionPieceRows = 528;

// Where a score's tiles put gradients; empty in the forward pass.
struct ScoreTargets {
    GradientView dq{}, drows{};
    float* dparameters = nullptr;  // of this head
};

}  // namespace fovea::kernels
