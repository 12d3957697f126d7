#pragma once
// Attention over packed rows:  out_i = Σⱼ softmaxⱼ(score(i, j)) v_j over the keys j row i sees.
// Head h owns columns [h·d/heads, (h+1)·d/heads) of q, k, v and out.
//
// Kernels assert; shapes are checked by the callers in ops/.
#include <cstdint>

#include "fovea/base/view.h"
#include "fovea/base/visibility_view.h"
#include "fovea/kernels/precision.h"

namespace fovea::kernels {

// Dropout on the softmax weights: the mask is a function of (key, sample, row in its sequence,
// logical key index, head); `key` has the op's site mixed in.
struct AttentionDropout {
    float p = 0;  // 0: none
    std::uint64_t key = 0;
    const std::uint64_t* samples = nullptr;    // [queries]
    const std::uint32_t* positions = nullptr;  // [queries], row in its sequence
};

struct AttentionCall {
    ConstView q, k, v;  // [nq, heads·dk], [nk, heads·dk], [nk, heads·dv]
    int heads = 1;
    int head_begin = 0, head_end = 1;  // the heads this call computes
    VisibilityView sees;
    float scale = 1;
    AttentionDropout dropout;
    Precision precision = Precision::f32;
};

// A gradient to be written: assigned, or added to what is there. No data: nobody wants it.
struct GradientView {
    View view;
    bool add = false;
    explicit operator bool() const { return view.data != nullptr; }
};

struct AttentionGradients {
    GradientView dq, dk, dv;
};

// out [nq, heads·dv] and lse [heads, nq], the log of each row's sum of exponentials (backward
// recomputes the weights from it); only the columns and rows of the call's heads are written.
void attention_forward(const AttentionCall& call, View out, View lse);
void attention_backward(const AttentionCall& call, ConstView out, ConstView lse, ConstView dout,
                        const AttentionGradients& gradients);

}  // namespace fovea::kernels
