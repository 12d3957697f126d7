// Folders of GPT-2 that are wrong in one thing each: every one is a clear error that names it, and
// nothing is allocated before the sizes are known to be true.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/io/model_parameters.h"
#include "fovea/io/test_folder.h"
#include "fovea/tasks/generate.h"
#include "tests/gpt2_folder.h"

namespace fovea::test {
namespace {

using Damage = std::function<void(const std::string& folder)>;
struct BadFolder {
    std::string name;
    Damage damage;
    std::string says;
};

Damage with_config(const Json& change) {
    return [change](const std::string& folder) {
        Json config = read_json(folder + "/config.json");
        config.update(change);
        write_file_atomically(folder + "/config.json", to_text(config));
    };
}

Damage with_generation(const Json& generation) {
    return [generation](const std::string& folder) {
        write_file_atomically(folder + "/generation_config.json", to_text(generation));
    };
}

Damage with_file(const std::string& name, const std::string& bytes) {
    return [=](const std::string& folder) { put_file(folder + "/" + name, bytes); };
}

Damage without_file(const std::string& name) {
    return [=](const std::string& folder) { std::filesystem::remove(folder + "/" + name); };
}

// The tensors as the file has them, changed and written again.
Damage with_tensors(const std::function<void(std::map<std::string, Tensor>&)>& change) {
    return [change](const std::string& folder) {
        std::map<std::string, Tensor> tensors;
        {
            const ModelWeights weights(folder);
            for (const std::string& name : weights.names()) tensors[name] = weights.read(name);
        }
        change(tensors);
        ParameterStore store;
        for (auto& [name, t] : tensors) store.put(name, t);
        save_parameters(folder + "/model.safetensors", store);
    };
}

Damage without_tensor(const std::string& name) {
    return with_tensors([name](auto& tensors) { tensors.erase(name); });
}

Damage with_tensor(const std::string& name, const Shape& shape) {
    return with_tensors([=](auto& tensors) { tensors[name] = Tensor::zeros(shape); });
}

std::vector<BadFolder> bad_folders() {
    const auto huge = std::int64_t{1} << 40;
    return {
        {"no config", without_file("config.json"), "config.json"},
        {"config is no JSON", with_file("config.json", "{\"model_type\": \"gpt2\""), "config.json"},
        {"config is a list", with_file("config.json", "[1, 2]"), "not a JSON object"},
        {"unknown model", with_config({{"model_type", "gpt9"}}), "gpt9"},
        {"no vocabulary", with_config({{"vocab_size", 0}}), "vocab_size"},
        {"vocabulary beyond all bounds", with_config({{"vocab_size", huge}}), "vocab_size"},
        {"vocabulary of another model", with_config({{"vocab_size", 1 << 24}}), "wte"},
        {"vocabulary as text", with_config({{"vocab_size", "many"}}), "vocab_size"},
        {"negative width", with_config({{"n_embd", -32}}), "n_embd"},
        {"width beyond all bounds", with_config({{"n_embd", huge}}), "n_embd"},
        {"width that lies", with_config({{"n_embd", 65536}}), "shape"},
        {"width of half a number", with_config({{"n_embd", 32.5}}), "n_embd"},
        {"no layers", with_config({{"n_layer", 0}}), "n_layer"},
        {"endless layers", with_config({{"n_layer", 1000000}}), "n_layer"},
        {"one layer too many", with_config({{"n_layer", 3}}), "transformer.h.2"},
        {"one layer too few", with_config({{"n_layer", 1}}), "not used"},
        {"heads that do not divide", with_config({{"n_head", 5}}), "heads"},
        {"no heads", with_config({{"n_head", 0}}), "n_head"},
        {"positions that lie", with_config({{"n_positions", 1 << 24}}), "wpe"},
        {"positions beyond all bounds", with_config({{"n_positions", huge}}), "n_positions"},
        {"inner width that lies", with_config({{"n_inner", 1 << 20}}), "c_fc"},
        {"unknown activation", with_config({{"activation_function", "mish"}}), "mish"},
        {"eps of zero", with_config({{"layer_norm_epsilon", 0}}), "layer_norm_epsilon"},
        {"dropout above one", with_config({{"resid_pdrop", 1.5}}), "resid_pdrop"},
        {"cross attention", with_config({{"add_cross_attention", true}}), "add_cross_attention"},
        {"an encoder beside it", with_config({{"is_encoder_decoder", true}}), "is_encoder_decoder"},
        {"pruned heads", with_config({{"pruned_heads", {{"0", {1}}}}}), "pruned_heads"},
        {"quantised", with_config({{"quantization_config", {{"bits", 4}}}}), "quantization_config"},
        {"scale as text", with_config({{"scale_attn_weights", "yes"}}), "scale_attn_weights"},
        {"end outside the vocabulary", with_config({{"eos_token_id", 5000}}), "eos_token_id"},
        {"untied without a head", with_config({{"tie_word_embeddings", false}}), "lm_head.weight"},
        {"no weights", without_file("model.safetensors"), "model.safetensors"},
        {"weights cut short", with_file("model.safetensors", "abc"), "model.safetensors"},
        {"header beyond the file", with_file("model.safetensors", std::string(8, '\x7f') + "{}"),
         "model.safetensors"},
        {"a pickle",
         [](const std::string& f) {
             std::filesystem::remove(f + "/model.safetensors");
             put_file(f + "/pytorch_model.bin", "PK");
         },
         "pytorch_model.bin"},
        {"a tensor missing", without_tensor("transformer.h.1.attn.c_attn.weight"),
         "transformer.h.1.attn.q.weight"},
        {"a tensor too many", with_tensor("transformer.h.1.attn.rotary", {4}), "not used"},
        {"a Linear instead of a Conv1D",
         with_tensor("transformer.h.0.attn.c_attn.weight", {96, 32}), "c_attn.weight"},
        {"c_attn that does not split", with_tensor("transformer.h.0.attn.c_attn.bias", {97}),
         "split"},
        {"a vector for a matrix", with_tensor("transformer.h.0.mlp.c_fc.weight", {128}), "matrix"},
        {"both spellings at once", with_tensor("wte.weight", {264, 32}), "twice"},
        {"a head that differs from its tie", with_tensors([](auto& t) {
             t["lm_head.weight"] = Tensor::zeros(t["transformer.wte.weight"].shape());
         }),
         "tied"},
        {"no tokenizer", without_file("tokenizer.json"), "tokenizer"},
        {"tokenizer of another model",
         [](const std::string& f) {
             Json t = read_json(f + "/tokenizer.json");
             t["added_tokens"].push_back({{"id", 9000},
                                          {"content", "<x>"},
                                          {"special", true},
                                          {"single_word", false},
                                          {"lstrip", false},
                                          {"rstrip", false},
                                          {"normalized", false}});
             write_file_atomically(f + "/tokenizer.json", to_text(t));
         },
         "tokenizer"},
        {"generation is no JSON", with_file("generation_config.json", "{"), "generation_config"},
        {"temperature of zero", with_generation({{"temperature", 0}}), "temperature"},
        {"endless generation", with_generation({{"max_new_tokens", huge}}), "max_new_tokens"},
        {"stop that is no text", with_generation({{"stop_strings", {7}}}), "stop_strings"},
        {"bad words of text",
         with_generation({{"bad_words_ids", Json::array({Json::array({"a", "b"})})}}),
         "bad_words_ids"},
        {"bad words in no list", with_generation({{"bad_words_ids", {{"a", "b"}}}}),
         "bad_words_ids"},
        {"end of text as text", with_generation({{"eos_token_id", "end"}}), "eos_token_id"},
        {"end far outside", with_generation({{"eos_token_id", {3, 99999}}}), "eos_token_id"},
    };
}

std::int64_t peak_memory() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return std::int64_t{usage.ru_maxrss} << 10;
}

TEST(Gpt2BadFolders, EachIsOneClearErrorAndNothingIsAllocatedFirst) {
    const TestFolder whole;
    write_gpt2_folder(whole.path());
    EXPECT_NO_THROW(GenerateModel::open(ModelFolder::open(whole.path())));
    const std::int64_t before = peak_memory();
    for (const BadFolder& bad : bad_folders()) {
        const TestFolder folder;
        std::filesystem::copy(whole.path(), folder.path(),
                              std::filesystem::copy_options::recursive);
        bad.damage(folder.path());
        try {
            GenerateModel::open(ModelFolder::open(folder.path()));
            ADD_FAILURE() << bad.name << ": was opened";
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find(bad.says), std::string::npos)
                << bad.name << ": " << e.what();
            EXPECT_TRUE(e.kind() == ErrorKind::bad_input || e.kind() == ErrorKind::not_found)
                << bad.name << ": " << e.what();
        }
    }
    EXPECT_LT(peak_memory() - before, std::int64_t{64} << 20);
}

}  // namespace
}  // namespace fovea::test
