// A new DETR as a row of detection_models(): it learns, and its parameters know their layers. What
// it computes is held against transformers in tests/parity/detr_parity_test.cpp.
#include "fovea/models/detr.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/autograd/tape.h"
#include "fovea/ops/loss/picture_loss.h"

namespace fovea {
namespace {

// Two pictures of 32 x 32 with one bright square each, of two labels.
struct Squares {
    Squares() : pictures{Tensor::zeros({2 * 32 * 32, 1}), {2, 32, 32}} {
        place(0, 4, 6, 0);
        place(1, 16, 14, 1);
    }
    void place(std::int64_t picture, std::int64_t top, std::int64_t left, int label) {
        for (std::int64_t y = top; y < top + 12; ++y)
            for (std::int64_t x = left; x < left + 12; ++x)
                pictures.rows.write()[(picture * 32 + y) * 32 + x] = label == 0 ? 2.0f : -2.0f;
        const auto share = [](std::int64_t at) { return static_cast<float>(at + 6) / 32; };
        things.push_back({{{share(left), share(top), 12 / 32.0f, 12 / 32.0f}, label}});
    }
    DetectionPictures pictures;
    std::vector<PictureThings> things;
};

DetectionModelChoice tiny_choice() {
    return {.layers = 1,
            .decoder_layers = 2,
            .width = 16,
            .heads = 2,
            .ffn = 32,
            .queries = 4,
            .channels = 1};
}

TEST(DetrEntry, LearnsTwoPictures) {
    ParameterStore store;
    Rng rng(3);
    const DetectionModel model =
        Detr::make(Detr::new_config(tiny_choice()), "config", 2, Params(store, rng));
    const Squares data;
    const auto loss_and_step = [&] {
        Tape tape;
        const Tensor loss = model.loss(data.pictures, data.things);
        const Gradients d = tape.gradients(loss);
        for (const std::string& name : store.names()) {
            Tensor w = store.at(name);
            if (!w.trainable()) continue;
            double norm = 0;
            for (const float g : d[w].span()) norm += static_cast<double>(g) * g;
            const auto rate = static_cast<float>(0.02 / (std::sqrt(norm) + 1e-3));
            for (std::int64_t i = 0; i < w.size(); ++i) w.write()[i] -= rate * d[w].data()[i];
        }
        return loss.item();
    };
    const float first = loss_and_step();
    for (int i = 0; i < 150; ++i) loss_and_step();
    EXPECT_LT(loss_and_step(), 0.4f * first);
    const auto found = model.find(data.pictures, {});
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(found[i][0].label, static_cast<int>(i));
        EXPECT_GT(generalised_iou(found[i][0].box.data(), data.things[i][0].box.data()), 0.5);
    }
}

TEST(DetrEntry, ParametersKnowTheirLayers) {
    ParameterStore store;
    Rng rng(3);
    const DetectionModel m =
        Detr::make(Detr::new_config(tiny_choice()), "config", 2, Params(store, rng));
    EXPECT_EQ(m.layers, 3);
    EXPECT_EQ(m.channels, 1);
    EXPECT_EQ(m.layer_of("model.backbone.conv_encoder.model.embedder.embedder.convolution.weight"),
              0);
    EXPECT_EQ(m.layer_of("model.input_projection.weight"), 0);
    EXPECT_EQ(m.layer_of("model.query_position_embeddings.weight"), 0);
    EXPECT_EQ(m.layer_of("model.encoder.layers.0.fc1.weight"), 1);
    EXPECT_EQ(m.layer_of("model.decoder.layers.1.fc1.weight"), 3);
    EXPECT_EQ(m.layer_of("model.decoder.layernorm.weight"), 4);
    EXPECT_EQ(m.layer_of("class_labels_classifier.weight"), 4);
    EXPECT_EQ(m.layer_of("bbox_predictor.layers.0.weight"), 4);
}

TEST(DetrEntry, FrozenNormsStay) {
    ParameterStore store;
    Rng rng(3);
    Detr::make(Detr::new_config(tiny_choice()), "config", 2, Params(store, rng));
    int fixed = 0;
    for (const std::string& name : store.names()) {
        const bool norm = name.find(".normalization.") != std::string::npos;
        EXPECT_EQ(store.at(name).trainable(), !norm) << name;
        fixed += norm;
    }
    EXPECT_GT(fixed, 0);
    EXPECT_THROW(Detr::new_config({.width = 18, .heads = 2}), Error);
}

}  // namespace
}  // namespace fovea
