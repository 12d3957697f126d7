// Folders that `fovea train --task pretrain` writes, loaded by Hugging Face transformers where that
// is installed: the class that config.json names, nothing missing or left over, the same tokens,
// the same logits.
#include <gtest/gtest.h>

#include "fovea/base/files.h"
#include "fovea/io/test_folder.h"
#include "fovea/tasks/pretrained_model.h"
#include "tests/parity/peer_python.h"

namespace fovea {
namespace {

struct Pretrained {
    const char* model;
    const char* architecture;
    bool pairs = false;  // its template knows two texts
};

std::string stories() {
    std::string text;
    for (const char* who : {"cat", "dog", "fox", "owl", "hen", "ant"})
        for (const char* place : {"mat", "log", "hill", "barn", "roof"})
            text +=
                text_of("The ", who, " sat on the ", place, ". It was a wärm day.\n",
                        "A bird came to the ", place, " and sang! The ", who, " looked up.\n\n");
    return text;
}

// A run of a few updates, at a rate that leaves no weight where it was.
PretrainedModel trained(const Pretrained& p, const TestFolder& folder) {
    write_file_atomically(folder / "stories.txt", stories());
    const test::Outcome run = test::run({FOVEA_BINARY,
                                         "train",
                                         "--task",
                                         "pretrain",
                                         "--model",
                                         p.model,
                                         folder / "stories.txt",
                                         "--out",
                                         folder / "run",
                                         "--steps",
                                         "20",
                                         "--dev",
                                         "none",
                                         "--lr",
                                         "0.01",
                                         "--layers",
                                         "2",
                                         "--d-model",
                                         "32",
                                         "--ffn",
                                         "48",
                                         "--heads",
                                         "2",
                                         "--context",
                                         "40",
                                         "--vocab-size",
                                         "320",
                                         "--max-tokens",
                                         "512"});
    EXPECT_EQ(run.code, 0) << run.err;
    return PretrainedModel::open(ModelFolder::open(folder / "run"));
}

const std::vector<std::string> texts = {"The cat sat on the mat.", "a",
                                        "  Two  spaces, 日本 and naïve!",
                                        "It was a wärm day. A bird sang."};

Json cases_of(const PretrainedModel& m, bool pairs) {
    const Tokenizer& tokenizer = *m.folder.tokenizer;
    Json cases{{"next", Json::array()}};
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const bool two = pairs && i % 2 == 1;
        const Encoding e =
            two ? tokenizer.encode_pair(texts[i], texts[0]) : tokenizer.encode(texts[i]);
        const Ids ids(e.ids.begin(), e.ids.end());
        TokenBatch b = pack({&ids, 1});
        b.types.assign(e.type_ids.begin(), e.type_ids.end());
        const Tensor rows = m.encoder->rows(b);
        cases["texts"].push_back(two ? Json{texts[i], texts[0]} : Json::array({texts[i]}));
        cases["ids"].push_back(ids);
        cases["types"].push_back(b.types);
        cases["words"].push_back(m.encoder->words(rows).values());
        if (m.encoder->next) cases["next"].push_back(m.encoder->next(rows, b.segments).values());
    }
    return cases;
}

class HuggingFacePretrainedSlow : public testing::TestWithParam<Pretrained> {};

TEST_P(HuggingFacePretrainedSlow, LoadsWhatPretrainingWrites) {
    const std::string python = test::peer_python();
    if (python.empty()) GTEST_SKIP() << "no python with torch and transformers (FOVEA_PEER_PYTHON)";
    const TestFolder folder;
    const PretrainedModel m = trained(GetParam(), folder);
    const Tokenizer& tokenizer = *m.folder.tokenizer;
    const Json cases = cases_of(m, GetParam().pairs);
    write_file_atomically(folder / "cases.json", to_text(cases));
    const test::Outcome peer =
        test::run({python, FOVEA_SOURCE_DIR "/tests/parity/hf_load_pretrained.py",
                   folder / "run/model", folder / "cases.json"});
    ASSERT_EQ(peer.code, 0) << peer.err;
    const Json got = parse_json(peer.out, "hf_load_pretrained.py");
    EXPECT_EQ(got["class"], GetParam().architecture);
    EXPECT_EQ(to_text(got["missing"]), "[]");
    EXPECT_EQ(to_text(got["unexpected"]), "[]");
    EXPECT_EQ(to_text(got["ids"]), to_text(cases["ids"]));
    EXPECT_EQ(to_text(got["types"]), to_text(cases["types"]));
    EXPECT_EQ(got["mask"], tokenizer.mask_id() ? Json(*tokenizer.mask_id()) : Json());
    if (tokenizer.eos_id()) {
        EXPECT_EQ(got["end"], *tokenizer.eos_id());
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto ids = cases["ids"][i].get<std::vector<TokenId>>();
        EXPECT_EQ(got["decoded"][i], tokenizer.decode(ids));
    }
    EXPECT_LT(got["largest"].get<double>(), 1e-4);
    EXPECT_LT(got["largest_next"].get<double>(), 1e-4);
    std::printf("largest difference of logits: %.2e\n", got["largest"].get<double>());
}

INSTANTIATE_TEST_SUITE_P(Models, HuggingFacePretrainedSlow,
                         testing::Values(Pretrained{"bert", "BertForPreTraining", true},
                                         Pretrained{"roberta", "RobertaForMaskedLM"},
                                         Pretrained{"gpt2", "GPT2LMHeadModel"},
                                         Pretrained{"xlnet", "XLNetLMHeadModel", true}),
                         [](const auto& i) { return std::string(i.param.model); });

}  // namespace
}  // namespace fovea
