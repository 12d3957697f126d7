#include "fovea/tensor/token_batch.h"

#include <numeric>

namespace fovea {

TokenBatch pack(std::span<const Ids> sequences, std::span<const std::int64_t> indices,
                std::span<const std::uint64_t> samples) {
    expect(samples.empty() || samples.size() == sequences.size(), "pack: ", samples.size(),
           " sample ids for ", sequences.size(), " sequences");
    TokenBatch batch;
    std::vector<std::int64_t> lengths;
    std::vector<std::uint64_t> names;
    for (const std::int64_t i : indices) {
        const auto at = static_cast<std::size_t>(i);
        expect(i >= 0 && at < sequences.size(), "pack: sequence ", i, " of ", sequences.size());
        const Ids& s = sequences[at];
        batch.tokens.insert(batch.tokens.end(), s.begin(), s.end());
        lengths.push_back(static_cast<std::int64_t>(s.size()));
        if (!samples.empty()) names.push_back(samples[at]);
    }
    batch.segments = Segments::of_lengths(lengths, std::move(names));
    return batch;
}

TokenBatch pack(std::span<const Ids> sequences, std::span<const std::uint64_t> samples) {
    std::vector<std::int64_t> all(sequences.size());
    std::iota(all.begin(), all.end(), 0);
    return pack(sequences, all, samples);
}

}  // namespace fovea
