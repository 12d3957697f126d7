#pragma once
// For the tests of this room: a small encoder-decoder with random weights, and a batch for it.
#include <memory>
#include <utility>
#include <vector>

#include "fovea/infer/beam_search.h"
#include "fovea/infer/transformer_stepper.h"

namespace fovea {

struct Tiny {
    explicit Tiny(std::uint64_t seed = 3, PositionCode code = PositionCode::sinusoidal,
                  int vocabulary = 41) {
        config.vocab_size = vocabulary;
        config.d_model = 16;
        config.encoder_layers = config.decoder_layers = 2;
        config.encoder_attention_heads = config.decoder_attention_heads = 4;
        config.encoder_ffn_dim = config.decoder_ffn_dim = 32;
        config.positions = code;
        Rng rng(seed);
        model = std::make_unique<Transformer>(config, Params(store, rng));
        // Larger weights than at birth, so that the distribution is not flat.
        Rng noise(seed + 1);
        for (const std::string& name : store.names()) {
            Tensor t = store.at(name);
            float* p = t.write();
            for (std::int64_t i = 0; i < t.size(); ++i)
                p[i] += 0.3f * static_cast<float>(noise.normal());
        }
    }
    TransformerConfig config;
    ParameterStore store;
    std::unique_ptr<Transformer> model;
};

inline const std::vector<Ids> sources = {
    {5, 9, 31, 4, 17, 1}, {8, 1}, {11, 12, 13, 14, 15, 16, 18, 19, 1}, {40, 39, 1}};

inline std::pair<Ids, Segments> packed(const std::vector<Ids>& texts) {
    Ids all;
    std::vector<std::int64_t> lengths;
    for (const Ids& t : texts) {
        all.insert(all.end(), t.begin(), t.end());
        lengths.push_back(static_cast<std::int64_t>(t.size()));
    }
    return {all, Segments::of_lengths(lengths)};
}

inline std::vector<std::vector<Hypothesis>> decode(const Tiny& tiny, const std::vector<Ids>& texts,
                                                   const SearchOptions& o,
                                                   std::vector<DecodeRequest> requests = {}) {
    const auto [ids, segments] = packed(texts);
    TransformerStepper stepper(*tiny.model, ids, segments);
    requests.resize(texts.size());
    return search(stepper, o, requests);
}

}  // namespace fovea
