#pragma once
// Token sequences laid end to end: what a text model takes. There is no padding.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <cstdint>
#include <span>
#include <vector>

#include "fovea/tensor/segments.h"

namespace fovea {

struct TokenBatch {
    Ids tokens;
    Ids types;  // of each token, where a model has them (BERT's two sentences); else empty
    Segments segments;
    Ids positions{};  // of each token, where they are not counted through a sequence; else empty
};

// Sequences one after the other; `samples` (the example's number, which names its dropout masks)
// are their indices unless given.
TokenBatch pack(std::span<const Ids> sequences, std::span<const std::uint64_t> samples = {});

// The same over sequences[indices[0]], sequences[indices[1]], …; samples belong to the sequences.
TokenBatch pack(std::span<const Ids> sequences, std::span<const std::int64_t> indices,
                std::span<const std::uint64_t> samples);

}  // namespace fovea
