// Additive: s = Σₑ w[e] tanh(q[e] + k[e]) (Bahdanau et al. 2015, §A.1.2; the products W q and U k
// are linear layers before it). f32 in a bf16 run too: there is no product for AMX in it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention/attention_additive.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "fovea/kernels/attention/attention-inl.h"
#include "fovea/kernels/attention/attention_additive.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class N>
class AdditiveTiles {
public:
    static constexpr bool kScaled = false, kFactor = false;
    static constexpr int W = N::kQueries;

    AdditiveTiles(const AttentionCall& call, const Additive& score, int head,
                  AttentionScratch& scratch, const ScoreTargets& to)
        : call_(call),
          dk_(call.dk()),
          head_(head),
          w_(score.w.data + head * dk_),
          dq_(to.dq),
          dparameters_(to.dparameters),
          queries_(scratch.floats(AttentionScratch::queries, dk_ * W)),
          gradient_(scratch.floats(AttentionScratch::dqueries, dk_ * W)) {}

    void load(const QueryTile<N>& q) {
        PackColumns(call_.q.block(q.first, q.first + q.count, head_ * dk_, (head_ + 1) * dk_),
                    nullptr, q.vectors, W, queries_);
    }

    void tile(const QueryTile<N>& q, const KeyTile<N>& k, float* s) {
        const FloatTag d;
        for (int j = k.begin; j < k.end; ++j)
            for (int n = 0; n < q.vectors; ++n) {
                FloatVec sum = hn::Zero(d);
                for (std::int64_t e = 0; e < dk_; ++e)
                    sum = Fma(hn::Set(d, w_[e]), activation(k, j, e, n), sum);
                hn::Store(sum, d, s + j * W + n * kLanes);
            }
    }

    void start(const QueryTile<N>&) { std::fill_n(gradient_, dk_ * W, 0.0f); }

    // t = tanh(q + k):  dw += Σ ds t    dq = Σⱼ ds w (1 - t²)    dk = Σ_q the same
    template <bool Careful>
    void tile_backward(const QueryTile<N>& q, const KeyTile<N>& k, const float* ds, float* dk) {
        const FloatTag d;
        const std::int64_t width = GradientWidth(dk_);
        for (std::int64_t e = 0; e < dk_; ++e) {
            const FloatVec w = hn::Set(d, w_[e]);
            Sum16Lanes dw;
            for (int j = k.begin; j < k.end; ++j) {
                Sum16Lanes sum;
                for (int n = 0; n < q.vectors; ++n) {
                    const FloatVec g = hn::Load(d, ds + j * W + n * kLanes);
                    const FloatVec t = activation(k, j, e, n);
                    const FloatVec slope = hn::Mul(w, NegFma(t, t, hn::Set(d, 1.0f)));
                    float* dq = gradient_ + e * W + n * kLanes;
                    dw.template add<Careful>(g, t, n);
                    sum.template add<Careful>(g, slope, n);
                    hn::Store(FmaUnlessZero<Careful>(g, slope, hn::Load(d, dq)), d, dq);
                }
                if (dk) dk[j * width + e] += sum.total();
            }
            if (dparameters_) dparameters_[e] += dw.total();
        }
    }

    void finish(const QueryTile<N>& q) {
        if (!dq_) return;
        const FloatTag d;
        for (std::int64_t i = 0; i < dk_ * W; i += kLanes)  // -0 becomes +0
            hn::Store(hn::Add(hn::Load(d, gradient_ + i), hn::Zero(d)), d, gradient_ + i);
        UnpackColumns(gradient_, W,
                      dq_.view.block(q.first, q.first + q.count, head_ * dk_, (head_ + 1) * dk_),
                      dq_.add);
    }

private:
    HWY_INLINE FloatVec activation(const KeyTile<N>& k, int j, std::int64_t e, int n) const {
        const FloatTag d;
        return Tanh(d, hn::Add(hn::Load(d, queries_ + e * W + n * kLanes), hn::Set(d, k.k[j][e])));
    }

    // Sums over queries: 16 of them side by side, whatever the vectors, so that every level adds in
    // one order.
    struct Sum16Lanes {
        static constexpr int kParts = 16 / kLanes;
        FloatVec part[kParts];
        HWY_INLINE Sum16Lanes() {
            for (FloatVec& p : part) p = hn::Zero(FloatTag());
        }
        template <bool Careful>
        HWY_INLINE void add(FloatVec g, FloatVec x, int vector) {
            FloatVec& p = part[vector % kParts];
            p = FmaUnlessZero<Careful>(g, x, p);
        }
        HWY_INLINE float total() const {
            HWY_ALIGN float lanes[16];
            for (int i = 0; i < kParts; ++i) hn::Store(part[i], FloatTag(), lanes + i * kLanes);
            float sum = 0;
            for (const float lane : lanes) sum += lane;
            return sum;
        }
    };

    const AttentionCall& call_;
    std::int64_t dk_;
    int head_;
    const float* w_;
    GradientView dq_;
    float* dparameters_;
    float *queries_, *gradient_;
};

AttentionPieces AdditivePieces() { return PiecesWith<Additive, AdditiveTiles, F32>(); }

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(AdditivePieces);

AttentionPieces Additive::pieces(Precision) { return FOVEA_DISPATCH(AdditivePieces)(); }

}  // namespace fovea::kernels
#endif
