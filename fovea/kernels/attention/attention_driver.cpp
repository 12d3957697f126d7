#include "fovea/kernels/attention/attention_driver.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/checked.h"
#include "fovea/base/philox.h"
#include "fovea/base/threads.h"

namespace fovea::kernels {
namespace {

std::int64_t visible_pairs(const VisibilityView& sees, std::int64_t q_begin, std::int64_t q_end) {
    std::int64_t n = 0;
    const auto begin = static_cast<std::size_t>(sees.rows[static_cast<std::size_t>(q_begin)]);
    const auto end = static_cast<std::size_t>(sees.rows[static_cast<std::size_t>(q_end)]);
    for (std::size_t i = begin; i < end; ++i) n += sees.intervals[i].end - sees.intervals[i].begin;
    return n;
}

std::vector<ForwardTask> forward_tasks(const AttentionCall& call) {
    std::vector<ForwardTask> tasks;
    for (const VisibleGroup& g : call.sees.groups)
        for (std::int64_t q = g.q_begin; q < g.q_end; q += kAttentionPieceRows)
            for (int h = call.head_begin; h < call.head_end; ++h)
                tasks.push_back({&g, q, std::min(g.q_end, q + kAttentionPieceRows), h});
    return tasks;
}

// Pieces of a parallel_for over tasks that share the visible pairs of the call.
std::int64_t attention_grain(const AttentionCall& call, std::int64_t tasks) {
    if (tasks == 0) return 1;
    constexpr std::int64_t enough = 1 << 17;  // multiply-adds worth a thread's while
    const std::int64_t heads = call.head_end - call.head_begin;
    const std::int64_t d = call.dk() + (call.v.data ? call.dv() : 0);
    const std::int64_t pairs = visible_pairs(call.sees, 0, call.sees.queries);
    const std::int64_t a_task = std::max<std::int64_t>(1, pairs * heads / tasks * d);
    return std::clamp<std::int64_t>(enough / a_task, 1, tasks);
}

// Offsets into cluster_groups of the slabs the batch is cut into for backward: all clusters by
// themselves, or a few runs of clusters where a score's parameters are shared by all.
std::vector<std::int64_t> backward_slabs(const AttentionCall& call, bool shared_parameters) {
    const VisibilityView& sees = call.sees;
    std::vector<std::int64_t> slabs(sees.cluster_offsets.begin(), sees.cluster_offsets.end());
    // Heads are parallel by themselves; a slab costs a copy of the parameters' gradient.
    const auto most = static_cast<std::size_t>(
        std::clamp(16 / std::max(1, call.head_end - call.head_begin), 1, 8));
    if (!shared_parameters || slabs.size() <= most + 1) return slabs;
    const std::int64_t all = visible_pairs(sees, 0, sees.queries);
    std::vector<std::int64_t> merged{0};
    std::int64_t pairs = 0;
    for (std::size_t c = 0; c + 1 < slabs.size(); ++c) {
        for (std::int64_t g = slabs[c]; g < slabs[c + 1]; ++g) {
            const auto group =
                static_cast<std::size_t>(sees.cluster_groups[static_cast<std::size_t>(g)]);
            pairs += visible_pairs(sees, sees.groups[group].q_begin, sees.groups[group].q_end);
        }
        if (pairs * static_cast<std::int64_t>(most) >=
                all * static_cast<std::int64_t>(merged.size()) &&
            merged.size() < most)
            merged.push_back(slabs[c + 1]);
    }
    if (merged.back() != slabs.back()) merged.push_back(slabs.back());
    return merged;
}

// Zeroes the columns of the call's heads of a gradient that is to be assigned.
void clear_heads(const AttentionCall& call, const GradientView& gradient) {
    if (!gradient || gradient.add) return;
    const std::int64_t d = gradient.view.cols / call.heads;
    const std::int64_t begin = call.head_begin * d, n = (call.head_end - call.head_begin) * d;
    parallel_for(gradient.view.rows, 1 + (1 << 15) / std::max<std::int64_t>(1, n),
                 [&](std::int64_t b, std::int64_t e) {
                     for (std::int64_t i = b; i < e; ++i)
                         std::fill_n(gradient.view.row(i) + begin, n, 0.0f);
                 });
}

// gradient[i] += Σ_slab partial[slab][i], slab by slab.
void add_slabs(const float* partial, std::int64_t slabs, std::int64_t n, float* gradient) {
    parallel_for(n, 1 << 14, [&](std::int64_t b, std::int64_t e) {
        for (std::int64_t s = 0; s < slabs; ++s)
            for (std::int64_t i = b; i < e; ++i) gradient[i] += partial[s * n + i];
    });
}

template <class Task>
void for_slabs(const AttentionCall& call, const AttentionScore& score, float* dparameters,
               const Task& task) {
    const std::int64_t size = score.parameters(call.dk());
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

template <class Task>
void for_forward_tasks(const AttentionCall& call, const Task& task) {
    const std::vector<ForwardTask> tasks = forward_tasks(call);
    const auto n = static_cast<std::int64_t>(tasks.size());
    parallel_for(n, attention_grain(call, n), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) task(tasks[static_cast<std::size_t>(i)]);
    });
}

}  // namespace

