// Ways an XLNet folder can be broken, through the loader that tasks use: each is one error that
// names what is wrong, before memory for weights is asked for.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "fovea/base/files.h"
#include "fovea/io/safetensors.h"
#include "fovea/io/safetensors_writer.h"
#include "fovea/models/xlnet.h"
#include "fovea/tasks/model_folder.h"
#include "fovea/tensor/memory.h"

namespace fovea::xlnet {
namespace {

namespace fs = std::filesystem;

using Break = std::function<void(const std::string& folder)>;

struct BadXlnet {
    std::string name;
    Break damage;
    std::string says;  // part of the message
    Head head = Head::words;
};

Break with_config(const std::string& key, const std::string& value) {
    return [=](const std::string& f) {
        Json j = read_json(f + "/config.json");
        j[key] = parse_json(value, "test");
        write_file_atomically(f + "/config.json", to_text(j));
    };
}

// The weights written anew, with a change to each tensor's name or shape (an empty name: left out).
Break with_weights(const std::function<void(std::string& name, Tensor& t)>& change) {
    return [=](const std::string& f) {
        const std::string path = f + "/model.safetensors";
        std::vector<TensorToWrite> out;
        {
            const TensorFile file(path);
            for (const TensorInfo& info : file.tensors()) {
                std::string name = info.name;
                Tensor t = file.read(info);
                change(name, t);
                if (!name.empty()) out.push_back(TensorToWrite::of(name, t));
            }
        }
        fs::remove(path);
        write_safetensors(path, out);
    };
}

Break renamed(const std::string& from, const std::string& to) {
    return with_weights([=](std::string& name, Tensor&) {
        if (name == from) name = to;
    });
}

Break reshaped(const std::string& of, const Shape& shape) {
    return with_weights([=](std::string& name, Tensor& t) {
        if (name == of) t = t.reshaped(shape);
    });
}

std::vector<BadXlnet> bad_configs() {
    std::vector<BadXlnet> all;
    const auto add = [&](const std::string& key, const std::string& value,
                         const std::string& says) {
        all.push_back({key + " is " + value, with_config(key, value), says});
    };
    for (const char* key : {"vocab_size", "d_model", "n_layer", "n_head", "d_inner"})
        for (const char* value : {"0", "-1", "\"8\"", "8.5", "99999999999999999999"})
            add(key, value, key);
    add("d_model", "65536", "d_head");
    add("n_head", "3", "d_head");
    add("d_head", "4", "d_head");
    add("d_head", "0", "d_head");
    add("n_layer", "512", "transformer.layer.511");
    add("n_layer", "1", "not used: transformer.layer.1");
    add("vocab_size", "16777216", "word_embedding");
    add("d_inner", "1048576", "ff.layer_1");
    add("ff_activation", "\"magic\"", "magic");
    add("attn_type", "\"sideways\"", "attn_type");
    add("bi_data", "true", "bi_data");
    add("tie_word_embeddings", "false", "tie_word_embeddings");
    add("clamp_len", "-7", "clamp_len");
    add("clamp_len", "1e9", "clamp_len");
    add("mem_len", "-1", "mem_len");
    add("dropout", "1", "dropout");
    add("dropout", "-0.5", "dropout");
    add("layer_norm_eps", "\"small\"", "layer_norm_eps");
    add("summary_type", "\"attn\"", "summary_type");
    add("summary_activation", "\"magic\"", "magic");
    add("summary_proj_to_labels", "true", "summary_proj_to_labels");
    add("eos_token_id", "37", "eos_token_id");
    add("fovea_max_length", "0", "fovea_max_length");
    all.push_back({"uni and same_length",
                   [](const std::string& f) {
                       with_config("attn_type", "\"uni\"")(f);
                       with_config("same_length", "true")(f);
                   },
                   "same_length"});
    all.push_back({"odd width",
                   [](const std::string& f) {
                       with_config("d_model", "15")(f);
                       with_config("n_head", "1")(f);
                       with_config("d_head", "15")(f);
                   },
                   "even"});
    all.push_back({"beam head", with_config("architectures", "[\"XLNetForQuestionAnswering\"]"),
                   "XLNetForQuestionAnswering", Head::spans});
    all.push_back({"another model", with_config("model_type", "\"bert\""), "bert"});
    return all;
}

std::vector<BadXlnet> bad_weights() {
    const std::string q = "transformer.layer.0.rel_attn.q";
    return {
        {"q transposed", reshaped(q, {2, 8, 16}), "rel_attn.q"},
        {"q flat", reshaped(q, {256}), "rel_attn.q"},
        {"q a matrix", reshaped(q, {16, 16}), "rel_attn.q"},
        {"o a matrix", reshaped("transformer.layer.1.rel_attn.o", {16, 16}), "rel_attn.o"},
        {"biases flat", reshaped("transformer.layer.0.rel_attn.r_w_bias", {16}), "r_w_bias"},
        {"segments flat", reshaped("transformer.layer.0.rel_attn.seg_embed", {2, 16}), "seg_embed"},
        {"mask flat", reshaped("transformer.mask_emb", {16}), "mask_emb"},
        {"no mask", renamed("transformer.mask_emb", ""), "missing: transformer.mask_emb"},
        {"no r", renamed("transformer.layer.1.rel_attn.r", ""), "rel_attn.r"},
        {"no bias of words", renamed("lm_loss.bias", ""), "missing: lm_loss.bias"},
        {"a stranger", renamed("lm_loss.bias", "start_logits.dense.bias"), "start_logits"},
        {"no head for classes", [](const std::string&) {}, "logits_proj", Head::classes},
        {"no head for tags", [](const std::string&) {}, "classifier", Head::tags},
        {"no head for spans", [](const std::string&) {}, "qa_outputs", Head::spans},
        {"no weights", [](const std::string& f) { fs::remove(f + "/model.safetensors"); },
         "model.safetensors"},
        {"weights cut",
         [](const std::string& f) { fs::resize_file(f + "/model.safetensors", 9000); },
         "model.safetensors"},
    };
}

void open_xlnet(const std::string& folder, Head head) {
    ModelFolder m;
    m.path = folder;
    m.config = read_json(m.config_path());
    const TextEncoderEntry& entry = text_encoder_named("xlnet");
    m.load(entry.rules(), Format::f32, [&](const Params& p) {
        entry.make(m.config, m.config_path(), {head, 5}, p);
    });
}

TEST(XlnetBadFolders, EachIsOneClearErrorBeforeAnythingIsAllocated) {
    std::vector<BadXlnet> all = bad_configs();
    for (BadXlnet& b : bad_weights()) all.push_back(std::move(b));
    ASSERT_GE(all.size(), 20u);
    std::string name = testing::TempDir() + "/fovea_bad_xlnet_XXXXXX";
    const std::string home = ::mkdtemp(name.data());
    for (const BadXlnet& bad : all) {
        const std::string folder = home + "/model";
        fs::remove_all(folder);
        fs::create_directory(folder);
        for (const char* file : {"config.json", "model.safetensors"})
            fs::copy_file(std::string(FOVEA_SOURCE_DIR "/tests/goldens/xlnet-tiny/") + file,
                          folder + "/" + file);
        bad.damage(folder);
        reset_memory_peak();
        const std::int64_t before = memory_stats().in_use;
        try {
            open_xlnet(folder, bad.head);
            ADD_FAILURE() << bad.name << ": was opened";
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find(bad.says), std::string::npos)
                << bad.name << ": " << e.what();
            EXPECT_EQ(memory_stats().peak, before) << bad.name;
        }
    }
    fs::remove_all(home);
}

TEST(XlnetBadFolders, TheGoodOneOpens) {
    EXPECT_NO_THROW(open_xlnet(FOVEA_SOURCE_DIR "/tests/goldens/xlnet-tiny", Head::words));
}

}  // namespace
}  // namespace fovea::xlnet
