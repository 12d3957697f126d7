#include "fovea/tasks/classify.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <thread>

#include "fovea/base/files.h"
#include "fovea/base/threads.h"
#include "fovea/io/safetensors_writer.h"
#include "fovea/io/test_folder.h"
#include "fovea/tasks/test_classifier.h"

namespace fovea {
namespace {

std::vector<float> all_probabilities(const ClassifyModel& m, std::int64_t batch_tokens) {
    std::vector<float> all;
    for (const TextLabel& t : classify(m, texts, batch_tokens))
        all.insert(all.end(), t.probabilities.begin(), t.probabilities.end());
    return all;
}

TEST(Classify, ATextsAnswerDoesNotDependOnItsNeighboursOrThreads) {
    for (const std::string& pool : pool_names()) {
        const ClassifyModel m = small_classifier(pool_of(pool));
        const std::vector<float> alone = all_probabilities(m, 1);
        ASSERT_EQ(alone.size(), texts.size() * 3);
        for (const int threads : {1, 3}) {
            set_thread_count(threads);
            EXPECT_EQ(all_probabilities(m, 1000), alone) << pool;  // bit for bit
        }
        std::vector<float> a, b;
        {
            std::jthread one([&] { a = all_probabilities(m, 1000); });
            b = all_probabilities(m, 7);
        }
        EXPECT_EQ(a, alone);
        EXPECT_EQ(b, alone);
    }
    set_thread_count(0);
}

TEST(Classify, LabelsAreTheMostProbableAndLongTextsAreCut) {
    const auto found = classify(small_classifier(), texts);
    for (const TextLabel& t : found) {
        float sum = 0, best = 0;
        for (const float p : t.probabilities) sum += p, best = std::max(best, p);
        EXPECT_NEAR(sum, 1, 1e-5);
        const std::vector<std::string> labels = {"bad", "good", "so-so"};
        const auto at = std::find(labels.begin(), labels.end(), t.label) - labels.begin();
        ASSERT_LT(at, 3);
        EXPECT_EQ(t.probabilities[static_cast<std::size_t>(at)], best);
    }
    EXPECT_TRUE(found[2].cut);
    EXPECT_FALSE(found[1].cut);
}

TEST(Classify, SavedAndLoadedItGivesTheSameBits) {
    const TestFolder folder;
    const ClassifyModel m = small_classifier();
    m.save(folder / "m");
    const ClassifyModel back = ClassifyModel::open(ModelFolder::open(folder / "m"));
    EXPECT_EQ(back.folder.labels, m.folder.labels);
    EXPECT_EQ(back.folder.task, "classify");
    EXPECT_EQ(all_probabilities(back, 100), all_probabilities(m, 100));
    EXPECT_THROW(m.save(folder / "m"), Error);  // holds a model already
    for (const char* precision : {"bf16", "int8"}) {
        const ClassifyModel small =
            ClassifyModel::open(ModelFolder::open(folder / "m"), WeightChoice::named(precision));
        const std::vector<float> a = all_probabilities(small, 100), b = all_probabilities(m, 100);
        for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 0.05) << precision;
    }
}

// What a model's files lack, have too much of or have in another shape is one error, told before a
// tensor is read: the file's data are cut off here.
TEST(ModelFolder, WhateverDoesNotFitIsOneErrorFromTheHeader) {
    const TestFolder folder;
    small_classifier().save(folder / "m");
    Json config = read_json(folder / "m/config.json");
    config["encoder_layers"] = 3;
    config["encoder_ffn_dim"] = 40;
    write_file_atomically(folder / "m/config.json", to_text(config));
    try {
        ClassifyModel::open(ModelFolder::open(folder / "m"));
        FAIL();
    } catch (const Error& e) {
        const std::string what = e.what();
        EXPECT_EQ(e.kind(), ErrorKind::bad_input);
        EXPECT_NE(what.find("missing: model.encoder.layers.2.fc1.weight"), std::string::npos);
        EXPECT_NE(what.find("shape: model.encoder.layers.0.fc1.weight is [48, 32] but the model "
                            "wants [40, 32]"),
                  std::string::npos)
            << what;
    }
    config["encoder_layers"] = 1;
    write_file_atomically(folder / "m/config.json", to_text(config));
    try {
        ClassifyModel::open(ModelFolder::open(folder / "m"));
        FAIL();
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("not used: model.encoder.layers.1."),
                  std::string::npos);
    }
}

TEST(ModelFolder, AConfigThatLiesAboutSizesAllocatesNothing) {
    const TestFolder folder;
    small_classifier().save(folder / "m");
    Json config = read_json(folder / "m/config.json");
    config["vocab_size"] = 1 << 24;  // times d_model: two terabytes
    config["d_model"] = 1 << 15;
    write_file_atomically(folder / "m/config.json", to_text(config));
    try {
        ClassifyModel::open(ModelFolder::open(folder / "m"));
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::bad_input) << e.what();
    }
}

TEST(ModelFolder, ALaterVersionIsRefused) {
    const TestFolder folder;
    small_classifier().save(folder / "m");
    Json about = read_json(folder / "m/fovea.json");
    EXPECT_EQ(about["version"], ModelFolder::version);
    about["version"] = ModelFolder::version + 1;
    write_file_atomically(folder / "m/fovea.json", to_text(about));
    try {
        ModelFolder::open(folder / "m");
        FAIL();
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("reads up to"), std::string::npos);
    }
}

TEST(ModelFolder, ARunIsItsModelAndACheckpointIsNot) {
    const TestFolder folder;
    small_classifier().save(folder / "run/model");
    EXPECT_EQ(ModelFolder::open(folder / "run").path, folder / "run/model");
    EXPECT_EQ(task_of_folder(folder / "run"), "classify");
    make_folders(folder / "run/step-0000000010");
    write_file_atomically(folder / "run/step-0000000010/MANIFEST.json", "{}");
    try {
        ModelFolder::open(folder / "run/step-0000000010");
        FAIL();
    } catch (const Error& e) {
        EXPECT_NE(e.hint().find("run/model"), std::string::npos) << e.hint();
    }
    EXPECT_EQ(task_of_folder(folder / "nowhere"), "");
}

TEST(ModelFolder, TypesThatCannotHoldWeightsAreRefused) {
    const TestFolder folder;
    const ClassifyModel m = small_classifier();
    m.save(folder / "m");
    std::vector<TensorToWrite> all;
    for (const std::string& name : m.store->names())
        all.push_back(TensorToWrite::of(name, m.store->at(name)));
    all[0].dtype = DType::I32;  // as many bytes
    all[0].bytes.assign(static_cast<std::size_t>(all[0].values.size()) * 4, '\0');
    all[0].values = {};
    write_safetensors(folder / "m/model.safetensors", all, {});
    try {
        ClassifyModel::open(ModelFolder::open(folder / "m"));
        FAIL();
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("is I32, which cannot hold weights"),
                  std::string::npos)
            << e.what();
    }
}

}  // namespace
}  // namespace fovea
