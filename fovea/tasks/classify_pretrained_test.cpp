// Classifiers on BERT and RoBERTa: their own heads, bodies of other tasks' folders, pairs of texts,
// and folders as Hugging Face leaves them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/io/model_parameters.h"
#include "fovea/io/test_folder.h"
#include "fovea/tasks/classify.h"
#include "fovea/text/train/vocabulary_recipe.h"

namespace fovea {
namespace {

const std::vector<std::string> texts = {"a fine day", "rain", "snow and ice all night long", "sun"};

ModelFolder new_folder(const std::string& model) {
    const TextEncoderEntry& entry = text_encoder_named(model);
    ModelFolder f;
    f.tokenizer = f.target_tokenizer = std::make_shared<const Tokenizer>(
        train_vocabulary(texts, {.kind = VocabularyKind::characters, .frame = entry.tokens}));
    EncoderChoice choice{.preset = "tiny", .layers = 2, .width = 32, .ffn = 48, .heads = 2};
    choice.vocabulary = static_cast<int>(f.tokenizer->vocab_size());
    choice.max_length = 24;
    choice.pad_token = f.tokenizer->pad_id().value();
    f.config = entry.new_config(choice);
    return f;
}

// What pretraining leaves behind: a folder of another task.
ParameterStore save_with_head(const std::string& model, Head head, const std::string& path) {
    ModelFolder f = new_folder(model);
    f.task = "pretrain";
    name_architecture(f.config, head);
    ParameterStore store;
    Rng rng(3);
    text_encoder_named(model).make(f.config, "config", {head, 3}, Params(store, rng));
    f.save(path, store, text_encoder_named(model).rules(), false);
    return store;
}

ModelFolder with_labels(const std::string& path) {
    ModelFolder f = ModelFolder::open(path);
    f.labels = {"bad", "good", "so-so"};
    return f;
}

std::vector<float> probabilities(const ClassifyModel& m) {
    std::vector<float> all;
    for (const TextLabel& t : classify(m, texts))
        all.insert(all.end(), t.probabilities.begin(), t.probabilities.end());
    return all;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

class PretrainedClassifier : public testing::TestWithParam<const char*> {};

TEST_P(PretrainedClassifier, TakesTheBodyAndMakesAHead) {
    const TestFolder folder;
    const std::string model = GetParam();
    const ParameterStore old =
        save_with_head(model, model == "bert" ? Head::words_and_next : Head::words, folder / "old");
    ModelFolder::NewHead report;
    const ClassifyModel m = ClassifyModel::create_from(with_labels(folder / "old"), {}, 7, report);
    const std::string head = model == "bert" ? "classifier.weight" : "classifier.out_proj.weight";
    EXPECT_TRUE(has(report.made, head));
    EXPECT_TRUE(has(report.left, model == "bert" ? "cls.seq_relationship.bias" : "lm_head.bias"));
    EXPECT_FALSE(has(report.left, "bert.pooler.dense.weight"));
    int kept = 0;
    for (const std::string& name : old.names())
        if (name.starts_with(model + ".")) {
            EXPECT_EQ(m.store->at(name).values(), old.at(name).values()) << name;
            ++kept;
        }
    EXPECT_GT(kept, 36);
    for (const std::string& name : report.made) EXPECT_FALSE(old.has(name)) << name;

    m.save(folder / "new");
    const ModelFolder saved = ModelFolder::open(folder / "new");
    EXPECT_EQ(head_named_in(saved.config), Head::classes);
    EXPECT_EQ(saved.config["problem_type"], "single_label_classification");
    EXPECT_FALSE(saved.config.contains("pooling"));
    EXPECT_FALSE(file_exists(folder / "new/generation_config.json"));
    EXPECT_EQ(probabilities(ClassifyModel::open(saved)), probabilities(m));
    // the seed draws the head
    const ClassifyModel other =
        ClassifyModel::create_from(with_labels(folder / "old"), {}, 8, report);
    EXPECT_NE(probabilities(other), probabilities(m));
}

TEST_P(PretrainedClassifier, AnotherHeadOfTheSameNameAndShapeIsNotTaken) {
    const TestFolder folder;
    const std::string model = GetParam();
    const ParameterStore old = save_with_head(model, Head::tags, folder / "old");
    ModelFolder::NewHead report;
    const ClassifyModel m =
        ClassifyModel::create_from(with_labels(folder / "old"), Pool::mean, 7, report);
    EXPECT_EQ(report.made, (std::vector<std::string>{"classifier.weight", "classifier.bias"}));
    EXPECT_TRUE(has(report.left, "classifier.weight"));
    EXPECT_NE(m.store->at("classifier.weight").values(), old.at("classifier.weight").values());
    // a pooling of ours is no architecture of Hugging Face's
    EXPECT_EQ(m.folder.config["pooling"], "mean");
    EXPECT_EQ(head_named_in(m.folder.config), Head::none);
}

TEST_P(PretrainedClassifier, AnIncompleteBodyIsOneError) {
    const TestFolder folder;
    const std::string model = GetParam();
    const ParameterStore old = save_with_head(model, Head::words, folder / "old");
    ParameterStore part;
    for (const std::string& name : old.names())
        if (!name.ends_with("layer.1.output.dense.bias")) part.put(name, old.at(name));
    part.put("extra.weight", Tensor::zeros({2, 2}));
    save_parameters(folder / "old/model.safetensors", part);
    try {
        ModelFolder::NewHead report;
        ClassifyModel::create_from(with_labels(folder / "old"), {}, 7, report);
        FAIL();
    } catch (const Error& e) {
        const std::string what = e.what();
        EXPECT_EQ(e.kind(), ErrorKind::bad_input);
        EXPECT_NE(what.find("missing: " + model + ".encoder.layer.1.output.dense.bias"),
                  std::string::npos)
            << what;
        EXPECT_NE(what.find("not used: extra.weight"), std::string::npos) << what;
        EXPECT_EQ(what.find("classifier"), std::string::npos) << what;
    }
}

// No fovea.json, no id2label (Hugging Face does not write it for two labels).
TEST_P(PretrainedClassifier, AFolderOfHuggingFaceSaysByItsArchitectureThatItClassifies) {
    const TestFolder folder;
    ModelFolder f = new_folder(GetParam());
    f.labels = {"LABEL_0", "LABEL_1"};
    const ClassifyModel m = ClassifyModel::create(f, {}, 7);
    m.save(folder / "m");
    std::filesystem::remove(folder / "m/fovea.json");
    Json config = read_json(folder / "m/config.json");
    for (const char* key : {"id2label", "label2id", "problem_type"}) config.erase(key);
    write_file_atomically(folder / "m/config.json", to_text(config));
    const ModelFolder back = ModelFolder::open(folder / "m");
    EXPECT_EQ(back.task, "");
    EXPECT_EQ(task_of_config(back), "classify");
    const ClassifyModel again = ClassifyModel::open(back);
    EXPECT_EQ(again.folder.labels, f.labels);
    EXPECT_EQ(probabilities(again), probabilities(m));
}

TEST_P(PretrainedClassifier, PairsAreReadWithTheirSeparatorAndNeighboursChangeNothing) {
    ModelFolder f = new_folder(GetParam());
    f.labels = {"no", "yes"};
    const ClassifyModel m = ClassifyModel::create(f, {}, 7);
    const std::vector<TextInput> inputs = {
        {"rain", "sun"}, {"sun", "rain"}, {"rain"}, {"a fine day", "snow and ice all night long"}};
    const auto together = classify(m, inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        EXPECT_EQ(classify(m, std::span(&inputs[i], 1))[0].probabilities,
                  together[i].probabilities);
    EXPECT_NE(together[0].probabilities, together[1].probabilities);
    EXPECT_NE(together[0].probabilities, together[2].probabilities);
    EXPECT_FALSE(together[0].cut);
    EXPECT_TRUE(together[3].cut);
    const EncodedText e = m.encode(inputs[3]);
    EXPECT_EQ(e.ids.size(), 24u);
    EXPECT_EQ(e.types.size(), 24u);
    EXPECT_EQ(e.ids.back(), m.encode(inputs[2]).ids.back());  // the end token stays
    EXPECT_EQ(e.types.back(), std::string(GetParam()) == "bert" ? 1 : 0);
}

TEST_P(PretrainedClassifier, WhatItsHeadCannotDoIsRefused) {
    const TestFolder folder;
    ModelFolder f = new_folder(GetParam());
    f.labels = {"no", "yes"};
    ClassifyModel::create(f, {}, 7).save(folder / "m");
    const Json whole = read_json(folder / "m/config.json");
    const auto message = [&](const char* key, const Json& value) {
        Json config = whole;
        config[key] = value;
        write_file_atomically(folder / "m/config.json", to_text(config));
        try {
            ClassifyModel::open(ModelFolder::open(folder / "m"));
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::bad_input) << e.what();
            return std::string(e.what());
        }
        return std::string("opened");
    };
    EXPECT_NE(message("problem_type", "regression").find("problem_type"), std::string::npos);
    EXPECT_NE(message("pooling", "magic").find("no \"pooling\" \"magic\""), std::string::npos);
    EXPECT_NE(message("pooling", 3).find("pooling"), std::string::npos);
    // a pooling on top wants other parameters than the model's own head
    EXPECT_NE(message("pooling", "attention").find("missing: pooling."), std::string::npos);
    EXPECT_NE(message("vocab_size", 5).find("word_embeddings"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Models, PretrainedClassifier, testing::Values("bert", "roberta"),
                         [](const auto& i) { return std::string(i.param); });

TEST(Classify, AModelWithoutASeparatorRefusesPairs) {
    ModelFolder f = new_folder("transformer");
    f.labels = {"no", "yes"};
    const ClassifyModel m = ClassifyModel::create(f, {}, 7);
    EXPECT_EQ(m.folder.config["pooling"], "mean");
    EXPECT_THROW(classify(m, std::vector<TextInput>{{"a", "b"}}), Error);
}

}  // namespace
}  // namespace fovea
