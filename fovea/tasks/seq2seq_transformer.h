#pragma once
// The Transformer among sequence-to-sequence networks.
// Thread-safety: a network does not change; any number of threads may use it.
#include <cstdint>
#include <memory>

#include "fovea/models/transformer.h"
#include "fovea/tensor/parameter_store.h"

namespace fovea {

// A network with parameters drawn from the seed, and nothing else.
struct FreshTransformer {
    FreshTransformer(const TransformerConfig& config, std::uint64_t seed);
    std::shared_ptr<ParameterStore> store;
    std::unique_ptr<Transformer> network;
};

}  // namespace fovea
