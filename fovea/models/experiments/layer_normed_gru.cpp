#include "fovea/models/experiments/layer_normed_gru.h"

#include <cmath>
#include <memory>

#include "fovea/ops/activation.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/linear.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/ops/rows/gather.h"

namespace fovea {
namespace {

Init within_width(int width) { return uniform(1.0f / std::sqrt(static_cast<float>(width))); }

}  // namespace

LayerNormedGru::LayerNormedGru(int in, int hidden, const Params& p)
    : weight_ih(p.get("weight_ih", {3 * hidden, in}, within_width(hidden))),
      weight_hh(p.get("weight_hh", {3 * hidden, hidden}, within_width(hidden))),
      norm_ih(3 * hidden, p / "norm_ih"),
      norm_hh(3 * hidden, p / "norm_hh"),
      width(hidden) {}

Tensor LayerNormedGru::step(const Tensor& a, const Tensor& state) const {
    const Tensor z = norm_hh(linear(state, weight_hh, {}));
    const auto gate = [&](const Tensor& of, int i) {
        return slice_cols(of, std::int64_t{i} * width, std::int64_t{i + 1} * width);
    };
    const Tensor r = sigmoid(gate(a, 0) + gate(z, 0)), u = sigmoid(gate(a, 1) + gate(z, 1));
    const Tensor n = tanh(gate(a, 2) + mul(r, gate(z, 2)));
    return n + mul(u, state - n);
}

Tensor LayerNormedGru::operator()(const Tensor& x, const ByStep& steps) const {
    const Tensor inputs = gather_rows(norm_ih(linear(x, weight_ih, {})), steps.rows);
    Tensor state = Tensor::zeros({steps.alive.empty() ? 0 : steps.alive[0], width});
    std::vector<Tensor> states;
    std::int64_t at = 0;
    for (const std::int64_t n : steps.alive) {
        state = step(slice_rows(inputs, at, at + n), first_rows(state, n));
        states.push_back(state);
        at += n;
    }
    return gather_rows(concat_rows(states), steps.back);
}

LayerNormedWords::LayerNormedWords(const RecurrentWordsConfig& c, const Params& p)
    : config(c), embeddings(c, p / "embeddings") {
    for (int i = 0; i < c.num_hidden_layers; ++i) {
        const int in = i == 0 ? c.embedding_size : 2 * c.hidden_size;
        const Params layer = p / "encoder" / "layers" / i;
        layers.push_back(
            {{in, c.hidden_size, layer / "forwards"}, {in, c.hidden_size, layer / "backwards"}});
    }
}

Tensor LayerNormedWords::operator()(const TokenBatch& batch) const {
    const ByStep from_left(batch.segments), from_right(batch.segments, true);
    Tensor rows = embeddings(batch);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (i > 0) rows = dropout(rows, config.dropout);
        rows = concat_cols(
            {layers[i].forwards(rows, from_left), layers[i].backwards(rows, from_right)});
        rows.set_row_names(batch.segments);
    }
    return rows;
}

Json LayerNormedWords::new_config(const EncoderChoice& choice) {
    Json config = RecurrentWords::new_gru(choice);
    config["model_type"] = model_type;
    return config;
}

TextEncoder LayerNormedWords::make(const Json& config, const std::string& where, const HeadChoice&,
                                   const Params& p) {
    const auto model =
        std::make_shared<const LayerNormedWords>(RecurrentWordsConfig::from_json(config, where), p);
    TextEncoder e =
        word_encoder(model->config, 2 * model->config.hidden_size, model->config.num_hidden_layers);
    e.rows = [model](const TokenBatch& batch) { return (*model)(batch); };
    e.layer_of = [layers = e.layers](std::string_view name) {
        if (name.starts_with("embeddings.")) return 0;
        return name.starts_with("encoder.") ? numbered_layer(name, "encoder.layers.") : layers + 1;
    };
    return e;
}

}  // namespace fovea
