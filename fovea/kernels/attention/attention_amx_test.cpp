// Attention's tile logic on every machine, through a stand-in for the tile instructions: bit for
// bit what f32 arithmetic in AMX's order gives.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention/attention_amx_test.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "fovea/kernels/attention/attention_amx-inl.h"
#include "fovea/kernels/attention/attention_biased-inl.h"
#include "fovea/kernels/attention/attention_relative-inl.h"
#include "fovea/kernels/attention/attention_scaled-inl.h"
#include "fovea/kernels/gemm/amx_soft_tiles.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

using Soft = AmxNumbers<SoftTiles>;

void SoftScaledForward(const AttentionCall& c, const ScaledDot& s, const ForwardTask& t,
                       const ForwardResult& r) {
    ForwardPiece<Soft, ScaledDotTiles>(c, s, t, r);
}
void SoftScaledBackward(const AttentionCall& c, const ScaledDot& s, const BackwardTask& t,
                        const BackwardInput& in) {
    BackwardPiece<Soft, ScaledDotTiles>(c, s, t, in);
}
void SoftRelativeForward(const AttentionCall& c, const RelativeDot& s, const ForwardTask& t,
                         const ForwardResult& r) {
    ForwardPiece<Soft, RelativeDotTiles>(c, s, t, r);
}
void SoftRelativeBackward(const AttentionCall& c, const RelativeDot& s, const BackwardTask& t,
                          const BackwardInput& in) {
    BackwardPiece<Soft, RelativeDotTiles>(c, s, t, in);
}
void SoftBiasedForward(const AttentionCall& c, const BiasedDot& s, const ForwardTask& t,
                       const ForwardResult& r) {
    ForwardPiece<Soft, BiasedDotTiles>(c, s, t, r);
}
void SoftBiasedBackward(const AttentionCall& c, const BiasedDot& s, const BackwardTask& t,
                        const BackwardInput& in) {
    BackwardPiece<Soft, BiasedDotTiles>(c, s, t, in);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "fovea/base/rng.h"
#include "fovea/kernels/attention/attention_driver.h"
#include "fovea/kernels/gemm/gemm_oracle.h"

namespace fovea::kernels {

HWY_EXPORT(SoftScaledForward);
HWY_EXPORT(SoftScaledBackward);
HWY_EXPORT(SoftRelativeForward);
HWY_EXPORT(SoftRelativeBackward);
HWY_EXPORT(SoftBiasedForward);
HWY_EXPORT(SoftBiasedBackward);

// The same scores, sent to the stand-in.
template <class Score>
struct OnSoftTiles : Score {};

AttentionPieces<OnSoftTiles<ScaledDot>> pieces_of(const OnSoftTiles<ScaledDot>&, Precision) {
    return {[](const AttentionCall& c, const OnSoftTiles<ScaledDot>& s, const ForwardTask& t,
               const ForwardResult& r) { (*FOVEA_DISPATCH(SoftScaledForward))(c, s, t, r); },
            [](const AttentionCall& c, const OnSoftTiles<ScaledDot>& s, const BackwardTask& t,
               const BackwardInput& in) { (*FOVEA_DISPATCH(SoftScaledBackward))(c, s, t, in); },
            nullptr, nullptr};
}
AttentionPieces<OnSoftTiles<RelativeDot>> pieces_of(const OnSoftTiles<RelativeDot>&, Precision) {
    return {[](const AttentionCall& c, const OnSoftTiles<RelativeDot>& s, const ForwardTask& t,
               const ForwardResult& r) { (*FOVEA_DISPATCH(SoftRelativeForward))(c, s, t, r); },
            [](const AttentionCall& c, const OnSoftTiles<RelativeDot>& s, const BackwardTask& t,
               const BackwardInput& in) { (*FOVEA_DISPATCH(SoftRelativeBackward))(c, s, t, in); },
            nullptr, nullptr};
}
AttentionPieces<OnSoftTiles<BiasedDot>> pieces_of(const OnSoftTiles<BiasedDot>&, Precision) {
    return {[](const AttentionCall& c, const OnSoftTiles<BiasedDot>& s, const ForwardTask& t,
               const ForwardResult& r) { (*FOVEA_DISPATCH(SoftBiasedForward))(c, s, t, r); },
            [](const AttentionCall& c, const OnSoftTiles<BiasedDot>& s, const BackwardTask& t,
               const BackwardInput& in) { (*FOVEA_DISPATCH(SoftBiasedBackward))(c, s, t, in); },
            nullptr, nullptr};
}

namespace {

using Floats = std::vector<float>;

Floats random(std::int64_t n, std::uint64_t seed) {
    Rng rng(seed);
    Floats x(static_cast<std::size_t>(n));
    for (float& v : x) v = static_cast<float>(rng.normal());
    return x;
}

// Self-attention of sequences end to end: causal, or each row its neighbours and key 0.
struct Sequences {
    explicit Sequences(const std::vector<std::int64_t>& lengths, bool causal) {
        std::int64_t begin = 0;
        for (const std::int64_t n : lengths) {
            const auto at = static_cast<std::int64_t>(groups.size());
            groups.push_back({begin, begin + n, at, at + 1, n, 0, 0});
            runs.push_back({begin, n});
            for (std::int64_t i = 0; i < n; ++i) {
                if (causal) {
                    intervals.push_back({0, i + 1});
                } else if (i > 3) {
                    intervals.push_back({0, 1});
                    intervals.push_back({i - 2, std::min(n, i + 40)});
                }
                rows.push_back(static_cast<std::int64_t>(intervals.size()));
            }
            clusters.push_back(at + 1);
            members.push_back(at);
            begin += n;
        }
        total = begin;
    }
    VisibilityView view() const {
        return {.queries = total,
                .keys = total,
                .groups = groups,
                .runs = runs,
                .rows = rows,
                .intervals = intervals,
                .cluster_offsets = clusters,
                .cluster_groups = members};
    }
    std::int64_t total = 0;
    std::vector<VisibleGroup> groups;
    std::vector<KeyRun> runs;
    std::vector<std::int64_t> rows{0};
    std::vector<KeyInterval> intervals;
    std::vector<std::int64_t> clusters{0}, members;
};

struct Result {
    Floats y, lse, dq, dk, dv, dparameters;
    bool operator==(const Result& o) const {
        const auto same = [](const Floats& a, const Floats& b) {
            return a.size() == b.size() &&
                   (a.empty() || std::memcmp(a.data(), b.data(), a.size() * 4) == 0);
        };
        return same(y, o.y) && same(lse, o.lse) && same(dq, o.dq) && same(dk, o.dk) &&
               same(dv, o.dv) && same(dparameters, o.dparameters);
    }
};

template <class Score>
Result run(const Sequences& s, std::int64_t dk, std::int64_t dv, Score score, float dropout,
           bool garbage) {
    constexpr int heads = 2;
    const std::int64_t n = s.total, k_width = heads * dk, v_width = heads * dv;
    Floats q = random(n * k_width, 1), k = random(n * k_width, 2), v = random(n * v_width, 3);
    const Floats dy = random(n * v_width, 4);
    if (garbage && n > 70) v[static_cast<std::size_t>(70 * v_width)] = std::nanf("");
    std::vector<std::uint64_t> samples(static_cast<std::size_t>(n), 7);
    std::vector<std::uint32_t> positions(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<std::uint32_t>(i);
    AttentionCall call{.q = {q.data(), n, k_width},
                       .k = {k.data(), n, k_width},
                       .v = {v.data(), n, v_width},
                       .heads = heads,
                       .head_begin = 0,
                       .head_end = heads,
                       .sees = s.view(),
                       .scale = 0.3f,
                       .dropout = {dropout, 99, samples.data(), positions.data()},
                       .precision = Precision::bf16};
    const auto zeros = [](std::int64_t m) { return Floats(static_cast<std::size_t>(m)); };
    Result r{zeros(n * v_width), zeros(heads * n),   zeros(n * k_width),
             zeros(n * k_width), zeros(n * v_width), {}};
    const View y{r.y.data(), n, v_width}, lse{r.lse.data(), heads, n};
    if constexpr (requires { score.dparameters; }) {
        r.dparameters = zeros(heads * score.parameters(call));
        score.dparameters = r.dparameters.data();
    }
    attention_forward(call, score, y, lse);
    attention_backward(call, score, y, lse, ConstView{dy.data(), n, v_width},
                       {{{r.dq.data(), n, k_width}, false},
                        {{r.dk.data(), n, k_width}, false},
                        {{r.dv.data(), n, v_width}, false}});
    return r;
}

// One test a level, so that the machine's own tiles can be asked for alone (an emulator is slow).
struct AttentionAmx : testing::TestWithParam<Isa> {
    void SetUp() override { set_isa(GetParam()); }
    oracle::Restore restore;
};
INSTANTIATE_TEST_SUITE_P(Level, AttentionAmx, testing::ValuesIn(oracle::levels()),
                         [](const auto& level) { return std::string(name_of(level.param)); });

template <class Score>
void compare(const Score& score, std::int64_t dk) {
    for (const auto& lengths : std::vector<std::vector<std::int64_t>>{{1}, {33, 0, 3}, {150}})
        for (const bool causal : {true, false})
            for (const std::int64_t dv : {8, 33})
                for (const bool special : {false, true}) {
                    const Sequences s(lengths, causal);
                    const float dropout = special ? 0.2f : 0.0f;
                    OnSoftTiles<Score> soft;
                    static_cast<Score&>(soft) = score;
                    EXPECT_TRUE(run(s, dk, dv, soft, dropout, special) ==
                                run(s, dk, dv, score, dropout, special))
                        << lengths[0] << " rows, causal " << causal << ", dv " << dv;
                }
}

TEST_P(AttentionAmx, ScaledDotHasThePromisedBits) {
    compare(ScaledDot{}, 8);
    compare(ScaledDot{}, 70);
}

TEST_P(AttentionAmx, RelativeDotHasThePromisedBits) {
    const Floats u = random(2 * 20, 5), v = random(2 * 20, 6), r = random(310 * 2 * 20, 7);
    compare(RelativeDot{.u = {u.data(), 1, 40},
                        .v = {v.data(), 1, 40},
                        .r = {r.data(), 310, 40},
                        .first = -155},
            20);
}

TEST_P(AttentionAmx, BiasedDotHasThePromisedBits) {
    const Floats bias = random(2 * 310, 8);
    compare(BiasedDot{.bias = {bias.data(), 2, 310}, .first = -155}, 20);
}

}  // namespace
}  // namespace fovea::kernels
#endif
