// Tiny ViT and DeiT models with random weights: the same pixels, logits, loss, gradients and ten
// training steps as Hugging Face transformers in float64.
#include <gtest/gtest.h>

#include <cstring>

#include "fovea/data/pictures_input.h"
#include "fovea/io/model_parameters.h"
#include "fovea/models/picture_model.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "tests/parity/golden_compare.h"

namespace fovea::test {
namespace {

struct VitGolden {
    explicit VitGolden(const std::string& name)
        : folder(std::string(FOVEA_SOURCE_DIR) + "/tests/goldens/" + name + "-tiny"),
          file(folder + "/golden.safetensors"),
          store(ParameterStore::Mode::load) {
        const Json config = read_json(folder + "/config.json");
        const PictureModelEntry& entry = picture_model_of(config, folder);
        load_parameters(ModelWeights(folder), entry.rules(), store);
        Rng rng;
        model = entry.make(config, folder, 3, Params(store, rng));
        store.finish(folder);
    }

    Tensor logits(const Tensor& pixels) const { return model.classes(model.rows({pixels})); }
    Tensor loss() const { return cross_entropy(logits(file.read("pixels")), {2, 0, 1}); }

    std::string folder;
    TensorFile file;
    ParameterStore store;
    PictureModel model;
};

class VitParity : public testing::TestWithParam<const char*> {};

TEST_P(VitParity, LogitsAndLoss) {
    const VitGolden g(GetParam());
    expect_same(g.logits(g.file.read("pixels")), g.file.read("logits"));
    EXPECT_NEAR(g.loss().item(), g.file.read("loss").item(), 1e-5);
}

TEST_P(VitParity, PositionsAreInterpolatedForOtherSizes) {
    const VitGolden g(GetParam());
    expect_same(g.logits(g.file.read("larger_pixels")), g.file.read("larger_logits"));
}

TEST_P(VitParity, EveryGradient) {
    const VitGolden g(GetParam());
    Tape tape;
    const Gradients d = tape.gradients(g.loss());
    // Its softmax is in float32 there: the noise of keys' biases is larger.
    EXPECT_EQ(expect_gradients(g.file, g.store, d, 1e-7), g.store.names().size());
}

TEST_P(VitParity, TenTrainingSteps) {
    VitGolden g(GetParam());
    expect_ten_steps(g.store, g.file.read("losses"), [&] { return g.loss(); });
}

TEST_P(VitParity, PicturesTogetherAreAsAlone) {
    const VitGolden g(GetParam());
    const Tensor pixels = g.file.read("pixels"), all = g.logits(pixels);
    const std::int64_t each = pixels.size() / 3;
    for (std::int64_t i = 0; i < 3; ++i) {
        const Tensor one = Tensor::of({1, pixels.shape()[1], pixels.shape()[2], pixels.shape()[3]},
                                      pixels.span().subspan(static_cast<std::size_t>(i * each),
                                                            static_cast<std::size_t>(each)));
        const Tensor alone = g.logits(one);
        EXPECT_EQ(std::memcmp(alone.data(), all.data() + i * all.cols(),
                              static_cast<std::size_t>(all.cols()) * sizeof(float)),
                  0);
    }
}

// As made() of tools/make_goldens_vision.py.
Picture golden_picture(std::uint32_t height, std::uint32_t width) {
    Picture p{height, width, 3, {}};
    for (std::uint64_t i = 0; i < std::uint64_t{height} * width * 3; ++i) {
        const std::uint64_t noise = (i * 2654435761u + 12345) % (std::uint64_t{1} << 32) >> 24;
        p.pixels.push_back(static_cast<std::uint8_t>((i * 7 / 3 % 256 + noise) / 2));
    }
    return p;
}

TEST_P(VitParity, PixelsAreThoseOfTheImageProcessor) {
    const VitGolden g(GetParam());
    const std::string path = g.folder + "/preprocessor_config.json";
    const PictureInput input = PictureInput::of_json(read_json(path), path);
    std::vector<Picture> fitted;
    for (const Picture& p : {golden_picture(17, 23), golden_picture(12, 12), golden_picture(30, 9)})
        fitted.push_back(input.fitted(p));
    const Tensor found = input.pixels(fitted), want = g.file.read("pixels");
    ASSERT_EQ(found.shape(), want.shape());
    for (std::int64_t i = 0; i < want.size(); ++i)
        ASSERT_NEAR(found.data()[i], want.data()[i], 1e-6) << i;
    const PictureInput again = PictureInput::of_json(input.to_json(), "again");
    EXPECT_EQ(again.to_json(), input.to_json());
}

INSTANTIATE_TEST_SUITE_P(Models, VitParity, testing::Values("vit", "deit"));

}  // namespace
}  // namespace fovea::test
