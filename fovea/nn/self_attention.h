#pragma once
// Attention of a sequence to itself, with the position codes that live inside of it:
//   relative  Shaw et al. 2018, eq. 4:  s = q·(k + a) / √dk, a a learned vector for each difference
//             of positions, clipped to ±clip. One a layer and head (their §4.1). Their vectors for
//             the values (eq. 3) are left out: their table 3 finds them of no use for translation.
//   rotary    Su et al. 2021: q and k rotated by their position (ops/positions.h).
// Any other code is added to the embeddings, and attention does not see it.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include "fovea/nn/multi_head_attention.h"
#include "fovea/nn/positions.h"

namespace fovea {

struct SelfAttention : MultiHeadAttention {
    struct Options {
        PositionCode positions = PositionCode::none;
        int clip = 16;  // relative: the farthest difference that has a vector of its own
        float dropout = 0.0f;
    };
    SelfAttention(int width, int heads, const Options& options, const Params& p);

    // Row i of x stands at position `at` of its sequence in `segments`.
    Tensor operator()(const Tensor& x, const Segments& segments, const Sight& sees) const;

    // Decoding: the keys (rotary: rotated once, here) and values of x join the cache.
    Tensor operator()(const Tensor& x, KvCache& cache, const Segments& segments,
                      const Positions& at, const Sight& sees) const;

    PositionCode code;
    Tensor relative_keys;  // [2·clip + 1, width], differences -clip … clip; relative only
    int clip;

private:
    Tensor mix(const Tensor& q, const Tensor& k, const Tensor& v, const Sight& sees) const;
    Tensor rotated(const Tensor& x, const Segments& segments, const Positions& at) const;
};

}  // namespace fovea