std::uint32_t AttentionDropout::threshold() const {
    return static_cast<std::uint32_t>(std::lround(p * 65536.0));
}

float AttentionDropout::scale() const {
    return 65536.0f / (65536.0f - static_cast<float>(threshold()));
}

std::uint64_t AttentionDropout::head_key(int head) const {
    return key + static_cast<std::uint64_t>(head) * 0x9E3779B97F4A7C15u;
}

bool AttentionDropout::keeps(int head, std::uint64_t sample, std::uint32_t position,
                             std::int64_t index) const {
    const PhiloxBlock block =
        philox({static_cast<std::uint32_t>(index / 8), position, static_cast<std::uint32_t>(sample),
                static_cast<std::uint32_t>(sample >> 32)},
               head_key(head));
    const auto i = static_cast<std::size_t>(index % 8);
    return (i < 4 ? block[i] & 0xffffu : block[i - 4] >> 16) >= threshold();
}

AttentionScratch& AttentionScratch::of_this_thread() {
    thread_local AttentionScratch scratch;
    return scratch;
}

AttentionPieces AttentionScore::pieces(Precision precision) const { return pieces_(precision); }

void attention_forward(const AttentionCall& call, const AttentionScore& score, View out, View lse) {
    const auto piece = score.pieces(call.precision).forward;
    for_forward_tasks(call, [&](const ForwardTask& task) {
        piece(call, score.score(), task, {out, lse});
    });
}

void attention_backward(const AttentionCall& call, const AttentionScore& score,
                        const AttentionResult& result, const AttentionGradients& gradients) {
    const auto piece = score.pieces(call.precision).backward;
    clear_heads(call, gradients.dk);
    clear_heads(call, gradients.dv);
    for_slabs(call, score, gradients.dparameters, [&](const BackwardTask& task) {
        piece(call, score.score(), task, {result.out, result.lse, result.dout, gradients});
    });
}

void attention_scores(const AttentionCall& call, const AttentionScore& score,
                      const std::int64_t* offsets, float* values) {
    const auto piece = score.pieces(Precision::f32).scores;
    for_forward_tasks(call, [&](const ForwardTask& task) {
        piece(call, score.score(), task, {offsets, values, nullptr, {}});
    });
}

void attention_scores_backward(const AttentionCall& call, const AttentionScore& score,
                               const std::int64_t* offsets, const float* dvalues,
                               const AttentionGradients& gradients) {
    const auto piece = score.pieces(Precision::f32).scores_backward;
    clear_heads(call, gradients.dk);
    for_slabs(call, score, gradients.dparameters, [&](const BackwardTask& task) {
        piece(call, score.score(), task, {offsets, nullptr, dvalues, gradients});
    });
}

}  // namespace fovea::kernels
