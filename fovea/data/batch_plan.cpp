#include "fovea/data/batch_plan.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/rng.h"

namespace fovea {
namespace {

constexpr std::uint32_t shuffle_purpose = 0x73687566;  // streams of shuffling, apart from others
constexpr std::int64_t pool_batches = 100;             // sorted together

}  // namespace

BatchPlan::BatchPlan(Lengths lengths, const BatchOptions& options, std::int64_t epoch) {
    expect(options.max_tokens > 0, "batches: at most ", options.max_tokens, " tokens");
    const auto n = static_cast<std::int64_t>(lengths.size());
    std::vector<std::int64_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    Rng rng(options.seed, shuffle_purpose);
    rng.seek(static_cast<std::uint64_t>(epoch) << 34);  // an epoch draws far less than 2³⁴ numbers
    if (options.shuffle) rng.shuffle(order);

    const auto length = [&](std::int64_t i) { return lengths[static_cast<std::size_t>(i)]; };
    if (options.bucket) {
        // Pools of about a hundred batches, each sorted by length; equal ones stay shuffled.
        std::int64_t tokens = 0;
        std::size_t begin = 0;
        for (std::size_t i = 0; i <= order.size(); ++i) {
            if (i == order.size() || tokens >= pool_batches * options.max_tokens) {
                std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(begin),
                                 order.begin() + static_cast<std::ptrdiff_t>(i),
                                 [&](auto a, auto b) { return length(a) < length(b); });
                begin = i;
                tokens = 0;
            }
            if (i < order.size()) tokens += length(order[i]);
        }
    }

    std::vector<std::pair<std::int64_t, std::int64_t>> batches;  // [begin, end) of order
    std::int64_t begin = 0, tokens = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t size = length(order[static_cast<std::size_t>(i)]);
        const bool full = tokens + size > options.max_tokens ||
                          (options.max_examples > 0 && i - begin >= options.max_examples);
        if (i > begin && full) {
            batches.emplace_back(begin, i);
            begin = i;
            tokens = 0;
        }
        tokens += size;
    }
    if (n > begin) batches.emplace_back(begin, n);
    if (options.shuffle) rng.shuffle(batches);

    order_.reserve(order.size());
    offsets_.push_back(0);
    for (const auto& [b, e] : batches) {
        order_.insert(order_.end(), order.begin() + b, order.begin() + e);
        offsets_.push_back(static_cast<std::int64_t>(order_.size()));
    }
}

}  // namespace fovea
