// Attention's tile logic on every machine, through a stand-in for the tile instructions: bit for
// bit what f32 arithmetic in AMX's order gives.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention/attention_amx_test.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "fovea/kernels/attention/attention_amx-inl.h"
#include "fovea/kernels/attention/attention_biased-inl.h"
#include "fovea/kernels/attention/attention_relative-inl.h"
#include "fovea/kernels/attention/attention_relative_segment-inl.h"
#include "fovea/kernels/attention/attention_scaled-inl.h"
#include "fovea/kernels/gemm/amx_soft_tiles.h"
#include "hwy/highway.h"

#ifndef FOVEA_ATTENTION_ON_SOFT_TILES
#define FOVEA_ATTENTION_ON_SOFT_TILES
namespace fovea::kernels {
// The same scores, sent to the stand-in.
template <class Score>
struct OnSoftTiles : Score {
    static AttentionPieces pieces(Precision precision);
};
}  // namespace fovea::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

using Soft = AmxNumbers<SoftTiles>;

AttentionPieces SoftScaled() { return PiecesWith<OnSoftTiles<ScaledDot>, ScaledDotTiles, Soft>(); }
AttentionPieces SoftRelative() {
    return PiecesWith<OnSoftTiles<RelativeDot>, RelativeDotTiles, Soft>();
}
AttentionPieces SoftRelativeSegment() {
    return PiecesWith<OnSoftTiles<RelativeSegmentDot>, RelativeSegmentDotTiles, Soft>();
}
AttentionPieces SoftBiased() { return PiecesWith<OnSoftTiles<BiasedDot>, BiasedDotTiles, Soft>(); }

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

HWY_EXPORT(SoftScaled);
HWY_EXPORT(SoftRelative);
HWY_EXPORT(SoftRelativeSegment);
HWY_EXPORT(SoftBiased);

template <>
AttentionPieces OnSoftTiles<ScaledDot>::pieces(Precision) {
    return FOVEA_DISPATCH(SoftScaled)();
}
template <>
AttentionPieces OnSoftTiles<RelativeDot>::pieces(Precision) {
    return FOVEA_DISPATCH(SoftRelative)();
}
template <>
AttentionPieces OnSoftTiles<RelativeSegmentDot>::pieces(Precision) {
    return FOVEA_DISPATCH(SoftRelativeSegment)();
}
template <>
AttentionPieces OnSoftTiles<BiasedDot>::pieces(Precision) {
    return FOVEA_DISPATCH(SoftBiased)();
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
            groups.push_back({begin, begin + n, at, at + 1, n, 0});
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
Result run(const Sequences& s, std::int64_t dk, std::int64_t dv, const Score& score, float dropout,
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
    r.dparameters = zeros(heads * score.parameters(dk));
    attention_forward(call, score, y, lse);
    attention_backward(call, score, {y, lse, {dy.data(), n, v_width}},
                       {.dq = {{r.dq.data(), n, k_width}, false},
                        .dk = {{r.dk.data(), n, k_width}, false},
                        .dv = {{r.dv.data(), n, v_width}, false},
                        .dparameters = r.dparameters.empty() ? nullptr : r.dparameters.data()});
    return r;
}

// One test per level, so that the machine's own tiles can be asked for alone (an emulator is slow).
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

TEST_P(AttentionAmx, RelativeSegmentDotHasThePromisedBits) {
    const Floats u = random(2 * 20, 5), v = random(2 * 20, 6), r = random(310 * 2 * 20, 7);
    const Floats bias = random(2 * 20, 8), e = random(2 * 2 * 20, 9);
    std::vector<std::int32_t> segments;
    for (int i = 0; i < 150; ++i) segments.push_back(i / 7 % 3);
    compare(RelativeSegmentDot{.relative = {.u = {u.data(), 1, 40},
                                            .v = {v.data(), 1, 40},
                                            .r = {r.data(), 310, 40},
                                            .first = -155},
                               .s = {bias.data(), 1, 40},
                               .e = {e.data(), 2, 40},
                               .q = segments.data(),
                               .k = segments.data()},
            20);
}

TEST_P(AttentionAmx, BiasedDotHasThePromisedBits) {
    const Floats bias = random(2 * 310, 8);
    compare(BiasedDot{.bias = {bias.data(), 2, 310}, .first = -155}, 20);
}

}  // namespace
}  // namespace fovea::kernels
#endif
