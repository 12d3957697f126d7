// What Fovea saves of XLNet is loaded by Hugging Face transformers, where that is installed, and
// gives the same logits and the same text.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/infer/any_order_stepper.h"
#include "fovea/io/model_parameters.h"
#include "fovea/models/xlnet.h"
#include "fovea/ops/rows/top_k.h"
#include "tests/run_program.h"

namespace fovea::xlnet {
namespace {

std::string python_with_transformers() {
    const char* given = std::getenv("FOVEA_PEER_PYTHON");
    const std::string python = given ? given : "/opt/peers/venv/bin/python";
    const bool there = test::run({python, "-c", "import torch, transformers"}).code == 0;
    return there ? python : "";
}

Ids greedy(const TextEncoder& lm, const Ids& prompt, bool memory) {
    const auto stepper = make_language_stepper(lm, {.keep_rows = memory});
    Tensor logits = stepper->start(std::vector<Ids>{prompt});
    Ids text;
    for (int i = 0; i < 6; ++i) {
        text.push_back(top_scores(logits, 1)[0].best[0]);
        logits = stepper->step({text.back()}, std::vector<std::int64_t>{0});
    }
    return text;
}

TEST(XlnetSlow, TransformersLoadsWhatFoveaSaves) {
    const std::string python = python_with_transformers();
    if (python.empty()) GTEST_SKIP() << "no python with torch and transformers (FOVEA_PEER_PYTHON)";
    std::string name = testing::TempDir() + "/fovea_xlnet_XXXXXX";
    const std::string folder = ::mkdtemp(name.data());
    Json config = XlnetEncoder::new_config(
        {.width = 32, .ffn = 48, .heads = 4, .vocabulary = 90, .end_token = 2});
    config["initializer_range"] = 0.3;  // so that scores differ
    ParameterStore store;
    Rng rng(4);
    const XlnetLm lm(XlnetConfig::from_json(config, "config"), Params(store, rng));
    const TextEncoder encoder =
        XlnetEncoder::make(config, "config", {Head::words}, Params(store, rng));
    write_file_atomically(folder + "/config.json", to_text(config));
    save_parameters(folder + "/model.safetensors", store, XlnetEncoder::rules());
    Json cases = Json::array();
    for (std::int64_t n = 1; n < 30; n += 7) {
        Ids tokens, types;
        for (std::int64_t i = 0; i < n; ++i) {
            tokens.push_back(static_cast<std::int32_t>(5 + rng.below(80)));
            types.push_back(i > n / 2 ? 1 : 0);
        }
        const Tensor logits = lm.logits(lm.transformer({tokens, types, Segments::of_lengths({n})}));
        Json rows = Json::array();
        for (std::int64_t r = 0; r < n; ++r)
            rows.push_back(std::vector<float>(logits.data() + r * logits.cols(),
                                              logits.data() + (r + 1) * logits.cols()));
        cases.push_back({{"tokens", tokens},
                         {"types", types},
                         {"logits", rows},
                         {"generated", greedy(encoder, tokens, false)},
                         {"generated_mems", greedy(encoder, tokens, true)}});
    }
    write_file_atomically(folder + "/cases.json", to_text(cases));
    const test::Outcome peer = test::run(
        {python, FOVEA_SOURCE_DIR "/tests/parity/xlnet_load.py", folder, folder + "/cases.json"});
    ASSERT_EQ(peer.code, 0) << peer.err;
    const Json got = parse_json(peer.out, "xlnet_load.py");
    EXPECT_EQ(to_text(got["missing"]), "[]");
    EXPECT_EQ(to_text(got["unexpected"]), "[]");
    EXPECT_LT(got["largest"].get<double>(), 1e-4);
    EXPECT_TRUE(got["same_text"]);
    std::printf("largest difference of logits: %.2e\n", got["largest"].get<double>());
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace fovea::xlnet
