#include "fovea/inspect/model_overview.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/io/test_folder.h"
#include "fovea/models/text_encoder.h"
#include "fovea/tasks/classify.h"
#include "fovea/tensor/memory.h"
#include "fovea/text/train/vocabulary_recipe.h"

namespace fovea {
namespace {

ClassifyModel classifier(int width, int ffn) {
    const std::vector<std::string> texts = {"abc cab", "bca"};
    ModelFolder f;
    f.tokenizer = f.target_tokenizer = std::make_shared<const Tokenizer>(
        train_vocabulary(texts, {.kind = VocabularyKind::characters}));
    f.labels = {"no", "yes"};
    f.about["dev"] = {{"metric", "accuracy"}, {"value", 97.5}};
    EncoderChoice choice;
    choice.layers = 3;
    choice.width = width;
    choice.ffn = ffn;
    choice.heads = 2;
    choice.max_length = 4096;
    choice.vocabulary = static_cast<int>(f.tokenizer->vocab_size());
    choice.end_token = f.tokenizer->eos_id().value_or(0);
    f.config = text_encoder_named("transformer").new_config(choice);
    return ClassifyModel::create(f, Pool::attention, 5);
}

TEST(ModelOverview, CountsWhatTheStoreHolds) {
    const TestFolder folder;
    const ClassifyModel model = classifier(16, 24);
    model.save(folder / "model", false);
    const ModelOverview o = look_over(ModelFolder::open(folder / "model"));
    EXPECT_EQ(o.task, "classify");
    EXPECT_EQ(o.parameters, model.store->count());
    EXPECT_EQ(o.weight_bytes, 4 * model.store->count());
    std::int64_t sum = 0;
    for (const ParameterBlock& b : o.blocks) sum += b.parameters;
    EXPECT_EQ(sum, o.parameters);
    // One layer: four matrices and two of the feed-forward with their biases, two norms.
    const auto layer = std::find_if(o.blocks.begin(), o.blocks.end(), [](const ParameterBlock& b) {
        return b.name == "model.encoder.layers.1";
    });
    ASSERT_NE(layer, o.blocks.end());
    EXPECT_EQ(layer->parameters, 4 * (16 * 16 + 16) + 2 * 16 * 24 + 16 + 24 + 2 * 2 * 16);
    EXPECT_EQ(layer->tensors, 16);
    EXPECT_EQ(layer->folded, "model.encoder.layers.*");

    const Json j = o.json();
    EXPECT_EQ(j["architecture"]["width"], 16);
    EXPECT_EQ(j["architecture"]["layers"]["encoder"], 3);
    EXPECT_EQ(j["architecture"]["labels"], (Json{"no", "yes"}));
    EXPECT_EQ(j["tokenizer"]["tokens"], model.folder.tokenizer->vocab_size());
    EXPECT_EQ(j["dev"]["metric"], "accuracy");
    const std::string text = o.text();
    EXPECT_NE(text.find("model.encoder.layers.*"), std::string::npos) << text;
    EXPECT_NE(text.find("3 × 1,960"), std::string::npos) << text;
    EXPECT_NE(text.find("accuracy"), std::string::npos) << text;
}

TEST(ModelOverview, MemoryIsThatOfTheLoadedModel) {
    const TestFolder folder;
    classifier(64, 160).save(folder / "model", false);
    const ModelFolder f = ModelFolder::open(folder / "model");
    for (const char* precision : {"f32", "bf16", "int8"}) {
        const ModelOverview o = look_over(f, precision);
        const ClassifyModel m = ClassifyModel::open(f, WeightChoice::named(precision));
        std::int64_t bytes = 0;
        for (const std::string& name : m.store->names()) {
            const Tensor& t = m.store->at(name);
            const std::int64_t size = t.format() == Format::f32    ? 4
                                      : t.format() == Format::bf16 ? 2
                                                                   : 1;
            bytes += size * t.size() + (size == 1 ? 4 * t.rows() : 0);
        }
        EXPECT_EQ(o.weight_bytes, bytes) << precision;
    }
}

// The estimate against the pool's own count, over a batch of 16,384 tokens.
TEST(ModelOverview, ActivationsAreAboutWhatAPassTakes) {
    const TestFolder folder;
    for (const auto& [width, ffn] : {std::pair{64, 64}, {64, 256}, {128, 1024}}) {
        const ClassifyModel model = classifier(width, ffn);
        model.save(folder / text_of(width, "-", ffn), false);
        const ModelOverview o = look_over(ModelFolder::open(folder / text_of(width, "-", ffn)));
        TokenBatch batch;
        batch.tokens.assign(16384, 1);
        batch.segments = Segments::uniform(64, 256);
        (void)model.network->logits(batch);
        reset_memory_peak();
        const std::int64_t before = memory_stats().in_use;
        (void)model.network->logits(batch);
        const double taken = static_cast<double>(memory_stats().peak - before) / 16384;
        EXPECT_GT(static_cast<double>(o.bytes_per_token), 0.9 * taken) << width << " " << ffn;
        EXPECT_LT(static_cast<double>(o.bytes_per_token), 1.1 * taken) << width << " " << ffn;
    }
}

TEST(ModelOverview, BytesAsPeopleWriteThem) {
    EXPECT_EQ(bytes_text(0), "0 B");
    EXPECT_EQ(bytes_text(1023), "1023 B");
    EXPECT_EQ(bytes_text(1536), "1.5 KiB");
    EXPECT_EQ(bytes_text(std::int64_t{5} << 30), "5.0 GiB");
}

}  // namespace
}  // namespace fovea
