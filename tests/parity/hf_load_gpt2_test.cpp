// A GPT-2 that Fovea saves is loaded by Hugging Face transformers, where that is installed, and
// gives the same logits, greedy output and token ids.
#include <gtest/gtest.h>

#include <cstdlib>

#include "fovea/base/files.h"
#include "fovea/io/test_folder.h"
#include "fovea/tasks/generate.h"
#include "fovea/tensor/token_batch.h"
#include "tests/gpt2_folder.h"
#include "tests/run_program.h"

namespace fovea {
namespace {

std::string python_with_transformers() {
    const char* given = std::getenv("FOVEA_PEER_PYTHON");
    const std::string python = given ? given : "/opt/peers/venv/bin/python";
    const bool there = test::run({python, "-c", "import torch, transformers"}).code == 0;
    return there ? python : "";
}

Json cases_of(const GenerateModel& model, const std::vector<std::string>& texts) {
    const int max_tokens = 20;
    Json cases{{"texts", texts}, {"max_tokens", max_tokens}};
    const auto found = generate(model, texts, {.search = {.max_length = max_tokens}});
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const Ids ids = model.encode(texts[i]);
        const Tensor logits = model.network->words(model.network->rows(pack({&ids, 1})));
        Json rows = Json::array();
        for (std::int64_t r = 0; r < logits.rows(); ++r)
            rows.push_back(std::vector<float>(logits.data() + r * logits.cols(),
                                              logits.data() + (r + 1) * logits.cols()));
        const Hypothesis& h = found[i].samples[0].hypothesis;
        Ids produced = h.tokens;
        if (h.finished) produced.push_back(h.end_token);
        cases["ids"].push_back(ids);
        cases["logits"].push_back(rows);
        cases["greedy"].push_back(produced);
    }
    return cases;
}

TEST(HuggingFaceGpt2Slow, LoadsWhatFoveaSaves) {
    const std::string python = python_with_transformers();
    if (python.empty()) GTEST_SKIP() << "no python with torch and transformers (FOVEA_PEER_PYTHON)";
    const TestFolder folder;
    const std::string path = folder / "model";
    test::write_gpt2_folder(path);
    const GenerateModel model = GenerateModel::open(ModelFolder::open(path));
    write_file_atomically(
        folder / "cases.json",
        to_text(cases_of(model, {"the owl", "a", "naïve  “quotes” – 日本 🙂",
                                 "hello\n\tthe low wall", "<|end|> x"})));
    const test::Outcome peer = test::run(
        {python, FOVEA_SOURCE_DIR "/tests/parity/hf_load_gpt2.py", path, folder / "cases.json"});
    ASSERT_EQ(peer.code, 0) << peer.err;
    const Json got = parse_json(peer.out, "hf_load_gpt2.py");
    EXPECT_EQ(got["kind"], "GPT2LMHeadModel");
    EXPECT_EQ(to_text(got["missing"]), "[]");
    EXPECT_EQ(to_text(got["unexpected"]), "[]");
    EXPECT_TRUE(got["same_ids"]);
    EXPECT_LT(got["largest"].get<double>(), 1e-4);
    EXPECT_TRUE(got["same_greedy"]) << to_text(got["greedy"]);
    std::printf("largest difference of logits: %.2e\n", got["largest"].get<double>());
}

}  // namespace
}  // namespace fovea
