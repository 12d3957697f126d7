// Bad folders of BERT and RoBERTa: configs that lie about sizes or ask for what the encoder does
// not have, tensors that are missing, left over, misshapen or of another type, files that are no
// such thing. Each is one clear error, and no memory for tensors is asked for before it.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "fovea/base/files.h"
#include "fovea/io/model_weights.h"
#include "fovea/io/safetensors_writer.h"
#include "fovea/io/test_folder.h"
#include "fovea/tasks/classify.h"
#include "fovea/tensor/memory.h"
#include "fovea/text/train/vocabulary_recipe.h"

namespace fovea {
namespace {

struct Sample {
    std::string model;  // "bert" or "roberta"
    std::string folder;
    std::string full(const std::string& name) const { return model + "." + name; }
};
using Damage = std::function<void(const Sample&)>;

struct BadFolder {
    std::string name;
    Damage damage;
    std::string says;         // part of the message
    bool reads_some = false;  // found only while tensors are read
};

Damage config(const std::string& key, const Json& value) {
    return [=](const Sample& s) {
        Json j = read_json(s.folder + "/config.json");
        j[key] = value;
        write_file_atomically(s.folder + "/config.json", to_text(j));
    };
}
Damage text(const std::string& file, const std::string& content) {
    return [=](const Sample& s) { write_file_atomically(s.folder + "/" + file, content); };
}
Damage without(const std::string& file) {
    return [=](const Sample& s) { std::filesystem::remove(s.folder + "/" + file); };
}

using Tensors = std::vector<TensorToWrite>;
Damage weights(const std::function<void(const Sample&, Tensors&)>& change) {
    return [=](const Sample& s) {
        Tensors all;
        {
            const ModelWeights w(s.folder);
            for (const std::string& name : w.names())
                all.push_back(TensorToWrite::of(name, w.read(name)));
        }
        change(s, all);
        write_safetensors(s.folder + "/model.safetensors", std::move(all));
    };
}
Damage dropped(const std::string& end) {
    return weights([=](const Sample&, Tensors& all) {
        std::erase_if(all, [&](const TensorToWrite& t) { return t.name.ends_with(end); });
    });
}
Damage replaced(const std::string& end, const std::function<void(TensorToWrite&)>& change) {
    return weights([=](const Sample&, Tensors& all) {
        for (TensorToWrite& t : all)
            if (t.name.ends_with(end)) change(t);
    });
}
Damage added(const std::string& name, const Shape& shape) {
    return weights([=](const Sample& s, Tensors& all) {
        const bool body = name.starts_with("body.");
        all.push_back(
            TensorToWrite::of(body ? s.full(name.substr(5)) : name, Tensor::zeros(shape)));
    });
}

std::vector<BadFolder> size_lies() {
    return {
        {"ZeroHeads", config("num_attention_heads", 0), "num_attention_heads"},
        {"NegativeHeads", config("num_attention_heads", -2), "num_attention_heads"},
        {"HeadsDoNotDivide", config("num_attention_heads", 3), "does not split"},
        {"MoreHeadsThanColumns", config("num_attention_heads", 64), "num_attention_heads"},
        {"ZeroWidth", config("hidden_size", 0), "hidden_size"},
        {"HugeWidth", config("hidden_size", 1 << 30), "hidden_size"},
        {"WiderThanTheFile", config("hidden_size", 1 << 14), "shape: "},
        {"WidthIsText", config("hidden_size", "wide"), "hidden_size"},
        {"WidthIsAFraction", config("hidden_size", 15.5), "hidden_size"},
        {"WidthIsAList", config("hidden_size", Json::array({16})), "hidden_size"},
        {"NoLayers", config("num_hidden_layers", 0), "num_hidden_layers"},
        {"AMillionLayers", config("num_hidden_layers", 1000000), "num_hidden_layers"},
        {"MoreLayersThanTheFile", config("num_hidden_layers", 3), "missing: "},
        {"FewerLayersThanTheFile", config("num_hidden_layers", 1), "not used: "},
        {"HugeVocabulary", config("vocab_size", 1LL << 40), "vocab_size"},
        {"VocabularyLargerThanTheFile", config("vocab_size", 1 << 24), "word_embeddings"},
        {"NoVocabulary", config("vocab_size", 0), "vocab_size"},
        {"HugeFeedForward", config("intermediate_size", 2000000000), "intermediate_size"},
        {"OtherFeedForward", config("intermediate_size", 1000), "intermediate.dense.weight"},
        {"NoPositions", config("max_position_embeddings", 0), "max_position_embeddings"},
        {"HugePositions", config("max_position_embeddings", 1 << 29), "max_position_embeddings"},
        {"OtherPositions", config("max_position_embeddings", 1 << 20), "position_embeddings"},
        {"NoTypes", config("type_vocab_size", 0), "type_vocab_size"},
        {"OtherTypes", config("type_vocab_size", 7), "token_type_embeddings"},
        {"NegativePad", config("pad_token_id", -1), "pad_token_id"},
    };
}

std::vector<BadFolder> wrong_choices() {
    return {
        {"RelativePositions", config("position_embedding_type", "relative_key"),
         "position_embedding_type"},
        {"Decoder", config("is_decoder", true), "is_decoder"},
        {"CrossAttention", config("add_cross_attention", true), "add_cross_attention"},
        {"EncoderDecoder", config("is_encoder_decoder", true), "is_encoder_decoder"},
        {"DecoderIsText", config("is_decoder", "yes"), "is_decoder"},
        {"UnknownActivation", config("hidden_act", "mish"), "hidden_act"},
        {"ActivationIsANumber", config("hidden_act", 4), "hidden_act"},
        {"PrunedHeads", config("pruned_heads", {{"0", {1}}}), "pruned_heads"},
        {"Quantised", config("quantization_config", {{"bits", 4}}), "quantization_config"},
        {"DropoutOfAll", config("hidden_dropout_prob", 1.0), "hidden_dropout_prob"},
        {"NegativeDropout", config("attention_probs_dropout_prob", -0.5),
         "attention_probs_dropout_prob"},
        {"HeadDropoutIsText", config("classifier_dropout", "none"), "classifier_dropout"},
        {"ZeroEps", config("layer_norm_eps", 0), "layer_norm_eps"},
        {"OneLabel", config("id2label", {{"0", "all"}}), "at least 2"},
        {"LabelsSkipANumber", config("id2label", {{"0", "a"}, {"2", "b"}}), "id2label"},
        {"MoreLabelsThanTheFile", config("id2label", {{"0", "a"}, {"1", "b"}, {"2", "c"}}),
         "shape: "},
        {"Regression", config("problem_type", "regression"), "problem_type"},
        {"UnknownModel", config("model_type", "bertha"), "model_type"},
    };
}

std::vector<BadFolder> tensor_lies() {
    const auto as_type = [](DType type, const char* bytes) {
        return [=](TensorToWrite& t) {
            std::int64_t n = 1;
            for (const std::int64_t d : t.shape) n *= d;
            t.values = {};
            t.dtype = type;
            t.bytes = std::string(static_cast<std::size_t>(n) * std::string(bytes).size(), '\0');
        };
    };
    const Damage no_head = weights([](const Sample&, Tensors& all) {
        std::erase_if(all,
                      [](const TensorToWrite& t) { return t.name.starts_with("classifier."); });
    });
    return {
        {"NoWordEmbeddings", dropped("word_embeddings.weight"),
         "embeddings.word_embeddings.weight ["},
        {"NoNorm", dropped("embeddings.LayerNorm.bias"), "missing: "},
        {"ABlockIsMissing", dropped("layer.1.output.dense.weight"), "layer.1.output.dense.weight"},
        {"NoClassifier", no_head, "missing: classifier."},
        {"ATensorTooMany", added("adapter.down.weight", {4, 4}), "not used: adapter.down.weight"},
        {"ABlockTooMany", added("body.encoder.layer.2.output.dense.weight", {16, 16}),
         "encoder.layer.2.output.dense.weight"},
        {"TheHeadOfAnotherTask", added("qa_outputs.weight", {2, 16}), "not used: qa_outputs"},
        {"TransposedMatrix",
         replaced("layer.0.output.dense.weight",
                  [](TensorToWrite& t) { std::swap(t.shape[0], t.shape[1]); }),
         "shape: "},
        {"AVectorAsAMatrix",
         replaced("layer.0.output.dense.bias",
                  [](TensorToWrite& t) { t.shape.insert(t.shape.begin(), 1); }),
         "shape: "},
        {"SixDimensions",
         replaced("layer.0.output.dense.bias",
                  [](TensorToWrite& t) { t.shape.insert(t.shape.begin(), 5, 1); }),
         "layer.0.output.dense.bias"},
        {"WholeNumbers", replaced("query.bias", as_type(DType::I32, "....")),
         "cannot hold weights"},
        {"Booleans", replaced("query.bias", as_type(DType::BOOL, ".")), "cannot hold weights"},
        {"BothSpellingsOfANorm", added("body.embeddings.LayerNorm.gamma", {16}), "twice"},
        {"WithAndWithoutPrefix", added("embeddings.LayerNorm.weight", {16}), "twice"},
    };
}

std::vector<BadFolder> file_lies() {
    const Damage pickle = [](const Sample& s) {
        std::filesystem::rename(s.folder + "/model.safetensors", s.folder + "/pytorch_model.bin");
    };
    return {
        {"OnlyAPickle", pickle, "pickle"},
        {"NoWeights", without("model.safetensors"), "holds no model.safetensors"},
        {"NoConfig", without("config.json"), "config.json"},
        {"NoTokenizer", without("tokenizer.json"), "tokenizer"},
        {"ConfigIsAList", text("config.json", "[1, 2]"), "config.json"},
        {"ConfigIsCut", text("config.json", "{\"model_type\": "), "config.json"},
        {"ConfigIsEmpty", text("config.json", "{}"), "model_type"},
        {"WeightsAreText", text("model.safetensors", "not what it says"), "model.safetensors"},
        {"WeightsAreEmpty", text("model.safetensors", ""), "model.safetensors"},
        {"TokenizerHasMoreTokens",
         [](const Sample& s) {
             const Tokenizer large =
                 train_vocabulary(std::vector<std::string>{"abcdefghijklmnopqrstuvwxyz0123456789"},
                                  {.kind = VocabularyKind::characters});
             large.save(s.folder + "/tokenizer.json");
         },
         "its tokenizer has", true},
    };
}

std::vector<BadFolder> all_bad_folders() {
    std::vector<BadFolder> all;
    for (auto part : {size_lies(), wrong_choices(), tensor_lies(), file_lies()})
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

void save_good(const std::string& model, const std::string& path) {
    const TextEncoderEntry& entry = text_encoder_named(model);
    ModelFolder f;
    f.labels = {"no", "yes"};
    f.tokenizer = f.target_tokenizer = std::make_shared<const Tokenizer>(
        train_vocabulary(std::vector<std::string>{"a fine day"},
                         {.kind = VocabularyKind::characters, .frame = entry.tokens}));
    EncoderChoice choice{.preset = "tiny", .layers = 2, .width = 16, .ffn = 20, .heads = 2};
    choice.vocabulary = static_cast<int>(f.tokenizer->vocab_size());
    choice.max_length = 12;
    choice.pad_token = f.tokenizer->pad_id().value();
    f.config = entry.new_config(choice);
    ClassifyModel::create(f, {}, 5).save(path);
}

class BadEncoder : public testing::TestWithParam<const char*> {};

TEST_P(BadEncoder, TheSampleItselfOpens) {
    const TestFolder folder;
    save_good(GetParam(), folder / "m");
    EXPECT_EQ(ClassifyModel::open(ModelFolder::open(folder / "m")).folder.labels.size(), 2u);
}

TEST_P(BadEncoder, EachIsOneClearErrorBeforeMemoryIsAskedFor) {
    const std::vector<BadFolder> all = all_bad_folders();
    EXPECT_GE(all.size(), 50u);
    const TestFolder folder;
    save_good(GetParam(), folder / "good");
    for (const BadFolder& bad : all) {
        const Sample s{GetParam(), folder / bad.name};
        std::filesystem::copy(folder / "good", s.folder);
        std::filesystem::remove(s.folder + "/fovea.json");  // as Hugging Face leaves it
        bad.damage(s);
        reset_memory_peak();
        const std::int64_t before = memory_stats().in_use;
        try {
            ClassifyModel::open(ModelFolder::open(s.folder));
            ADD_FAILURE() << bad.name << " was opened";
        } catch (const Error& e) {
            const std::string what = e.what();
            EXPECT_TRUE(e.kind() == ErrorKind::bad_input || e.kind() == ErrorKind::not_found)
                << bad.name << ": " << what;
            EXPECT_NE(what.find(bad.says), std::string::npos) << bad.name << ": " << what;
            if (!bad.reads_some) EXPECT_EQ(memory_stats().peak, before) << bad.name << ": " << what;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Models, BadEncoder, testing::Values("bert", "roberta"),
                         [](const auto& i) { return std::string(i.param); });

}  // namespace
}  // namespace fovea
