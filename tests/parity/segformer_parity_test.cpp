// A tiny SegFormer with random weights: the same logits, loss, gradients and ten training steps as
// Hugging Face transformers in float64; and what must hold for every model here.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "fovea/autograd/tape.h"
#include "fovea/base/files.h"
#include "fovea/base/threads.h"
#include "fovea/io/model_parameters.h"
#include "fovea/models/segformer.h"
#include "fovea/train/adamw.h"
#include "tests/parity/picture_rows.h"

namespace fovea {
namespace {

const std::string folder = std::string(FOVEA_SOURCE_DIR) + "/tests/goldens/segformer-tiny";

struct SegformerGolden {
    SegformerGolden() : file(folder + "/golden.safetensors"), store(ParameterStore::Mode::load) {
        load_parameters(ModelWeights(folder), Segformer::rules(), store);
        const SegformerConfig config =
            SegformerConfig::from_json(read_json(folder + "/config.json"), "config.json");
        Rng rng;
        model = std::make_unique<Segformer>(config, Params(store, rng));
        store.finish(folder);
        const Tensor planes = file.read("pixels");
        grid = {planes.shape()[0], planes.shape()[2], planes.shape()[3]};
        pixels = test::rows_of_planes(planes);
        pixels.set_row_names(grid_segments(grid));
        const auto v = file.read_integers("labels");
        labels = Ids(v.begin(), v.end());
    }
    Tensor loss() const { return model->loss((*model)(pixels, grid), grid, labels); }

