// A folder of DETR as Fovea saves it, loaded by Hugging Face transformers where that is installed:
// nothing missing or left over, the same logits and boxes.
#include <gtest/gtest.h>

#include "fovea/base/files.h"
#include "fovea/io/test_folder.h"
#include "fovea/models/detr.h"
#include "fovea/tasks/model_folder.h"
#include "tests/parity/peer_python.h"
#include "tests/parity/picture_rows.h"

namespace fovea {
namespace {

Tensor random_planes(const Shape& shape, Rng& rng) {
    Tensor t(shape);
    for (std::int64_t i = 0; i < t.size(); ++i) t.write()[i] = static_cast<float>(rng.normal());
    return t;
}

// [n, c, h, w] as nested lists.
Json nested(const Tensor& t) {
    const Shape& s = t.shape();
    const float* p = t.data();
    Json all = Json::array();
    for (std::int64_t n = 0; n < s[0]; ++n) {
        Json picture = Json::array();
        for (std::int64_t c = 0; c < s[1]; ++c) {
            Json plane = Json::array();
            for (std::int64_t y = 0; y < s[2]; ++y, p += s[3])
                plane.push_back(std::vector<float>(p, p + s[3]));
            picture.push_back(plane);
        }
        all.push_back(picture);
    }
    return all;
}

TEST(HuggingFaceDetrSlow, LoadsWhatFoveaSaves) {
    const std::string python = test::peer_python();
    if (python.empty()) GTEST_SKIP() << "no python with torch and transformers (FOVEA_PEER_PYTHON)";
    const TestFolder folder;
    ModelFolder f;
    f.labels = {"red", "white", "platelets"};
    f.preprocessor = {{"image_processor_type", "DetrImageProcessor"}};
    f.config = Detr::new_config(
        {.layers = 2, .decoder_layers = 2, .width = 24, .heads = 3, .ffn = 40, .queries = 7});
    ParameterStore store;
    Rng rng(5);
    const Detr model(DetrConfig::from_json(f.config, "config"), 3, Params(store, rng));
    f.save(folder / "m", store, Detr::rules(), false);

    const Tensor planes = random_planes({2, 3, 53, 70}, rng);
    const SetPredictions found =
        model({.rows = test::rows_of_planes(planes), .grid = {2, 53, 70}}).back();
    const Json cases{{"pixels", nested(planes)},
                     {"logits", found.logits.values()},
                     {"boxes", found.boxes.values()}};
    write_file_atomically(folder / "cases.json", to_text(cases));
    const test::Outcome peer = test::run({python, FOVEA_SOURCE_DIR "/tests/parity/hf_load_detr.py",
                                          folder / "m", folder / "cases.json"});
    ASSERT_EQ(peer.code, 0) << peer.err;
    const Json got = parse_json(peer.out, "hf_load_detr.py");
    EXPECT_EQ(got["class"], Detr::architecture);
    EXPECT_EQ(to_text(got["missing"]), "[]");
    EXPECT_EQ(to_text(got["unexpected"]), "[]");
    EXPECT_EQ(got["labels"], Json(f.labels));
    EXPECT_LT(got["logits"].get<double>(), 1e-4);
    EXPECT_LT(got["boxes"].get<double>(), 1e-4);
}

}  // namespace
}  // namespace fovea
