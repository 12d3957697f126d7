#pragma once
// Which examples form which batch, and in which order: a pure function of the lengths, the options,
// the seed and the epoch. Nothing to save but (epoch, next index). Every example of an epoch stands
// in exactly one batch.
//
// Examples of similar length share a batch (bucketing costs nothing here, since nothing is padded:
// it evens out the work per update), batches are bounded by tokens, and their order is shuffled.
// Thread-safety: a plan does not change once made; any number of threads may read it.
#include <cstdint>
#include <span>
#include <vector>

namespace fovea {

struct BatchOptions {
    std::int64_t max_tokens = 4096;  // of the longer side, summed over the batch
    std::int64_t max_examples = 0;   // 0: no bound
    bool shuffle = true;             // false: file order (evaluation)
    bool bucket = true;              // sort by length within pools of many batches
    std::uint64_t seed = 1;
};

// The longer of an example's two sides, in tokens: what it counts in a batch.
using Lengths = std::span<const std::int64_t>;

class BatchPlan {
public:
    BatchPlan(Lengths lengths, const BatchOptions& options, std::int64_t epoch);

    std::int64_t batches() const { return static_cast<std::int64_t>(offsets_.size()) - 1; }
    // Indices of the examples of batch b.
    std::span<const std::int64_t> operator[](std::int64_t b) const {
        const auto i = static_cast<std::size_t>(b);
        return std::span(order_).subspan(static_cast<std::size_t>(offsets_[i]),
                                         static_cast<std::size_t>(offsets_[i + 1] - offsets_[i]));
    }

private:
    std::vector<std::int64_t> order_, offsets_;
};

}  // namespace fovea
