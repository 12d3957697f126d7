// Softmax over tiles of scores S [keys][stride], lanes are query rows: the online step of the
// forward pass (Milakov & Gimelshein 2018; Dao et al. 2022), the weights of the backward pass, and
// the dropout mask.
//
// A tile of which a row sees nothing changes nothing for it, bit for bit: its maximum stays, so
// alpha = 1 exactly, and its weights are exactly 0. So it does not matter which tiles per row's
// neighbours in the query tile make it visit.
#if defined(FOVEA_KERNELS_ATTENTION_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_SOFTMAX_INL_H_
#undef FOVEA_KERNELS_ATTENTION_SOFTMAX_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_SOFTMAX_INL_H_
#endif

#include <cstdint>

#include "fovea/kernels/attention/attention.h"
#include "fovea/kernels/attention/attention_products-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct SoftmaxRows {  // [stride] each
    float* max;       // of the scores, not yet scaled
    float* sum;
    float* alpha;  // what earlier sums are to be multiplied by
};

// Keys [begin, end) of a tile: scores become weights exp(scale (s - max so far)), scale > 0.
// Returns whether some alpha differs from 1. `words` null: every row sees all of these keys.
bool SoftmaxStep(float* s, std::int64_t stride, int begin, int end, int vectors, float scale,
                 const std::uint32_t* words, const SoftmaxRows& rows);

// The same weights again, normalised: exp(scale s - lse), exactly 0 where a row does not see a key.
void SoftmaxWeights(float* s, std::int64_t stride, int begin, int end, int vectors, float scale,
                    const std::uint32_t* words, const float* lse);

// ds = p ∘ (dp ∘ f − mean) · by, into dp; f null: without it. Exactly 0 where p is, NaN or not.
void ScoreGradients(const float* p, const float* f, const float* mean, float by,
                    std::int64_t stride, int begin, int end, int vectors, float* dp);

// y = a ∘ b
void MultiplyTiles(const float* a, const float* b, std::int64_t stride, int begin, int end,
                   int vectors, float* y);

// Names of the tile's rows for dropout, lanes are rows; [stride] each.
struct DropoutRows {
    std::uint32_t* position;
    std::uint32_t* sample_low;
    std::uint32_t* sample_high;
};

// factor[j][q] = 0 or 1 / (1 - p), as AttentionDropout::keeps says, for keys [begin, end).
void DropoutFactors(const AttentionDropout& dropout, int head, const DropoutRows& rows,
                    std::int64_t first_key, int begin, int end, std::int64_t stride, int vectors,
                    float* factor);

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
