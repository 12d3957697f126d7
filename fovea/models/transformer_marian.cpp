// Interleaved sines and cosines become halves. The residual stream is d numbers whose order is
// nobody's business but the position code's: put column 2i at i and 2i+1 at ⌈d/2⌉+i in everything
// that reads it (columns of a weight) or writes it (rows of a weight, biases, norms), and the model
// computes the same.
#include <string>

#include "fovea/models/transformer.h"

namespace fovea {
namespace {

bool ends_with(const std::string& s, const char* end) {
    const std::string e(end);
    return s.size() >= e.size() && s.compare(s.size() - e.size(), e.size(), e) == 0;
}

std::int64_t from_column(std::int64_t to, std::int64_t width) {
    const std::int64_t half = (width + 1) / 2;
    return to < half ? 2 * to : 2 * (to - half) + 1;
}

Tensor permuted_columns(const Tensor& t) {
    Tensor y(t.shape());
    float* out = y.write();
    for (std::int64_t r = 0; r < t.rows(); ++r)
        for (std::int64_t c = 0; c < t.cols(); ++c)
            out[r * t.cols() + c] = t.at(r, from_column(c, t.cols()));
    return y;
}

Tensor permuted_rows(const Tensor& t) {
    Tensor y(t.shape());
    float* out = y.write();
    for (std::int64_t r = 0; r < t.rows(); ++r)
        for (std::int64_t c = 0; c < t.cols(); ++c)
            out[r * t.cols() + c] = t.at(from_column(r, t.rows()), c);
    return y;
}

void permute_to_halves(ParameterStore& store) {
    for (const std::string& name : std::vector<std::string>(store.names())) {
        const Tensor& t = store.at(name);
        const bool reads = ends_with(name, "embed_tokens.weight") ||
                           ends_with(name, "shared.weight") || ends_with(name, "lm_head.weight") ||
                           ends_with(name, "fc1.weight") || ends_with(name, "q_proj.weight") ||
                           ends_with(name, "k_proj.weight") || ends_with(name, "v_proj.weight");
        const bool writes = ends_with(name, "out_proj.weight") || ends_with(name, "fc2.weight");
        const bool vector = name.find("layer_norm") != std::string::npos ||
                            name.find("layernorm") != std::string::npos ||
                            ends_with(name, "out_proj.bias") || ends_with(name, "fc2.bias");
        if (reads || vector)
            store.replace(name, permuted_columns(t));
        else if (writes)
            store.replace(name, permuted_rows(t));
    }
}

}  // namespace

TransformerFiles files_of(const TransformerConfig& config, const ParameterStore& trained) {
    TransformerFiles files;
    for (const std::string& name : trained.names()) files.parameters.put(name, trained.at(name));
    if (!config.fits_marian()) {
        files.config = config.to_json();
        return files;
    }
    if (config.positions == PositionCode::sinusoidal) permute_to_halves(files.parameters);
    if (!config.final_logits_bias)
        files.parameters.put("final_logits_bias", Tensor::zeros({1, config.target_vocab()}));
    files.config = config.to_marian_json();
    return files;
}

}  // namespace fovea
