#include "fovea/models/vit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "fovea/autograd/tape.h"
#include "fovea/ops/loss/cross_entropy.h"

namespace fovea {
namespace {

Tensor noise_pixels(std::int64_t pictures) {
    Rng rng(4);
    Tensor t({pictures, 3, 8, 8});
    for (std::int64_t i = 0; i < t.size(); ++i)
        t.write()[i] = static_cast<float>(rng.uniform(-1, 1));
    return t;
}

struct StemModel {
    explicit StemModel(const char* stem, double dropout = 0) {
        Rng rng(1);
        const PictureModelChoice choice{.layers = 2,
                                        .width = 16,
                                        .heads = 2,
                                        .ffn = 24,
                                        .height = 8,
                                        .image_width = 8,
                                        .patch = 4,
                                        .channels = 3,
                                        .dropout = dropout,
                                        .stem = stem};
        model = Vit::make(Vit::new_config(choice), "config", 3, Params(store, rng));
    }
    Tensor logits(const PictureBatch& batch) const { return model.classes(model.rows(batch)); }

    ParameterStore store;
    PictureModel model;
};

TEST(Vit, PicturesTogetherAreAsAloneUnderEveryStem) {
    const Tensor pixels = noise_pixels(3);
    for (const char* stem : {"patch", "convolution"}) {
        const StemModel m(stem);
        const Tensor all = m.logits({pixels});
        const auto each = static_cast<std::size_t>(pixels.size() / 3);
        for (std::size_t i = 0; i < 3; ++i) {
            const Tensor alone =
                m.logits({Tensor::of({1, 3, 8, 8}, pixels.span().subspan(i * each, each))});
            EXPECT_EQ(std::memcmp(alone.data(), all.data() + i * 3, 3 * sizeof(float)), 0) << stem;
        }
    }
}

// Gradients of a convolution stem against central differences of the loss.
TEST(Vit, AConvolutionStemLearns) {
    StemModel m("convolution");
    const Tensor pixels = noise_pixels(4);
    const auto loss = [&] { return cross_entropy(m.logits({pixels}), {0, 1, 2, 0}); };
    Tape tape;
    const Gradients d = tape.gradients(loss());
    for (const char* name :
         {"vit.embeddings.stem.0.convolution.weight", "vit.embeddings.stem.1.norm.weight",
          "vit.embeddings.stem.projection.weight", "vit.embeddings.cls_token"}) {
        Tensor p = m.store.at(name);
        const std::int64_t at = p.size() / 2;
        const float kept = p.data()[at], step = 1e-2f;
        p.write()[at] = kept + step;
        const double above = loss().item();
        p.write()[at] = kept - step;
        const double below = loss().item();
        p.write()[at] = kept;
        EXPECT_NEAR(d[p].data()[at], (above - below) / (2 * step), 2e-3) << name;
    }
}

TEST(Vit, DropoutIsNamedBySampleAndNotByPlace) {
    const StemModel m("patch", 0.3);
    const Tensor pixels = noise_pixels(2);
    const auto half = static_cast<std::size_t>(pixels.size() / 2);
    const auto run = [&](const PictureBatch& batch) {
        Rng rng(9);
        const Tape tape(rng);
        return m.logits(batch).values();
    };
    const std::vector<float> both = run({pixels, {7, 8}});
    const std::vector<float> second =
        run({Tensor::of({1, 3, 8, 8}, pixels.span().subspan(half, half)), {8}});
    EXPECT_EQ(std::vector<float>(both.begin() + 3, both.end()), second);
}

TEST(Vit, BadConfigsAreRefused) {
    const std::pair<const char*, const char*> table[] = {
        {R"({"hidden_size": 0})", "hidden_size"},
        {R"({"hidden_size": 10, "num_attention_heads": 3})", "3 heads"},
        {R"({"image_size": 30, "patch_size": 16})", "do not split"},
        {R"({"image_size": [32, 32, 3]})", "image_size"},
        {R"({"image_size": 100000})", "image_size"},
        {R"({"patch_size": [8, 16]})", "sides must be equal"},
        {R"({"image_size": 8192, "patch_size": 1})", "at most 65536"},
        {R"({"qkv_bias": false})", "qkv_bias"},
        {R"({"num_channels": 17})", "num_channels"},
        {R"({"stem": "magic"})", "no \"stem\""},
        {R"({"stem": "convolution", "image_size": 24, "patch_size": 6})", "patch_size"},
        {R"({"hidden_act": "sine"})", "hidden_act"},
    };
    for (const auto& [text, words] : table) {
        try {
            vit_config_of(Json::parse(text), "config.json");
            ADD_FAILURE() << text;
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
            EXPECT_EQ(e.kind(), ErrorKind::bad_input);
        }
    }
}

}  // namespace
}  // namespace fovea
