#pragma once
// DETR (Carion et al. 2020, "End-to-End Object Detection with Transformers"): a ResNet's features
// as words, a Transformer's encoder over them, and a decoder whose words are learned queries; each
// answers with a class (or "nothing") and a box, and no two learn the same thing (set_loss.h).
// Positions are added to queries and keys at every layer, never to values. Parameters are named as
// Hugging Face's DetrForObjectDetection.
//
// All pictures of a batch have one size and lie end to end; nothing is padded.
// Thread-safety: const calls without a tape from several threads are safe while nobody trains.
#include <span>
#include <string>
#include <vector>

#include "fovea/models/detection_model.h"
#include "fovea/models/detr_config.h"
#include "fovea/models/resnet.h"
#include "fovea/models/set_loss.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/multi_head_attention.h"

namespace fovea {

// Rows, what is added to them where they ask or are asked, and the pictures they belong to.
struct PlacedRows {
    Tensor rows, positions;
    Segments pictures;
};

//   h = LN(x + Dropout(MultiHead(x + P, x + P, x)))      P: sines of the place
//   y = LN(h + Dropout(act(h W₁ + b₁) W₂ + b₂))
struct DetrEncoderLayer {
    DetrEncoderLayer(const DetrConfig& c, const Params& p);
    Tensor operator()(const PlacedRows& x) const;

    MultiHeadAttention self_attn;
    LayerNorm self_attn_layer_norm, final_layer_norm;
    Linear fc1, fc2;
    Act act;
    float dropout, activation_dropout;
};

//   g = LN(x + Dropout(MultiHead(x + Q, x + Q, x)))      Q: the learned queries
//   h = LN(g + Dropout(MultiHead(g + Q, m + P, m)))      m: the encoder's rows
//   y = LN(h + Dropout(act(h W₁ + b₁) W₂ + b₂))
struct DetrDecoderLayer {
    DetrDecoderLayer(const DetrConfig& c, const Params& p);
    Tensor operator()(const PlacedRows& x, const PlacedRows& memory) const;

    MultiHeadAttention self_attn, encoder_attn;
    LayerNorm self_attn_layer_norm, encoder_attn_layer_norm, final_layer_norm;
    Linear fc1, fc2;
    Act act;
    float dropout, activation_dropout;
};

struct Detr {
    static constexpr const char* model_type = "detr";
    static constexpr const char* architecture = "DetrForObjectDetection";

    Detr(const DetrConfig& config, int labels, const Params& p);

    // A set of predictions for each decoder layer that learns, the last layer's last; of each
    // picture num_queries rows.
    std::vector<SetPredictions> operator()(const DetectionPictures& pictures) const;
    Segments queries_of(const DetectionPictures& pictures) const;
    Tensor loss(const DetectionPictures& pictures, std::span<const PictureThings> things) const;
    std::vector<std::vector<FoundThing>> find(const DetectionPictures& pictures,
                                              const FindOptions& options) const;

    SetLossOptions loss_options() const;

    // As a row of detection_models().
    static Json new_config(const DetectionModelChoice& choice);
    static DetectionModel make(const Json& config, const std::string& where, int labels,
                               const Params& p);
    static std::span<const NameRule> rules();

    DetrConfig config;
    Resnet backbone;
    Conv2d input_projection;
    Tensor query_position_embeddings;
    std::vector<DetrEncoderLayer> encoder;
    std::vector<DetrDecoderLayer> decoder;
    LayerNorm decoder_norm;
    Linear class_labels_classifier;
    std::vector<Linear> bbox_predictor;

private:
    PlacedRows encoded(const DetectionPictures& pictures) const;
    SetPredictions predictions(const Tensor& rows) const;
};

}  // namespace fovea
