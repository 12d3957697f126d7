// Folders of picture models as Fovea saves them, loaded by Hugging Face transformers where that is
// installed: nothing missing or left over, and from the same files the same logits, through the
// folder's own preprocessor_config.json.
#include <gtest/gtest.h>

#include "fovea/base/files.h"
#include "fovea/io/png.h"
#include "fovea/io/test_folder.h"
#include "fovea/tasks/image.h"
#include "fovea/tasks/segment.h"
#include "tests/parity/peer_python.h"

namespace fovea {
namespace {

std::vector<std::string> written_pictures(const TestFolder& folder, int count, std::uint32_t height,
                                          std::uint32_t width) {
    Rng rng(4);
    std::vector<std::string> paths;
    for (int i = 0; i < count; ++i) {
        Picture p = blank_picture(height, width, 3, "test");
        for (std::uint8_t& x : p.pixels) x = static_cast<std::uint8_t>(rng.below(256));
        paths.push_back(folder / std::to_string(i) + ".png");
        write_png(paths.back(), p);
    }
    return paths;
}

Json told_by_peer(const TestFolder& folder, const std::string& python, const Json& cases) {
    write_file_atomically(folder / "cases.json", to_text(cases));
    const test::Outcome peer =
        test::run({python, FOVEA_SOURCE_DIR "/tests/parity/hf_load_pictures.py", folder / "m",
                   folder / "cases.json"});
    EXPECT_EQ(peer.code, 0) << peer.err;
    return peer.code == 0 ? parse_json(peer.out, "hf_load_pictures.py") : Json::object();
}

void expect_same(const Json& got, const char* architecture, const char* processor) {
    EXPECT_EQ(got["class"], architecture);
    EXPECT_EQ(got["processor"], processor);
    EXPECT_EQ(to_text(got["missing"]), "[]");
    EXPECT_EQ(to_text(got["unexpected"]), "[]");
    EXPECT_LT(got["logits"].get<double>(), 1e-4);
}

ImageModel image_model(const std::string& type, int pictures) {
    PictureModelChoice choice{.layers = 2, .width = 24, .heads = 2, .ffn = 32};
    choice.height = choice.image_width = 16;
    choice.pictures = pictures;
    choice.channels = 3 * pictures;
    ModelFolder folder;
    folder.labels = {"cat", "dog", "cow"};
    folder.config = find_picture_model(type)->new_config(choice);
    PictureInput input;
    input.height = input.width = 16;
    input.mean.assign(static_cast<std::size_t>(choice.channels), 0.4);
    input.deviation.assign(static_cast<std::size_t>(choice.channels), 0.3);
    return ImageModel::create(std::move(folder), std::move(input), 5);
}

// One case of all pictures (the frames of a clip), or one of each.
std::vector<float> logits_of(const ImageModel& m, const std::vector<std::string>& paths,
                             bool clip) {
    std::vector<Picture> fitted;
    if (clip)
        fitted.push_back(m.read(PictureReader(), paths));
    else
        for (const std::string& path : paths) fitted.push_back(m.read(PictureReader(), {&path, 1}));
    return m.logits({m.input.pixels(fitted)}).values();
}

class HuggingFacePicturesSlow : public testing::Test {
protected:
    void SetUp() override {
        if (python.empty())
            GTEST_SKIP() << "no python with torch and transformers (FOVEA_PEER_PYTHON)";
    }
    const std::string python = test::peer_python();
    const TestFolder folder;
};

TEST_F(HuggingFacePicturesSlow, VitAndDeit) {
    const auto paths = written_pictures(folder, 3, 23, 17);
    for (const auto& [type, architecture] :
         {std::pair{"vit", "ViTForImageClassification"},
          std::pair{"deit", "DeiTForImageClassificationWithTeacher"}}) {
        const ImageModel m = image_model(type, 1);
        m.save(folder / "m", true);
        expect_same(
            told_by_peer(
                folder, python,
                {{"kind", "image"}, {"pictures", paths}, {"logits", logits_of(m, paths, false)}}),
            architecture, "ViTImageProcessorPil");
    }
}

TEST_F(HuggingFacePicturesSlow, Timesformer) {
    const auto paths = written_pictures(folder, 4, 23, 17);
    image_model("timesformer", 4).save(folder / "m");
    const auto expect_same_clip = [&] {
        const ImageModel m = ImageModel::open(ModelFolder::open(folder / "m"));
        const Json got = told_by_peer(
            folder, python,
            {{"kind", "video"}, {"pictures", paths}, {"logits", logits_of(m, paths, true)}});
        expect_same(got, "TimesformerForVideoClassification", "VideoMAEImageProcessorPil");
        EXPECT_EQ(got["pixels"], Json({1, 4, 3, 16, 16}));
    };
    expect_same_clip();
    // As the paper's own checkpoints have it: by the shorter side, then the middle.
    Json theirs = read_json(folder / "m/preprocessor_config.json");
    theirs["size"] = {{"shortest_edge", 18}};
    theirs["do_center_crop"] = true;
    theirs["crop_size"] = {{"height", 16}, {"width", 16}};
    write_file_atomically(folder / "m/preprocessor_config.json", to_text(theirs));
    expect_same_clip();
}

TEST_F(HuggingFacePicturesSlow, Segformer) {
    const auto paths = written_pictures(folder, 1, 37, 45);
    SegformerConfig c;
    c.hidden_sizes = {8, 16, 16, 24};
    c.num_attention_heads = {1, 2, 2, 3};
    c.decoder_hidden_size = 16;
    c.labels = {"ground", "disc", "square"};
    SegmentModel::create(c, mask_values_of({{0, 1}, {1, 1}, {2, 1}}, "test"), 3)
        .save(folder / "m", false);
    for (const bool normalised : {true, false}) {
        Json theirs = read_json(folder / "m/preprocessor_config.json");
        theirs["do_normalize"] = normalised;
        write_file_atomically(folder / "m/preprocessor_config.json", to_text(theirs));
        const SegmentModel m = SegmentModel::open(ModelFolder::open(folder / "m"));
        expect_same(told_by_peer(folder, python,
                                 {{"kind", "segment"},
                                  {"pictures", paths},
                                  {"logits", m.logits(read_picture(paths[0])).values()}}),
                    "SegformerForSemanticSegmentation", "SegformerImageProcessorPil");
    }
}

}  // namespace
}  // namespace fovea
