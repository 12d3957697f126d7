// The attention kernel: a template over the score's tiles (attention_scaled-inl.h is the smallest)
// and the numbers (attention_numbers-inl.h). Tiles of query rows outside, tiles of keys inside.
//
// A score is a class of tiles for one head:
//
//     load(q)               packs what it needs of a tile of queries
//     tile(q, k, s)         s[j][q] = score, for keys [begin, end) of a tile of keys
//     start(q)              before the backward of a query tile
//     tile_backward<Careful>(q, k, ds, dk)
//                           ds may be overwritten; rows dk, from the tile's key 0 on, are added to
//     finish(q)             writes the gradient of the queries
//
// built from (call, the score's struct, head, scratch, where gradients go), and constants: kScaled
// (the score is what tile() gives times call.scale), kFactor (weights are multiplied after the
// softmax, by factor() and factor_backward()).
#if defined(FOVEA_KERNELS_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_INL_H_
#undef FOVEA_KERNELS_ATTENTION_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_INL_H_
#endif

#include "fovea/kernels/attention/attention_backward-inl.h"
#include "fovea/kernels/attention/attention_forward-inl.h"
#include "fovea/kernels/attention/attention_scores-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

// A score's functions of this level, with numbers N (and in f32, whatever N, for scores alone).
template <class Score, template <class> class Tiles, class N>
AttentionPieces PiecesWith() {
    return {&ForwardPiece<N, Tiles, Score>, &BackwardPiece<N, Tiles, Score>,
            &ScoresPiece<Tiles, Score>, &ScoresBackwardPiece<Tiles, Score>};
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
