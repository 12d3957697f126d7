#include "fovea/models/detr.h"

#include <algorithm>

#include "fovea/nn/grid_positions.h"
#include "fovea/ops/activation.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/softmax.h"

namespace fovea {
namespace {

// Who asks stands at one place, who is asked at another; values have none.
Tensor placed_attention(const MultiHeadAttention& attention, const Tensor& asking,
                        const PlacedRows& asked, const Visibility& sees) {
    return attention.attend(asking, attention.k_proj(asked.rows + asked.positions),
                            attention.v_proj(asked.rows), sees);
}

// The same number of rows for each picture, named by its sample.
Segments rows_of_pictures(const DetectionPictures& pictures, std::int64_t rows) {
    return Segments::of_lengths(
        std::vector<std::int64_t>(static_cast<std::size_t>(pictures.grid.images), rows),
        pictures.samples);
}

// 0, 1, … n − 1 for each picture.
Ids query_ids(std::int64_t pictures, int n) {
    Ids ids(static_cast<std::size_t>(pictures * n));
    for (std::size_t i = 0; i < ids.size(); ++i)
        ids[i] = static_cast<std::int32_t>(i % static_cast<std::size_t>(n));
    return ids;
}

// The class a row is surest of, "nothing" aside.
FoundThing surest(const float* shares, std::int64_t labels, const float* box) {
    const auto best = std::max_element(shares, shares + labels);
    FoundThing found{.label = static_cast<int>(best - shares), .score = *best};
    std::copy_n(box, 4, found.box.begin());
    return found;
}

}  // namespace

DetrEncoderLayer::DetrEncoderLayer(const DetrConfig& c, const Params& p)
    : self_attn(c.d_model, c.encoder_attention_heads, p / "self_attn",
                static_cast<float>(c.attention_dropout)),
      self_attn_layer_norm(c.d_model, p / "self_attn_layer_norm"),
      final_layer_norm(c.d_model, p / "final_layer_norm"),
      fc1(c.d_model, c.encoder_ffn_dim, p / "fc1"),
      fc2(c.encoder_ffn_dim, c.d_model, p / "fc2"),
      act(c.activation_function),
      dropout(static_cast<float>(c.dropout)),
      activation_dropout(static_cast<float>(c.activation_dropout)) {}

Tensor DetrEncoderLayer::operator()(const PlacedRows& x) const {
    const Tensor seen =
        placed_attention(self_attn, x.rows + x.positions, x, everything(x.pictures, x.pictures));
    const Tensor h = self_attn_layer_norm(add_dropout(x.rows, seen, dropout));
    const Tensor inner = fovea::dropout(fc1(h, act), activation_dropout);
    return final_layer_norm(add_dropout(h, fc2(inner), dropout));
}

DetrDecoderLayer::DetrDecoderLayer(const DetrConfig& c, const Params& p)
    : self_attn(c.d_model, c.decoder_attention_heads, p / "self_attn",
                static_cast<float>(c.attention_dropout)),
      encoder_attn(c.d_model, c.decoder_attention_heads, p / "encoder_attn",
                   static_cast<float>(c.attention_dropout)),
      self_attn_layer_norm(c.d_model, p / "self_attn_layer_norm"),
      encoder_attn_layer_norm(c.d_model, p / "encoder_attn_layer_norm"),
      final_layer_norm(c.d_model, p / "final_layer_norm"),
      fc1(c.d_model, c.decoder_ffn_dim, p / "fc1"),
      fc2(c.decoder_ffn_dim, c.d_model, p / "fc2"),
      act(c.activation_function),
      dropout(static_cast<float>(c.dropout)),
      activation_dropout(static_cast<float>(c.activation_dropout)) {}

Tensor DetrDecoderLayer::operator()(const PlacedRows& x, const PlacedRows& memory) const {
    const Tensor others =
        placed_attention(self_attn, x.rows + x.positions, x, everything(x.pictures, x.pictures));
    const Tensor g = self_attn_layer_norm(add_dropout(x.rows, others, dropout));
    const Tensor seen = placed_attention(encoder_attn, g + x.positions, memory,
                                         everything(x.pictures, memory.pictures));
    const Tensor h = encoder_attn_layer_norm(add_dropout(g, seen, dropout));
    const Tensor inner = fovea::dropout(fc1(h, act), activation_dropout);
    return final_layer_norm(add_dropout(h, fc2(inner), dropout));
}

Detr::Detr(const DetrConfig& c, int labels, const Params& p)
    : config(c),
      backbone(c.backbone, p / "model" / "backbone" / "conv_encoder" / "model"),
      input_projection({.in = c.backbone.hidden_sizes.back(), .out = c.d_model},
                       p / "model" / "input_projection"),
      query_position_embeddings((p / "model" / "query_position_embeddings")
                                    .exact("weight", {c.num_queries, c.d_model}, normal(1))),
      decoder_norm(c.d_model, p / "model" / "decoder" / "layernorm"),
      class_labels_classifier(c.d_model, labels + 1, p / "class_labels_classifier") {
    for (int i = 0; i < c.encoder_layers; ++i)
        encoder.emplace_back(c, p / "model" / "encoder" / "layers" / i);
    for (int i = 0; i < c.decoder_layers; ++i)
        decoder.emplace_back(c, p / "model" / "decoder" / "layers" / i);
    for (int i = 0; i < 3; ++i)
        bbox_predictor.emplace_back(c.d_model, i < 2 ? c.d_model : 4,
                                    p / "bbox_predictor" / "layers" / i);
}

PlacedRows Detr::encoded(const DetectionPictures& pictures) const {
    const FeatureMap features = backbone({pictures.rows, pictures.grid});
    PlacedRows x{input_projection(features.rows, features.grid),
                 grid_sinusoid(features.grid, config.d_model),
                 rows_of_pictures(pictures, features.grid.area())};
    x.rows.set_row_names(x.pictures);
    x.positions.set_row_names(x.pictures);
    for (const DetrEncoderLayer& layer : encoder) x.rows = layer(x);
    return x;
}

SetPredictions Detr::predictions(const Tensor& rows) const {
    Tensor box = rows;
    for (std::size_t i = 0; i < bbox_predictor.size(); ++i)
        box = bbox_predictor[i](box, i + 1 < bbox_predictor.size() ? Act::relu : Act::none);
    return {class_labels_classifier(rows), sigmoid(box)};
}

Segments Detr::queries_of(const DetectionPictures& pictures) const {
    return rows_of_pictures(pictures, config.num_queries);
}

// The decoder begins with zeros; where its layers learn by auxiliary losses, transformers hands on
// what the norm before the heads makes of them (the paper's code keeps both apart), and so do we:
// a checkpoint knows no other way.
std::vector<SetPredictions> Detr::operator()(const DetectionPictures& pictures) const {
    const PlacedRows memory = encoded(pictures);
    const Segments queries = queries_of(pictures);
    PlacedRows x{
        Tensor::zeros({queries.total(), config.d_model}),
        gather_rows(query_position_embeddings, query_ids(queries.count(), config.num_queries)),
        queries};
    x.rows.set_row_names(queries);
    x.positions.set_row_names(queries);
    std::vector<SetPredictions> found;
    for (std::size_t i = 0; i < decoder.size(); ++i) {
        x.rows = decoder[i](x, memory);
        if (!config.auxiliary_loss) continue;
        x.rows = decoder_norm(x.rows);
        if (i + 1 < decoder.size()) found.push_back(predictions(x.rows));
    }
    found.push_back(predictions(decoder_norm(x.rows)));
    return found;
}

SetLossOptions Detr::loss_options() const {
    return {.class_cost = static_cast<float>(config.class_cost),
            .box_cost = static_cast<float>(config.bbox_cost),
            .giou_cost = static_cast<float>(config.giou_cost),
            .box = static_cast<float>(config.bbox_loss_coefficient),
            .giou = static_cast<float>(config.giou_loss_coefficient),
            .nothing = static_cast<float>(config.eos_coefficient)};
}

Tensor Detr::loss(const DetectionPictures& pictures, std::span<const PictureThings> things) const {
    return set_loss((*this)(pictures), queries_of(pictures), things, loss_options());
}

std::vector<std::vector<FoundThing>> Detr::find(const DetectionPictures& pictures,
                                                const FindOptions& options) const {
    const SetPredictions last = (*this)(pictures).back();
    const Tensor shares = softmax(last.logits);
    const Segments queries = queries_of(pictures);
    std::vector<std::vector<FoundThing>> found(static_cast<std::size_t>(queries.count()));
    for (std::int64_t i = 0; i < queries.count(); ++i) {
        std::vector<FoundThing>& own = found[static_cast<std::size_t>(i)];
        for (std::int64_t row = queries.begin(i); row < queries.end(i); ++row) {
            FoundThing thing = surest(shares.data() + row * shares.cols(), shares.cols() - 1,
                                      last.boxes.data() + 4 * row);
            thing.query = static_cast<int>(row - queries.begin(i));
            if (thing.score >= options.least) own.push_back(thing);
        }
        std::stable_sort(own.begin(), own.end(), [](const FoundThing& a, const FoundThing& b) {
            return a.score > b.score;
        });
        if (own.size() > static_cast<std::size_t>(std::max(options.most, 0)))
            own.resize(static_cast<std::size_t>(std::max(options.most, 0)));
    }
    return found;
}

}  // namespace fovea
