#pragma once
// Attention over packed rows:  out_i = Σⱼ softmaxⱼ(score(i, j)) v_j over the keys j row i sees.
// Head h owns columns [h·d/heads, (h+1)·d/heads) of q, k, v and out. One tiled kernel with online
// softmax (Dao et al. 2022): scores are never stored; forward keeps only each row's log-sum-exp,
// backward computes the scores again. Inside it is a template over the score (attention-inl.h).
//
// SAME BITS. A row's result depends on its query, its visible keys and values in the order of their
// logical list, and nothing else: not on the batch, its neighbours in a tile, the runs the list is
// made of, or the number of threads. f32: nor on the instruction set.
//   f32    every sum is one chain of fused multiply-adds; softmax goes by tiles of 64 keys.
//   bf16   q, k, v, weights and their gradients rounded to bf16, sums in the order of AMX's
//          tdpbf16ps (see gemm.h); softmax goes by tiles of 128 keys.
// Values of keys a row does not see never reach it, NaN or not.
//
// Kernels assert; shapes are checked by the callers in ops/.
#include <cstdint>

#include "fovea/base/precision.h"
#include "fovea/base/view.h"
#include "fovea/base/visibility_view.h"

namespace fovea::kernels {

// Dropout on the softmax weights: the mask is a function of (key, head, sample, row in its
// sequence, logical key index). 16 random bits decide a weight; a Philox block decides 8 keys.
struct AttentionDropout {
    float p = 0;                               // 0: none
    std::uint64_t key = 0;                     // of the step and the op's site
    const std::uint64_t* samples = nullptr;    // [queries]
    const std::uint32_t* positions = nullptr;  // [queries], row in its sequence

    std::uint32_t threshold() const;  // dropped where the 16 bits are below it
    float scale() const;              // what remains is multiplied by this
    std::uint64_t head_key(int head) const;
    // Is this weight kept? The definition; the kernels are tested against it.
    bool keeps(int head, std::uint64_t sample, std::uint32_t position, std::int64_t index) const;
};

struct AttentionCall {
    ConstView q, k, v;  // [nq, heads·dk], [nk, heads·dk], [nk, heads·dv]
    int heads = 1;
    int head_begin = 0, head_end = 1;  // the heads this call computes
    VisibilityView sees;
    float scale = 1;
    AttentionDropout dropout;
    Precision precision = Precision::f32;

    std::int64_t dk() const { return q.cols / heads; }
    std::int64_t dv() const { return v.cols / heads; }
};

// A gradient to be written: assigned, or added to what is there. No data: nobody wants it.
struct GradientView {
    View view;
    bool add = false;
    explicit operator bool() const { return view.data != nullptr; }
};

// Where gradients go. dparameters: of a score's parameters, head by head, as many floats each as
// the score says; added to; null where nobody wants it. The kernel sums them over fixed pieces of
// the batch, then the pieces in order. drows: of what a score has for each query row and head.
struct AttentionGradients {
    GradientView dq, dk, dv{};
    float* dparameters = nullptr;
    GradientView drows{};  // [nq, heads]
};

// Distances of queries and keys: position of query - position of key. Positions are those of the
// logical list (a query's: VisibleGroup::position on) unless given for each packed row.
struct Positions {
    const std::int32_t* q = nullptr;  // [nq] or null
    const std::int32_t* k = nullptr;  // [nk] or null
};

struct AttentionPieces;  // the functions of a score at one level and precision (attention_driver.h)

// Any score, as the functions below take it: a view of one of the structs, each in a header and a
// file of its own (attention_scaled.h is the smallest), which has
//     static AttentionPieces pieces(Precision precision);   the functions of the active level
//     std::int64_t parameters(std::int64_t dk) const;       floats of dparameters per head
// A struct without them does not compile.
class AttentionScore {
public:
    template <class Score>
    AttentionScore(const Score& score)
        : score_(&score), pieces_(&Score::pieces), parameters_([](const void* s, std::int64_t dk) {
              return static_cast<const Score*>(s)->parameters(dk);
          }) {}
    AttentionScore(const AttentionScore&) = default;

    const void* score() const { return score_; }
    AttentionPieces pieces(Precision precision) const;
    std::int64_t parameters(std::int64_t dk) const { return parameters_(score_, dk); }

private:
    const void* score_;
    AttentionPieces (*pieces_)(Precision);
    std::int64_t (*parameters_)(const void*, std::int64_t);
};

// out [nq, heads·dv] and lse [heads, nq], the log of each row's sum of exponentials; only the
// columns and rows of the call's heads are written.
void attention_forward(const AttentionCall& call, const AttentionScore& score, View out, View lse);

// What forward gave, and the gradient of `out`.
struct AttentionResult {
    ConstView out, lse, dout;
};
void attention_backward(const AttentionCall& call, const AttentionScore& score,
                        const AttentionResult& result, const AttentionGradients& gradients);

// The scores themselves, always in f32: of each head of the call, of each query row, over the keys
// it sees, laid end to end. `offsets` [queries + 1]: where a row's scores begin; `values` has
// offsets[queries] floats for each head of the call. v is not looked at, nor is dropout.
void attention_scores(const AttentionCall& call, const AttentionScore& score,
                      const std::int64_t* offsets, float* values);
void attention_scores_backward(const AttentionCall& call, const AttentionScore& score,
                               const std::int64_t* offsets, const float* dvalues,
                               const AttentionGradients& gradients);

}  // namespace fovea::kernels
