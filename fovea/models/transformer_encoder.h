#pragma once
// What the Transformer's encoder and the experiments around it (models/experiments) share: how its
// config.json is read, and what it tells tasks.
// Thread-safety: pure functions, safe from any thread.
#include <functional>
#include <string>

#include "fovea/models/text_encoder.h"
#include "fovea/models/transformer_config.h"

namespace fovea {

// config.json of an encoder alone, whatever its model_type.
TransformerConfig transformer_encoder_config(Json json, const std::string& where);

// Parameters below model.encoder: embeddings, layers.N, and (above them) layer_norm.
TextEncoder transformer_text_encoder(const TransformerConfig& config,
                                     std::function<Tensor(const TokenBatch&)> rows);

}  // namespace fovea
