#include "fovea/tasks/convert.h"

#include <gtest/gtest.h>

#include "fovea/base/files.h"
#include "fovea/io/model_parameters.h"
#include "fovea/io/test_folder.h"
#include "fovea/tasks/test_classifier.h"

namespace fovea {
namespace {

std::vector<float> answers(const std::string& folder, const WeightChoice& weights = {}) {
    std::vector<float> all;
    const ClassifyModel m = ClassifyModel::open(ModelFolder::open(folder), weights);
    for (const TextLabel& t : classify(m, texts))
        all.insert(all.end(), t.probabilities.begin(), t.probabilities.end());
    return all;
}

DType type_of(const std::string& folder) {
    return ModelWeights(folder).info("model.encoder.layers.0.fc1.weight").dtype;
}

TEST(Convert, EachFormatGivesTheAnswersOfItsWeights) {
    const TestFolder folder;
    const std::string model = folder / "model";
    small_classifier().save(model);
    const std::vector<float> exact = answers(model);

    const Converted small = convert_model(model, folder / "bf16", {.dtype = "bf16"});
    EXPECT_EQ(small.task, "classify");
    EXPECT_EQ(small.from + small.to, "f32bf16");
    EXPECT_LT(small.bytes_after, small.bytes_before * 6 / 10);
    EXPECT_EQ(type_of(folder / "bf16"), DType::BF16);
    // Every tensor is rounded, so the answers are near, not equal.
    const std::vector<float> rounded = answers(folder / "bf16");
    for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(rounded[i], exact[i], 0.02);
    EXPECT_NE(rounded, exact);

    // int8 on disk is what int8 in memory is: the same bits.
    convert_model(model, folder / "int8", {.dtype = "int8"});
    EXPECT_EQ(type_of(folder / "int8"), DType::I8);
    const WeightChoice int8{.format = Format::int8};
    EXPECT_EQ(answers(folder / "int8", int8), answers(model, int8));
    EXPECT_NE(answers(folder / "int8", int8), exact);

    // "same" keeps the bytes, whatever they are.
    for (const char* kind : {"model", "bf16", "int8"}) {
        const std::string again = folder / (std::string(kind) + "-again");
        const Converted same = convert_model(folder / kind, again, {});
        EXPECT_EQ(same.from, same.to);
        EXPECT_EQ(read_file(join_path(again, "model.safetensors")),
                  read_file(join_path(folder / kind, "model.safetensors")))
            << kind;
    }
}

TEST(Convert, WayBackFromInt8IsTheValuesItStandsFor) {
    const TestFolder folder;
    small_classifier().save(folder / "model");
    convert_model(folder / "model", folder / "int8", {.dtype = "int8"});
    convert_model(folder / "int8", folder / "back", {.dtype = "f32"});
    EXPECT_EQ(answers(folder / "back"), answers(folder / "int8", {.format = Format::f32}));
    EXPECT_FALSE(read_json(join_path(folder / "back", "fovea.json")).contains("weights"));
    EXPECT_EQ(read_json(join_path(folder / "int8", "fovea.json"))["weights"], "int8");
}

TEST(Convert, ShardsAreJoined) {
    const TestFolder folder;
    const std::string model = folder / "model", shards = folder / "shards";
    small_classifier().save(model);
    make_folders(shards);
    for (const char* file : {"config.json", "fovea.json", "tokenizer.json"})
        write_file_atomically(join_path(shards, file), read_file(join_path(model, file)));
    const ModelWeights weights(model);
    Json index = {{"metadata", Json::object()}, {"weight_map", Json::object()}};
    std::vector<TensorToWrite> halves[2];
    for (const std::string& name : weights.names()) {
        const std::size_t half = name.size() % 2;
        halves[half].push_back(TensorToWrite::of(name, weights.read(name)));
        index["weight_map"][name] = half ? "b.safetensors" : "a.safetensors";
    }
    write_safetensors(join_path(shards, "a.safetensors"), halves[0]);
    write_safetensors(join_path(shards, "b.safetensors"), halves[1]);
    write_file_atomically(join_path(shards, "model.safetensors.index.json"), to_text(index));
    convert_model(shards, folder / "joined", {});
    EXPECT_EQ(read_file(join_path(folder / "joined", "model.safetensors")),
              read_file(join_path(model, "model.safetensors")));
}

TEST(Convert, NothingIsOverwrittenUnasked) {
    const TestFolder folder;
    const std::string model = folder / "model";
    small_classifier().save(model);
    EXPECT_THROW(convert_model(model, model, {.overwrite = true}), Error);
    EXPECT_THROW(convert_model(model, model + "/", {}), Error);
    convert_model(model, folder / "out", {});
    EXPECT_THROW(convert_model(model, folder / "out", {.dtype = "bf16"}), Error);
    EXPECT_EQ(type_of(folder / "out"), DType::F32);
    convert_model(model, folder / "out", {.dtype = "bf16", .overwrite = true});
    EXPECT_EQ(type_of(folder / "out"), DType::BF16);
    EXPECT_THROW(convert_model(model, folder / "x", {.dtype = "f8"}), Error);
    EXPECT_THROW(convert_model(folder / "none", folder / "x", {}), Error);
}

TEST(Convert, ScalesThatDoNotFitAreOneError) {
    const TestFolder folder;
    small_classifier().save(folder / "model");
    convert_model(folder / "model", folder / "int8", {.dtype = "int8"});
    const std::string file = join_path(folder / "int8", "model.safetensors");
    const ModelWeights weights(folder / "int8");
    std::vector<TensorToWrite> all;
    for (const std::string& name : weights.names()) {
        const TensorInfo& info = weights.info(name);
        TensorToWrite t{name, info.dtype, info.shape, {}, weights.read_bytes(name)};
        if (name == "model.encoder.layers.0.fc1.weight_scale") {
            t.shape[0] -= 1;
            t.bytes.resize(t.bytes.size() - 4);
        }
        all.push_back(std::move(t));
    }
    write_safetensors(file, all, {{"layout", "fovea"}});
    try {
        answers(folder / "int8");
        FAIL() << "scales that do not fit were taken";
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("one F32 for each row"), std::string::npos)
            << e.what();
    }
}

}  // namespace
}  // namespace fovea
