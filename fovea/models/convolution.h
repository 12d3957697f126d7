#pragma once
// Kim 2014 (Convolutional Neural Networks for Sentence Classification): windows of several widths
// slide over the word vectors, and each width has its feature maps. Row i holds all widths, each
// window centred at word i (those of even width reach one further to the left), zeros beyond the
// ends:
//
//   row_i = [relu(W₂ x_{i-1…i}), relu(W₃ x_{i-1…i+1}), relu(W₄ x_{i-2…i+1}), …]
//
// The paper's max over time is the pooling `max`.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <vector>

#include "fovea/models/word_model.h"

namespace fovea {

struct ConvolutionConfig : WordModelConfig {
    std::vector<int> window_sizes{2, 3, 4, 5};  // hidden_size feature maps each

    static ConvolutionConfig from_json(const Json& json, const std::string& where);
    Json to_json() const;
    int width() const { return hidden_size * static_cast<int>(window_sizes.size()); }
};

struct Convolution {
    static constexpr const char* model_type = "fovea_convolution";
    static constexpr std::string_view sizes = "d-model hidden";

    Convolution(const ConvolutionConfig& c, const Params& p);
    Tensor operator()(const TokenBatch& batch) const;  // [total, widths · hidden_size]

    static Json new_config(const EncoderChoice& choice);
    static TextEncoder make(const Json& config, const std::string& where, const HeadChoice& head,
                            const Params& p);
    static std::span<const NameRule> rules() { return {}; }

    ConvolutionConfig config;
    WordTable embeddings;
    struct Window {
        Tensor weight, bias;  // [hidden_size, embedding_size, width], [hidden_size]
    };
    std::vector<Window> windows;
};

}  // namespace fovea
