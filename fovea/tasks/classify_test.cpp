#include "fovea/tasks/classify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <thread>

#include "fovea/base/files.h"
#include "fovea/base/threads.h"
#include "fovea/io/safetensors_writer.h"
#include "fovea/io/test_folder.h"
#include "fovea/ops/softmax.h"
#include "fovea/tasks/classify_defaults.h"
#include "fovea/tasks/test_classifier.h"

namespace fovea {
namespace {

std::vector<float> all_probabilities(const ClassifyModel& m, std::int64_t batch_tokens) {
    std::vector<float> all;
    for (const TextLabel& t : classify(m, texts, batch_tokens))
        all.insert(all.end(), t.probabilities.begin(), t.probabilities.end());
    return all;
}

TEST(ClassifyDefaults, LongTextsAreReadLessOften) {
    EXPECT_EQ(fitting_epochs(TextCounts{.texts = 1000, .words = 10000}), 30);
    EXPECT_EQ(fitting_epochs(TextCounts{.texts = 15000, .words = 130000}), 20);
    EXPECT_EQ(fitting_epochs(TextCounts{.texts = 2500, .words = 2000000}), 10);
    EXPECT_EQ(fitting_epochs(TextCounts{.texts = 25000, .words = 6000000}), 4);
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

TEST(Classify, LabelsAreTheMostProbableAndLongTextsAreReadInWindows) {
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
    EXPECT_EQ(found[2].windows, 4);  // 27 characters: 0-11, 6-17, 12-23, 16-27
    EXPECT_EQ(found[1].windows, 1);
    EXPECT_FALSE(found[2].cut);
}

TEST(Classify, WindowsCoverTheTextAndOverlapByHalf) {
    const ClassifyModel m = small_classifier();
    const std::vector<EncodedText> windows = m.encode_windows({texts[2]});
    const std::vector<TokenId> whole = m.folder.tokenizer->encode_ids(texts[2], false);
    ASSERT_EQ(windows.size(), 4u);
    for (const EncodedText& w : windows) {
        ASSERT_EQ(w.ids.size(), 12u);
        EXPECT_EQ(w.ids.back(), 1);  // each ends as a text does
    }
    for (std::size_t i = 0; i < 11; ++i) {
        EXPECT_EQ(windows[0].ids[i], whole[i]);
        EXPECT_EQ(windows[1].ids[i], whole[6 + i]);
        EXPECT_EQ(windows[3].ids[i], whole[whole.size() - 11 + i]);
    }
    // the answer is the mean of theirs
    std::vector<std::int64_t> all(4);
    for (std::size_t i = 0; i < 4; ++i) all[i] = static_cast<std::int64_t>(i);
    const Tensor p = softmax(m.network->logits(pack_texts(windows, all)));
    const TextLabel joined = classify(m, texts)[2];
    for (std::int64_t c = 0; c < 3; ++c)
        EXPECT_NEAR(joined.probabilities[static_cast<std::size_t>(c)],
                    (p.at(0, c) + p.at(1, c) + p.at(2, c) + p.at(3, c)) / 4, 1e-6);
}

ClassifyModel small_classifier_of(const TextEncoderEntry& entry, bool several = false) {
    ModelFolder f;
    f.labels = {"bad", "good", "so-so"};
    f.tokenizer = f.target_tokenizer = std::make_shared<const Tokenizer>(
        train_vocabulary(texts, {.kind = VocabularyKind::characters, .frame = entry.tokens}));
    EncoderChoice choice{.preset = "tiny", .layers = 1, .width = 32, .ffn = 48, .heads = 2};
    choice.vocabulary = static_cast<int>(f.tokenizer->vocab_size());
    choice.max_length = 12;
    f.config = entry.new_config(choice);
    if (several) f.config["problem_type"] = "multi_label_classification";
    return ClassifyModel::create(std::move(f), {}, 5);
}

// Every architecture of the table, with the head or pooling that is its own.
TEST(Classify, EveryArchitectureAnswersAloneAsAmongOthers) {
    for (const TextEncoderEntry& entry : text_encoders()) {
        const ClassifyModel m = small_classifier_of(entry);
        const std::vector<float> alone = all_probabilities(m, 1);
        ASSERT_EQ(alone.size(), texts.size() * 3);
        for (const int threads : {1, 3}) {
            set_thread_count(threads);
            EXPECT_EQ(all_probabilities(m, 1000), alone) << entry.name;  // bit for bit
        }
        set_thread_count(0);
        const TestFolder folder;
        m.save(folder / "m");
        const ClassifyModel back = ClassifyModel::open(ModelFolder::open(folder / "m"));
        EXPECT_EQ(all_probabilities(back, 100), alone) << entry.name;
    }
}

TEST(Classify, AnyNumberOfLabelsHoldsAtItsThresholds) {
    ClassifyModel m = small_classifier_of(text_encoder_named("single-head"), true);
    ASSERT_TRUE(m.several);
    EXPECT_EQ(m.labels_of(std::vector{0.6f, 0.4f, 0.5f}),
              (std::vector<std::string>{"bad", "so-so"}));
    EXPECT_TRUE(m.labels_of(std::vector{0.1f, 0.2f, 0.3f}).empty());
    m.set_thresholds({0.7f, 0.1f, 0.5f});
    EXPECT_EQ(m.labels_of(std::vector{0.6f, 0.4f, 0.5f}),
              (std::vector<std::string>{"good", "so-so"}));
    const TestFolder folder;
    m.save(folder / "m");
    const ClassifyModel back = ClassifyModel::open(ModelFolder::open(folder / "m"));
    EXPECT_TRUE(back.several);
    EXPECT_EQ(back.thresholds, m.thresholds);
    for (const TextLabel& t : classify(back, texts))
        for (const float p : t.probabilities) EXPECT_TRUE(p > 0 && p < 1);
    Json config = read_json(folder / "m/config.json");
    config["thresholds"] = {0.5};
    write_file_atomically(folder / "m/config.json", to_text(config));
    EXPECT_THROW(ClassifyModel::open(ModelFolder::open(folder / "m")), Error);
}

TEST(Classify, QueriesMayBeginAsTheWordsOfTheirLabels) {
    ClassifyModel m = small_classifier_of(text_encoder_named("label-query"));
    const Tensor table = m.store->at("embeddings.weight");
    start_with_label_words(m);
    const auto ids = m.folder.tokenizer->encode_ids("bad", false);
    ASSERT_GE(ids.size(), 3u);
    float mean = 0;
    for (const TokenId id : ids) mean += table.at(id, 7) / static_cast<float>(ids.size());
    EXPECT_NEAR(m.network->pooling->query.at(0, 7), mean * std::sqrt(32.0f), 1e-5);
    ClassifyModel other = small_classifier();
    EXPECT_THROW(start_with_label_words(other), Error);
}

// A query for each class, and a weight vector of its own for each.
TEST(Classify, LabelQueriesAreThoseOfPyTorch) {
    const Json g = read_json(FOVEA_SOURCE_DIR "/tests/goldens/word_models.json");
    const Json& c = g["cases"].back();
    ParameterStore store;
    for (const auto& [name, p] : c["parameters"].items()) {
        const auto sizes = p["shape"].get<std::vector<std::int64_t>>();
        const Shape shape = sizes.size() == 1 ? Shape{sizes[0]} : Shape{sizes[0], sizes[1]};
        const auto values = p["values"].get<std::vector<float>>();
        store.get(name, shape,
                  [&](Tensor& t) { std::copy(values.begin(), values.end(), t.write()); });
    }
    Rng rng;
    const TextClassifier network(c["config"], "golden", 3, Params(store, rng));
    const Tensor y = network.logits(pack(g["texts"].get<std::vector<Ids>>()));
    for (std::int64_t s = 0; s < y.rows(); ++s)
        for (std::int64_t k = 0; k < 3; ++k)
            EXPECT_NEAR(
                y.at(s, k),
                c["rows"][static_cast<std::size_t>(s)][static_cast<std::size_t>(k)].get<double>(),
                2e-6);
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
