// Folders of BERT and RoBERTa as Fovea saves them, loaded by Hugging Face transformers where that
// is installed: nothing missing or left over, the same tokens and token types, the same logits.
#include <gtest/gtest.h>

#include "fovea/base/files.h"
#include "fovea/io/test_folder.h"
#include "fovea/tasks/classify.h"
#include "fovea/text/train/vocabulary_recipe.h"
#include "tests/parity/peer_python.h"

namespace fovea {
namespace {

struct Variant {
    const char* model;
    Head head;
    const char* architecture;
};

const std::vector<std::vector<std::string>> inputs = {
    {"the rain in Spain"}, {"a"}, {"it rains", "the sun is out, is it?"}, {"naïve – 日本", "x y"}};

ModelFolder new_folder(const Variant& v) {
    const TextEncoderEntry& entry = text_encoder_named(v.model);
    std::vector<std::string> texts;
    for (const auto& t : inputs) texts.insert(texts.end(), t.begin(), t.end());
    ModelFolder f;
    f.tokenizer = f.target_tokenizer = std::make_shared<const Tokenizer>(
        train_vocabulary(texts, {.kind = VocabularyKind::bpe, .size = 300, .frame = entry.tokens}));
    EncoderChoice choice{.preset = "tiny", .layers = 2, .width = 48, .ffn = 64, .heads = 4};
    choice.vocabulary = static_cast<int>(f.tokenizer->vocab_size());
    choice.max_length = 64;
    choice.pad_token = f.tokenizer->pad_id().value();
    choice.end_token = f.tokenizer->sep_id().value_or(0);
    f.config = entry.new_config(choice);
    f.config["initializer_range"] = 0.3;  // logits worth comparing
    return f;
}

// Saves a model and gives the logits of a batch.
std::function<Tensor(const TokenBatch&)> saved_model(const Variant& v, const std::string& path) {
    ModelFolder f = new_folder(v);
    if (v.head == Head::classes) {
        f.labels = {"low", "middle", "high"};
        const ClassifyModel m = ClassifyModel::create(f, {}, 5);
        m.save(path);
        return [m](const TokenBatch& b) { return m.network->logits(b); };
    }
    const TextEncoderEntry& entry = text_encoder_named(v.model);
    name_architecture(f.config, v.head);
    const auto store = std::make_shared<ParameterStore>();
    Rng rng(5);
    const TextEncoder e = entry.make(f.config, "config", {v.head}, Params(*store, rng));
    f.save(path, *store, entry.rules(), false);
    return [e, store](const TokenBatch& b) { return e.words(e.rows(b)); };
}

Json cases_of(const Variant& v, const std::string& path,
              const std::function<Tensor(const TokenBatch&)>& logits) {
    const Tokenizer tokenizer = Tokenizer::load(path);
    Json cases{{"head", v.head == Head::words ? "words" : "classes"}};
    for (const auto& t : inputs) {
        const Encoding e =
            t.size() == 1 ? tokenizer.encode(t[0]) : tokenizer.encode_pair(t[0], t[1]);
        const Ids ids(e.ids.begin(), e.ids.end());
        TokenBatch b = pack({&ids, 1});
        b.types.assign(e.type_ids.begin(), e.type_ids.end());
        cases["texts"].push_back(t);
        cases["ids"].push_back(ids);
        cases["types"].push_back(b.types);
        cases["logits"].push_back(logits(b).values());
    }
    return cases;
}

class HuggingFaceEncoderSlow : public testing::TestWithParam<Variant> {};

TEST_P(HuggingFaceEncoderSlow, LoadsWhatFoveaSaves) {
    const std::string python = test::peer_python();
    if (python.empty()) GTEST_SKIP() << "no python with torch and transformers (FOVEA_PEER_PYTHON)";
    const TestFolder folder;
    const auto logits = saved_model(GetParam(), folder / "m");
    write_file_atomically(folder / "cases.json",
                          to_text(cases_of(GetParam(), folder / "m", logits)));
    const test::Outcome peer =
        test::run({python, FOVEA_SOURCE_DIR "/tests/parity/hf_load_encoder.py", folder / "m",
                   folder / "cases.json"});
    ASSERT_EQ(peer.code, 0) << peer.err;
    const Json got = parse_json(peer.out, "hf_load_encoder.py");
    EXPECT_EQ(got["class"], GetParam().architecture);
    EXPECT_EQ(to_text(got["missing"]), "[]");
    EXPECT_EQ(to_text(got["unexpected"]), "[]");
    EXPECT_TRUE(got["same_ids"]) << to_text(got["ids"]);
    EXPECT_TRUE(got["same_types"]) << to_text(got["types"]);
    EXPECT_LT(got["largest"].get<double>(), 1e-4);
    if (GetParam().head == Head::classes)
        EXPECT_EQ(got["labels"], Json::array({"low", "middle", "high"}));
    std::printf("largest difference of logits: %.2e\n", got["largest"].get<double>());
}

INSTANTIATE_TEST_SUITE_P(
    Models, HuggingFaceEncoderSlow,
    testing::Values(Variant{"bert", Head::words, "BertForMaskedLM"},
                    Variant{"bert", Head::classes, "BertForSequenceClassification"},
                    Variant{"roberta", Head::words, "RobertaForMaskedLM"},
                    Variant{"roberta", Head::classes, "RobertaForSequenceClassification"}),
    [](const auto& i) { return std::string(i.param.architecture); });

}  // namespace
}  // namespace fovea
