#pragma once
// A text model with drawn weights, at the sizes of a published one: speed does not depend on
// values.
#include <memory>
#include <string>
#include <vector>

#include "fovea/base/precision.h"
#include "fovea/infer/kv_history.h"
#include "fovea/models/text_encoder.h"

namespace fovea::bench {

struct RandomEncoderOptions {
    std::string model = "bert";   // a row of text_encoders()
    std::string preset = "base";  // and a size of it
    int vocabulary = 30522;
    int max_length = 512;
    float dropout = 0.1f;  // in training
    HeadChoice head{};
    std::string precision = "f32";  // f32, bf16, int8, int7
};

struct RandomEncoder {
    explicit RandomEncoder(const RandomEncoderOptions& options);

    std::shared_ptr<ParameterStore> store;
    TextEncoder network;
    Precision precision = Precision::f32;
    double weight_bytes = 0;  // of everything that one token reads: all but the embeddings
};

// A batch of random tokens, one sequence for each length.
TokenBatch random_batch(std::span<const std::int64_t> lengths, int vocabulary, std::uint64_t seed);

// Greedy decoding of several prompts side by side, with keys and values kept.
class GreedyDecoding {
public:
    GreedyDecoding(const RandomEncoder& model, std::span<const Ids> prompts);
    void step();  // one token for each

private:
    void read(const Ids& tokens, const Visibility& sees);

    const RandomEncoder& model_;
    KvHistory history_;
    std::vector<KvCache> caches_;
    Ids last_;
};

}  // namespace fovea::bench
