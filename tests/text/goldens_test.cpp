// Every golden line through every tokenizer, against what Hugging Face's `tokenizers` and
// SentencePiece made of it (tools/make_tokenizer_goldens.py).
#include <gtest/gtest.h>

#include "committed.h"
#include "fovea/base/files.h"
#include "golden_file.h"

namespace fovea {
namespace {

const std::string here = std::string(FOVEA_SOURCE_DIR) + "/tests/text/";
const std::string shared = std::string(FOVEA_SOURCE_DIR) + "/../shared/tokenizers/";

const std::vector<std::string>& lines() {
    static const std::vector<std::string> all = golden_lines();
    return all;
}

class CommittedTokenizer : public testing::TestWithParam<const char*> {};

TEST_P(CommittedTokenizer, GivesTheSameAsTheReference) {
    const Tokenizer t = load_committed(GetParam());
    const auto wrong = compare(t, GoldenFile(here + "goldens/" + GetParam() + ".hashes"), lines());
    EXPECT_TRUE(wrong.empty()) << report_of(wrong, lines());
}

TEST_P(CommittedTokenizer, SavedAndLoadedGivesTheSameIds) {
    const Tokenizer t = load_committed(GetParam());
    if (std::string(GetParam()).ends_with(".model")) {
        const TemporaryFile copy(std::string("copy-") + GetParam());
        t.save(copy.path);
        const Tokenizer again = Tokenizer::load(copy.path);
        for (std::size_t i = 0; i < lines().size(); i += 3)
            ASSERT_EQ(again.encode_ids(lines()[i]), t.encode_ids(lines()[i])) << i;
        return;
    }
    const Tokenizer again = Tokenizer::from_json(t.to_json());
    EXPECT_EQ(again.to_json(), t.to_json());
    for (std::size_t i = 0; i < lines().size(); i += 3)
        ASSERT_EQ(again.encode_ids(lines()[i]), t.encode_ids(lines()[i])) << i;
}

INSTANTIATE_TEST_SUITE_P(All, CommittedTokenizer, testing::ValuesIn(committed_tokenizers));

class SharedTokenizer : public testing::TestWithParam<const char*> {};

TEST_P(SharedTokenizer, GivesTheSameAsTheReference) {
    if (!file_exists(shared + GetParam())) GTEST_SKIP() << "no ../shared/tokenizers here";
    std::string name = GetParam();
    for (char& c : name) c = c == '/' ? '-' : c;
    const Tokenizer t = Tokenizer::load(shared + GetParam());
    const auto wrong = compare(t, GoldenFile(here + "goldens/shared-" + name + ".hashes"), lines());
    EXPECT_TRUE(wrong.empty()) << report_of(wrong, lines());
}

INSTANTIATE_TEST_SUITE_P(
    All, SharedTokenizer,
    testing::Values("bert-base-uncased/vocab.txt", "gpt2/tokenizer.json",
                    "albert-base-v2/spiece.model", "sentencepiece-test/test_model.model",
                    "sentencepiece-test/test_sentencepiece.model",
                    "sentencepiece-test/test_sentencepiece_bpe.model",
                    "sentencepiece-test/test_sentencepiece_bpe_char.model",
                    "sentencepiece-test/test_sentencepiece_with_bytefallback.model"));

TEST(GoldenLines, AreAtLeastTenThousandAndHoldEveryCodePoint) {
    EXPECT_GE(lines().size(), 11000u);
    std::size_t characters = 0;
    for (const std::string& line : lines_of_every_code_point())
        for (const char c : line) characters += (c & '\xC0') != '\x80';
    EXPECT_GE(characters, 0x110000u - 0x800u);
}

}  // namespace
}  // namespace fovea
