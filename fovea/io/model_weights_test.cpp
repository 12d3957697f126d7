#include "fovea/io/model_weights.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/json.h"
#include "fovea/io/model_parameters.h"
#include "fovea/io/test_folder.h"

namespace fovea {
namespace {

Tensor counting(const Shape& shape, float from = 0) {
    Tensor t(shape);
    float* to = t.write();
    for (std::int64_t i = 0; i < t.size(); ++i) to[i] = from + static_cast<float>(i);
    return t;
}

// a and b in one shard, c in another.
void write_shards(const TestFolder& folder) {
    write_safetensors(folder / "s1.safetensors", {TensorToWrite::of("a", counting({2})),
                                                  TensorToWrite::of("b", counting({3}))});
    write_safetensors(folder / "s2.safetensors", {TensorToWrite::of("c", counting({4}))});
}

void write_index(const TestFolder& folder, const std::string& json) {
    put_file(folder / "model.safetensors.index.json", json);
}

constexpr const char* good_index =
    R"({"metadata":{"total_size":36},"weight_map":{"a":"s1.safetensors","b":"s1.safetensors","c":"s2.safetensors"}})";

TEST(ModelWeights, ReadsOneFileAFolderOrShards) {
    const TestFolder folder;
    write_shards(folder);
    EXPECT_EQ(ModelWeights(folder / "s1.safetensors").names(),
              (std::vector<std::string>{"a", "b"}));
    write_index(folder, good_index);
    const ModelWeights shards(folder.path());
    EXPECT_EQ(shards.names(), (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(shards.read("c").values(), (std::vector<float>{0, 1, 2, 3}));
    EXPECT_EQ(shards.bytes(), 36);
    EXPECT_TRUE(shards.has("b"));
    EXPECT_FALSE(shards.has("d"));
    write_safetensors(folder / "model.safetensors", {TensorToWrite::of("d", counting({2, 2}))});
    EXPECT_EQ(ModelWeights(folder.path()).info("d").shape, (std::vector<std::int64_t>{2, 2}));
}

TEST(ModelWeights, BrokenIndexesAreRefused) {
    const std::pair<const char*, const char*> cases[] = {
        {"{", "not valid JSON"},
        {"[]", "holds no weight_map"},
        {"{}", "holds no weight_map"},
        {R"({"weight_map":[]})", "holds no weight_map"},
        {R"({"weight_map":{}})", "holds no weight_map"},
        {R"({"weight_map":{"a":1}})", "is not a file name"},
        {R"({"weight_map":{"a":"../s1.safetensors"}})", "only plain names"},
        {R"({"weight_map":{"a":"/etc/passwd"}})", "only plain names"},
        {R"({"weight_map":{"a":"x/s1.safetensors"}})", "only plain names"},
        {R"({"weight_map":{"a":".."}})", "only plain names"},
        {R"({"weight_map":{"a":""}})", "only plain names"},
        {R"({"weight_map":{"a":"s1.safetensors\u0000"}})", "only plain names"},
        {R"({"weight_map":{"a":"pytorch_model.bin"}})", "only plain names"},
        {R"({"weight_map":{"a":"s9.safetensors"}})", "is missing"},
        {R"({"weight_map":{"a":"link.safetensors"}})", "leads out of the folder"},
        {R"({"weight_map":{"a":"s1.safetensors"}})", "is not in the index"},
        {R"({"weight_map":{"a":"s1.safetensors","b":"s1.safetensors","z":"s1.safetensors"}})",
         "lacks the tensor \"z\""},
        {R"({"weight_map":{"a":"s1.safetensors","a":"s2.safetensors"}})", "stands twice"},
        {R"({"metadata":{"total_size":35},"weight_map":{"a":"s1.safetensors","b":"s1.safetensors","c":"s2.safetensors"}})",
         "total_size is 35 but the shards hold 36 bytes"},
    };
    const TestFolder folder, other;
    write_shards(folder);
    write_shards(other);
    std::filesystem::create_symlink(other / "s1.safetensors", folder / "link.safetensors");
    for (const auto& [json, wanted] : cases) {
        write_index(folder, json);
        const std::string got = complaint([&] { ModelWeights w(folder.path()); });
        EXPECT_NE(got.find(wanted), std::string::npos) << json << "\n" << got;
    }
    // one tensor in two shards
    write_safetensors(folder / "s2.safetensors", {TensorToWrite::of("c", counting({4})),
                                                  TensorToWrite::of("a", counting({1}))});
    write_index(
        folder,
        R"({"weight_map":{"a":"s1.safetensors","b":"s1.safetensors","c":"s2.safetensors"}})");
    EXPECT_NE(complaint([&] { ModelWeights w(folder.path()); }).find("stands in another shard too"),
              std::string::npos);
}

TEST(ModelWeights, LinksIntoTheDownloadCacheAreFollowed) {
    const TestFolder cache;
    make_folders(cache / "snapshots/1");
    make_folders(cache / "blobs");
    write_safetensors(cache / "blobs/abc", {TensorToWrite::of("a", counting({2}))});
    std::filesystem::create_symlink("../../blobs/abc", cache / "snapshots/1/s1.safetensors");
    put_file(cache / "snapshots/1/model.safetensors.index.json",
             R"({"weight_map":{"a":"s1.safetensors"}})");
    EXPECT_EQ(ModelWeights(cache / "snapshots/1").read("a").size(), 2);
}

TEST(ModelWeights, PicklesAndEmptyFoldersAreRefused) {
    const TestFolder folder;
    EXPECT_NE(complaint([&] { ModelWeights w(folder.path()); }).find("no model.safetensors"),
              std::string::npos);
    EXPECT_NE(complaint([&] { ModelWeights w(folder / "x"); }).find("no such model"),
              std::string::npos);
    put_file(folder / "pytorch_model.bin", "x");
    EXPECT_NE(complaint([&] { ModelWeights w(folder.path()); }).find("pickle"), std::string::npos);
}

TEST(NameRules, PatternsCaptureWhatTheirWildCardsMatch) {
    std::vector<std::string> c;
    EXPECT_TRUE(matches_pattern("h.*.attn.*", "h.12.attn.bias", c));
    EXPECT_EQ(c, (std::vector<std::string>{"12", "bias"}));
    c.clear();
    EXPECT_FALSE(matches_pattern("h.*.bias", "h.1.attn.bias", c));
    EXPECT_TRUE(c.empty());
    EXPECT_TRUE(matches_pattern("**.LayerNorm.gamma", "bert.a.0.LayerNorm.gamma", c));
    EXPECT_EQ(c, (std::vector<std::string>{"bert.a.0"}));
    c.clear();
    EXPECT_FALSE(matches_pattern("*", "", c));
    EXPECT_FALSE(matches_pattern("a", "ab", c));
    EXPECT_TRUE(matches_pattern("*a*", "xaya", c));  // the shortest that fits: x, ya
    EXPECT_EQ(c, (std::vector<std::string>{"x", "ya"}));
}

// GPT-2's fused, transposed projections; BERT's old names; XLNet's three-dimensional weights.
std::vector<NameRule> rules() {
    return {
        {.on_disk = "transformer.**", .in_model = {"**"}},
        {.on_disk = "h.*.attn.masked_bias", .in_model = {}},
        {.on_disk = "h.*.attn.c_attn.weight",
         .in_model = {"h.*.attn.q.weight", "h.*.attn.k.weight", "h.*.attn.v.weight"},
         .transpose = true},
        {.on_disk = "h.*.attn.c_attn.bias",
         .in_model = {"h.*.attn.q.bias", "h.*.attn.k.bias", "h.*.attn.v.bias"}},
        {.on_disk = "**.gamma", .in_model = {"**.weight"}, .load_only = true},
        {.on_disk = "layer.*.rel_attn.q",
         .in_model = {"layer.*.rel_attn.q.weight"},
         .transpose = true,
         .columns_like = "layer.*.rel_attn.bias"},
    };
}

TEST(NameRules, LoadAndSaveAreEachOthersInverse) {
    const TestFolder folder;
    const auto all = rules();
    const std::string mask = "transformer.h.0.attn.masked_bias";
    write_safetensors(folder / "a.safetensors",
                      {TensorToWrite::of("transformer.h.0.attn.c_attn.weight", counting({2, 6})),
                       TensorToWrite::of("transformer.h.0.attn.c_attn.bias", counting({6})),
                       TensorToWrite::of("transformer.h.0.attn.masked_bias", counting({1})),
                       TensorToWrite::of("transformer.ln.gamma", counting({2}, 9)),
                       TensorToWrite::of("transformer.layer.7.rel_attn.q", counting({2, 3, 4})),
                       TensorToWrite::of("transformer.layer.7.rel_attn.bias", counting({3, 4}))});
    ParameterStore store(ParameterStore::Mode::load);
    load_parameters(ModelWeights(folder / "a.safetensors"), all, store);
    EXPECT_EQ(store.names().size(), 9u);
    EXPECT_EQ(store.at("h.0.attn.q.weight").values(), (std::vector<float>{0, 6, 1, 7}));
    EXPECT_EQ(store.at("h.0.attn.v.weight").values(), (std::vector<float>{4, 10, 5, 11}));
    EXPECT_EQ(store.at("h.0.attn.k.bias").values(), (std::vector<float>{2, 3}));
    EXPECT_EQ(store.at("ln.weight").values(), (std::vector<float>{9, 10}));
    EXPECT_EQ(store.at("layer.7.rel_attn.q.weight").shape(), Shape({12, 2}));
    EXPECT_EQ(store.at("layer.7.rel_attn.q.weight").at(5, 1), 12 + 5);

    save_parameters(folder / "b.safetensors", store, all);
    const TensorFile a(folder / "a.safetensors"), b(folder / "b.safetensors");
    EXPECT_EQ(b.find(mask), nullptr);
    EXPECT_NE(b.find("transformer.ln.weight"), nullptr);  // the new spelling
    for (const char* name :
         {"transformer.h.0.attn.c_attn.weight", "transformer.h.0.attn.c_attn.bias",
          "transformer.layer.7.rel_attn.q"}) {
        EXPECT_EQ(a.at(name).shape, b.at(name).shape);
        EXPECT_EQ(a.read(name).values(), b.read(name).values());
    }
    EXPECT_EQ(b.tensors().size(), 5u);
}

TEST(NameRules, ShapesThatDoNotFitAreOneClearError) {
    const auto all = rules();
    EXPECT_EQ(complaint([&] {
                  apply_rules(all, {"h.0.attn.c_attn.weight", counting({2, 5})});
              }),
              "h.0.attn.c_attn.weight: is [5, 2] and cannot be split into 3 equal parts");
    EXPECT_EQ(complaint([&] {
                  apply_rules(all, {"h.0.attn.c_attn.weight", counting({6})});
              }),
              "h.0.attn.c_attn.weight: is [6] but must be a matrix to be transposed");
    EXPECT_EQ(complaint([&] {
                  apply_rules(all, {"layer.0.rel_attn.q", counting({2, 12})});
              }),
              "layer.0.rel_attn.q: is [2, 12] but [in, heads, width] is wanted");
    EXPECT_NE(complaint([&] {
                  undo_rules(all, {{"h.0.attn.q.bias", counting({2})}});
              }).find("h.0.attn.k.bias is missing"),
              std::string::npos);
    EXPECT_NE(complaint([&] {
                  undo_rules(all, {{"layer.0.rel_attn.q.weight", counting({12, 2})},
                                   {"layer.0.rel_attn.bias", counting({3, 5})}});
              }).find("do not split as [3, 5]"),
              std::string::npos);
}

TEST(NameRules, AStoreSavesAndLoadsToTheSameBits) {
    const TestFolder folder;
    ParameterStore store;
    store.get("a.weight", {3, 5}, [](Tensor& t) { std::fill_n(t.write(), t.size(), 0.1f); });
    store.get("b", {7}, [](Tensor& t) { std::fill_n(t.write(), t.size(), -2e-39f); });
    save_parameters(folder / "m", store);
    ParameterStore back(ParameterStore::Mode::load);
    load_parameters(ModelWeights(folder / "m"), {}, back);
    for (const std::string& name : store.names())
        EXPECT_EQ(back.at(name).values(), store.at(name).values());
    save_parameters(folder / "n", back);
    EXPECT_EQ(read_file(folder / "m"), read_file(folder / "n"));
    save_parameters(folder / "h", store, {}, {.dtype = DType::BF16});
    EXPECT_EQ(TensorFile(folder / "h").at("a.weight").dtype, DType::BF16);
}

}  // namespace
}  // namespace fovea
