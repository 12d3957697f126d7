// generate() as a C++ program uses it.
#include "fovea/tasks/generate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <thread>

#include "fovea/io/model_parameters.h"
#include "fovea/io/test_folder.h"
#include "tests/gpt2_folder.h"

namespace fovea::test {
namespace {

struct Opened {
    explicit Opened(const Gpt2FolderOptions& options = {}) {
        write_gpt2_folder(folder.path(), options);
        model = GenerateModel::open(ModelFolder::open(folder.path()));
    }
    TestFolder folder;
    GenerateModel model;
};

const std::vector<std::string> prompts = {"the owl", "", "hello, hello", "wow"};

GenerateOptions sampled() {
    GenerateOptions o;
    o.search = {.n_best = 2, .max_length = 20, .sample = true, .top_p = 0.9, .seed = 3};
    o.stop = {"e"};
    return o;
}

TEST(Generate, NeighboursChangeNothing) {
    const Opened opened;
    const GenerateOptions options = sampled();
    const auto all = generate(opened.model, prompts, options);
    for (std::size_t i = 0; i < prompts.size(); ++i) {
        GenerateOptions one = options;
        one.first_prompt = i;
        const auto alone = generate(opened.model, std::span(prompts).subspan(i, 1), one);
        ASSERT_EQ(alone[0].samples.size(), 2u);
        for (std::size_t k = 0; k < 2; ++k) {
            EXPECT_EQ(alone[0].samples[k].text, all[i].samples[k].text);
            EXPECT_EQ(alone[0].samples[k].hypothesis.token_scores,
                      all[i].samples[k].hypothesis.token_scores);
        }
    }
}

TEST(Generate, PiecesAreTheTexts) {
    const Opened opened;
    for (GenerateOptions options : {sampled(), GenerateOptions{.search = {.max_length = 20}},
                                    GenerateOptions{.search = {.beam = 3, .max_length = 20}}}) {
        std::map<std::pair<std::size_t, int>, std::string> pieces;
        std::map<std::pair<std::size_t, int>, int> ends;
        GenerateHooks hooks;
        hooks.on_text = [&](const TextPiece& p) {
            pieces[{p.prompt, p.sample}] += p.text;
            ends[{p.prompt, p.sample}] += p.last;
        };
        const auto found = generate(opened.model, prompts, options, hooks);
        for (std::size_t i = 0; i < found.size(); ++i)
            for (const auto& s : found[i].samples) {
                const std::pair key{i, s.hypothesis.sample};
                EXPECT_EQ(pieces[key], s.text) << i;
                EXPECT_EQ(ends[key], 1) << i;
                const bool stopped = s.end == TextEnd::stop_string;
                EXPECT_TRUE(!stopped || s.text.find('e') == std::string::npos) << s.text;
            }
    }
}

TEST(Generate, TwoThreadsAtOnce) {
    const Opened opened;
    const auto want = generate(opened.model, prompts, sampled());
    std::vector<std::vector<GeneratedText>> got(2);
    {
        std::vector<std::jthread> threads;
        for (auto& to : got)
            threads.emplace_back([&] { to = generate(opened.model, prompts, sampled()); });
    }
    for (const auto& texts : got)
        for (std::size_t i = 0; i < texts.size(); ++i)
            EXPECT_EQ(texts[i].samples[1].text, want[i].samples[1].text);
}

TEST(Generate, StoppedFromOutsideKeepsWhatIsThere) {
    const Opened opened;
    std::atomic<bool> stop = false;
    GenerateHooks hooks{.stop = &stop};
    int pieces = 0;
    hooks.on_text = [&](const TextPiece&) { stop = ++pieces == 3; };
    const GenerateOptions options{.search = {.max_length = 60, .min_length = 60}};
    const auto found = generate(opened.model, std::span(prompts).first(1), options, hooks);
    ASSERT_EQ(found[0].samples.size(), 1u);
    EXPECT_EQ(found[0].samples[0].end, TextEnd::interrupted);
    EXPECT_LT(found[0].samples[0].hypothesis.tokens.size(), 20u);
    EXPECT_FALSE(found[0].samples[0].text.empty());
    stop = true;
    EXPECT_TRUE(generate(opened.model, prompts, options, hooks)[0].samples.empty());
}

// As openai-community/gpt2 is on the hub: no prefix, masks as buffers, no fovea.json.
TEST(Generate, OpensThePublishedSpelling) {
    const Opened opened;
    const TestFolder bare;
    write_gpt2_folder(bare.path());
    ParameterStore store;
    {
        const ModelWeights weights(opened.folder.path());
        for (const std::string& name : weights.names())
            store.put(name.substr(std::string("transformer.").size()), weights.read(name));
    }
    store.put("h.0.attn.bias", Tensor::zeros({1, 64}));
    store.put("h.1.attn.masked_bias", Tensor::zeros({1}));
    store.put("lm_head.weight", store.at("wte.weight"));
    save_parameters(bare / "model.safetensors", store);
    std::filesystem::remove(bare / "fovea.json");
    const ModelFolder folder = ModelFolder::open(bare.path());
    EXPECT_EQ(task_of_config(folder), "generate");
    const GenerateModel model = GenerateModel::open(folder);
    EXPECT_EQ(generate(model, "the owl"), generate(opened.model, "the owl"));
    EXPECT_EQ(model.store->names().size(), opened.model.store->names().size());
}

TEST(Generate, LowerPrecisionsRun) {
    const Opened opened;
    const auto bf16 =
        GenerateModel::open(ModelFolder::open(opened.folder.path()), WeightChoice::named("bf16"));
    const auto int8 =
        GenerateModel::open(ModelFolder::open(opened.folder.path()), WeightChoice::named("int8"));
    const GenerateOptions one{.search = {.max_length = 1, .min_length = 1}};
    const auto score = [&](const GenerateModel& m) {
        return generate(m, std::span(prompts).first(1), one)[0].samples[0].hypothesis.sum;
    };
    EXPECT_NEAR(score(bf16), score(opened.model), 0.3);
    EXPECT_NEAR(score(int8), score(opened.model), 0.3);
}

}  // namespace
}  // namespace fovea::test