    TensorFile file;
    ParameterStore store;
    std::unique_ptr<Segformer> model;
    Tensor pixels;
    Grid grid;
    Ids labels;
};

double relative_error(const Tensor& a, const Tensor& b) {
    double error = 0, norm = 0;
    for (std::int64_t i = 0; i < a.size(); ++i) {
        error += std::pow(static_cast<double>(a.data()[i]) - b.data()[i], 2);
        norm += std::pow(static_cast<double>(b.data()[i]), 2);
    }
    return std::sqrt(error) / std::max(std::sqrt(norm), 1e-8);
}

void expect_near(const Tensor& found, const Tensor& want) {
    ASSERT_EQ(found.size(), want.size());
    for (std::int64_t i = 0; i < want.size(); ++i)
        ASSERT_NEAR(found.data()[i], want.data()[i], 1e-4) << i;
    EXPECT_LT(relative_error(found, want), 2e-5);
}

TEST(SegformerParity, LogitsAndLossAsItAnswers) {
    const SegformerGolden g;
    const FeatureMap logits = (*g.model)(g.pixels, g.grid);
    EXPECT_EQ(logits.grid.height, 9);
    EXPECT_EQ(logits.grid.width, 7);
    expect_near(logits.rows, test::rows_of_planes(g.file.read("logits")));
    EXPECT_NEAR(g.loss().item(), g.file.read("eval_loss").item(), 1e-5);
}

TEST(SegformerParity, LogitsLossAndEveryGradientAsItTrains) {
    const SegformerGolden g;
    Tape tape;
    const FeatureMap logits = (*g.model)(g.pixels, g.grid);
    const Tensor loss = g.model->loss(logits, g.grid, g.labels);
    expect_near(logits.rows, test::rows_of_planes(g.file.read("train_logits")));
    EXPECT_NEAR(loss.item(), g.file.read("loss").item(), 1e-5);
    const Gradients d = tape.gradients(loss);
    std::size_t compared = 0;
    for (const TensorInfo& info : g.file.tensors()) {
        if (!info.name.starts_with("grad.")) continue;
        const std::string name = info.name.substr(5);
        const Tensor want = g.file.read(info);
        double norm = 0;
        for (const float v : want.span()) norm += static_cast<double>(v) * v;
        if (std::sqrt(norm) < 1e-9) {  // zero in exact arithmetic: biases of keys
            for (const float v : d[g.store.at(name)].span()) EXPECT_LT(std::fabs(v), 1e-6) << name;
        } else {
            EXPECT_LT(relative_error(d[g.store.at(name)], want), 1e-4) << name;
        }
        ++compared;
    }
    EXPECT_GT(compared, 90u);
    expect_near(g.store.at("decode_head.batch_norm.running_mean"), g.file.read("running_mean"));
    expect_near(g.store.at("decode_head.batch_norm.running_var"), g.file.read("running_var"));
}

TEST(SegformerParity, TenTrainingSteps) {
    SegformerGolden g;
    AdamW adam(g.store, {.weight_decay = 0.01f});
    const Tensor want = g.file.read("losses");
    for (int i = 0; i < 10; ++i) {
        Tape tape;
        const Tensor loss = g.loss();
        EXPECT_NEAR(loss.item(), want.data()[i], 1e-4) << "step " << i;
        const Gradients d = tape.gradients(loss);
        const double norm = adam.gradient_norm(d);
        adam.step(d, 1e-3, static_cast<float>(std::min(1.0, 1.0 / (norm + 1e-6))));
    }
}

TEST(SegformerBits, PackedIsAlone) {
    const SegformerGolden g;
    const Tensor packed = (*g.model)(g.pixels, g.grid).rows;
    const Grid one{1, g.grid.height, g.grid.width};
    for (std::int64_t n = 0; n < g.grid.images; ++n) {
        const auto size = static_cast<std::size_t>(g.grid.area() * g.pixels.cols());
        const Tensor alone =
            (*g.model)(
                Tensor::of({g.grid.area(), g.pixels.cols()},
                           g.pixels.span().subspan(static_cast<std::size_t>(n) * size, size)),
                one)
                .rows;
        EXPECT_EQ(std::memcmp(alone.data(), packed.data() + n * alone.size(),
                              static_cast<std::size_t>(alone.size()) * sizeof(float)),
                  0)
            << n;
    }
}

TEST(SegformerBits, GradientsHaveTheSameBitsWithAnyNumberOfThreads) {
    const auto gradients = [](int threads) {
        const SegformerGolden g;
        set_thread_count(threads);
        Rng drop(4);
        Tape tape(drop);
        const Gradients d = tape.gradients(g.loss());
        std::vector<float> all;
        for (const std::string& name : g.store.names()) {
            const auto v = d[g.store.at(name)].span();
            all.insert(all.end(), v.begin(), v.end());
        }
        set_thread_count(0);
        return all;
    };
    const std::vector<float> one = gradients(1), three = gradients(3);
    ASSERT_EQ(one.size(), three.size());
    EXPECT_EQ(std::memcmp(one.data(), three.data(), one.size() * sizeof(float)), 0);
}

TEST(SegformerConfigs, WhatCannotBeIsRefused) {
    const Json good = read_json(folder + "/config.json");
    const std::pair<const char*, Json> edits[] = {
        {"hidden_sizes", Json::array({6, 8})},
        {"num_attention_heads", Json::array({4, 2, 3})},
        {"depths", Json::array({1, -2, 1})},
        {"strides", Json::array({0, 2, 2})},
        {"num_encoder_blocks", 4},
        {"decoder_hidden_size", 1 << 30},
        {"hidden_act", "softsign"},
        {"id2label", Json::object({{"0", "one"}})},
        {"id2label", Json::object({{"0", "one"}, {"2", "two"}})},
        {"drop_path_rate", 1.5},
        {"mlp_ratios", "four"}};
    for (const auto& [key, value] : edits) {
        Json bad = good;
        bad[key] = value;
        EXPECT_THROW(SegformerConfig::from_json(bad, "config.json"), Error) << key;
    }
    EXPECT_EQ(SegformerConfig::from_json(good, "config.json").smallest_side(), 13);
    SegformerConfig b0;
    b0.labels = {"a", "b"};
    EXPECT_EQ(b0.smallest_side(), 29);
    EXPECT_EQ(SegformerConfig::from_json(b0.to_json(), "x").to_json(), b0.to_json());
}

}  // namespace
}  // namespace fovea
