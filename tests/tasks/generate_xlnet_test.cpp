// XLNet through generate(), foretell() and the program, held to its own stepper and loss.
#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/infer/any_order_stepper.h"
#include "fovea/io/test_folder.h"
#include "fovea/models/xlnet.h"
#include "fovea/ops/rows/top_k.h"
#include "fovea/tasks/generate.h"
#include "fovea/text/test_specs.h"
#include "tests/run_program.h"

namespace fovea {
namespace {

struct OpenedXlnet {
    OpenedXlnet() {
        ModelFolder f;
        f.tokenizer = f.target_tokenizer = std::make_shared<const Tokenizer>(text::tiny_gpt2());
        EncoderChoice choice{.layers = 2, .width = 32, .ffn = 48, .heads = 4};
        choice.vocabulary = static_cast<int>(f.tokenizer->vocab_size());
        choice.max_length = 40;
        choice.end_token = choice.pad_token = *f.tokenizer->token_to_id("<|end|>");
        f.config = XlnetEncoder::new_config(choice);
        f.config["initializer_range"] = 0.4;
        name_architecture(f.config, Head::words);
        ParameterStore store;
        Rng rng(12);
        text_encoder_named("xlnet").make(f.config, "config", {Head::words}, Params(store, rng));
        f.save(folder.path(), store, XlnetEncoder::rules(), true);
        std::filesystem::remove(folder / "fovea.json");
        model = GenerateModel::open(ModelFolder::open(folder.path()));
        Rng unused;
        lm.emplace(XlnetConfig::from_json(f.config, "config"), Params(*model.store, unused));
    }
    TestFolder folder;
    GenerateModel model;
    std::optional<XlnetLm> lm;
};

TEST(GenerateXlnet, AFolderOfOthersIsForGenerating) {
    const OpenedXlnet x;
    EXPECT_EQ(task_of_config(x.model.folder), "generate");
}

TEST(GenerateXlnet, WritesWhatItsStepperTells) {
    const OpenedXlnet x;
    const std::vector<std::string> prompts = {"the owl", "hello, hello"};
    const GenerateOptions options{.search = {.max_length = 8, .min_length = 8}};
    const auto found = generate(x.model, prompts, options);
    for (std::size_t i = 0; i < prompts.size(); ++i) {
        const auto stepper = make_language_stepper(*x.model.network, {});
        Tensor logits = stepper->start(std::vector<Ids>{x.model.encode(prompts[i])});
        Ids want;
        while (want.size() < 8) {
            for (const std::int32_t id : x.model.end_tokens) logits.write()[id] = -1e30f;
            want.push_back(top_scores(logits, 1)[0].best[0]);
            logits = stepper->step({want.back()}, std::vector<std::int64_t>{0});
        }
        EXPECT_EQ(found[i].samples[0].hypothesis.tokens, want) << prompts[i];
    }
}

// One window: the loss of reading from left to right. Several: each token once, whatever the batch.
TEST(GenerateXlnet, ForetellsByItsTargets) {
    const OpenedXlnet x;
    const Ids tokens = x.model.encode("hello the owl, wow the hello owl hello");
    const auto n = static_cast<std::int64_t>(tokens.size());
    const TokenBatch batch{tokens, {}, Segments::of_lengths({n})};
    const double loss = x.lm->loss(batch, XlnetOrder::left_to_right(batch.segments, 1)).data()[0];
    const ForetoldText whole = foretell(x.model, tokens, {.context = 40}, {});
    EXPECT_EQ(whole.scored, n - 1);
    EXPECT_NEAR(whole.nats, loss * static_cast<double>(n - 1), 1e-4);
    const ForetoldText a = foretell(x.model, tokens, {.context = 8, .stride = 3}, {});
    const ForetoldText b =
        foretell(x.model, tokens, {.context = 8, .stride = 3, .batch_tokens = 8}, {});
    EXPECT_EQ(a.scored, n - 1);
    EXPECT_EQ(a.nats, b.nats);
}

TEST(GenerateXlnet, TheProgramWritesMeasuresAndShows) {
    const OpenedXlnet x;
    const auto fovea = [](std::vector<std::string> words) {
        words.insert(words.begin(), FOVEA_BINARY);
        return test::run(words);
    };
    const std::string m = x.folder.path();
    const test::Outcome text = fovea({"generate", m, "--prompt", "the owl", "--max-tokens", "5"});
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_EQ(text.out.rfind("the owl", 0), 0u) << text.out;
    write_file_atomically(x.folder / "text.txt", "hello the owl");
    const test::Outcome figures = fovea({"eval", m, "--test", x.folder / "text.txt", "--json"});
    EXPECT_EQ(figures.code, 0) << figures.err;
    EXPECT_NE(figures.out.find("perplexity"), std::string::npos);
    const test::Outcome seen = fovea({"inspect", m, "--text", "hello the owl"});
    EXPECT_EQ(seen.code, 0) << seen.err;
    EXPECT_NE(seen.out.find("self-attention, layer 2"), std::string::npos) << seen.out;
}

}  // namespace
}  // namespace fovea
