#include "fovea/text/spm/spm_encoder.h"

#include <gtest/gtest.h>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/base/rng.h"
#include "fovea/text/tokenizer.h"

namespace fovea::text {
namespace {

SentencePieceModel unigram() {
    SentencePieceModel m;
    m.pieces = {{"<unk>", 0, PieceType::unknown},       {"<s>", 0, PieceType::control},
                {"</s>", 0, PieceType::control},        {"▁", -2, PieceType::normal},
                {"a", -3, PieceType::normal},           {"b", -3.5f, PieceType::normal},
                {"▁ab", -4, PieceType::normal},         {"ab", -4.5f, PieceType::normal},
                {"<user>", 0, PieceType::user_defined}, {"ba", -6, PieceType::unused}};
    return m;
}

std::vector<std::string> encode(const SpmEncoder& e, std::string_view text) {
    std::vector<SpmToken> tokens;
    SpmScratch scratch;
    e.encode(text, true, tokens, scratch);
    std::vector<std::string> out;
    for (const SpmToken& t : tokens)
        out.push_back(scratch.text.substr(t.piece.begin, t.piece.end - t.piece.begin));
    return out;
}
using Pieces = std::vector<std::string>;

TEST(SpmEncoder, Unigram) {
    const SpmEncoder e(unigram(), "test");
    EXPECT_EQ(encode(e, "ab  ab "), (Pieces{"▁ab", "▁ab"}));
    EXPECT_EQ(encode(e, "ba"), (Pieces{"▁", "b", "a"}));  // "ba" is not to be used
    EXPECT_EQ(encode(e, "xyab"), (Pieces{"▁", "xy", "ab"}));
    EXPECT_EQ(encode(e, "a<user>b"), (Pieces{"▁", "a", "<user>", "b"}));
    EXPECT_EQ(encode(e, "<s>"), (Pieces{"▁", "<s>"}));  // control pieces are no text
    EXPECT_TRUE(encode(e, "  ").empty());
    EXPECT_TRUE(encode(e, "").empty());
}

TEST(SpmEncoder, NormalizerFlags) {
    SentencePieceModel m = unigram();
    m.normalizer.add_dummy_prefix = false;
    EXPECT_EQ(encode(SpmEncoder(m, "test"), " ab a"), (Pieces{"ab", "▁", "a"}));
    m.normalizer.remove_extra_whitespaces = false;
    EXPECT_EQ(encode(SpmEncoder(m, "test"), "a  ab"), (Pieces{"a", "▁", "▁ab"}));
    m = unigram();
    m.treat_whitespace_as_suffix = true;
    EXPECT_EQ(encode(SpmEncoder(m, "test"), "a b"), (Pieces{"a", "▁", "b", "▁"}));
}

// The word-by-word search with its cache against the search of the whole text at once, with scores
// that are close to each other, on lines long enough for the sums to be rounded.
TEST(SpmEncoder, WordsOneByOneGiveTheSame) {
    Rng rng(9);
    for (int n = 0; n < 20; ++n) {
        SentencePieceModel m;
        m.pieces = {{"<unk>", 0, PieceType::unknown}, {"▁", -3, PieceType::normal}};
        for (const char* c : {"a", "b", "c"})
            m.pieces.push_back({c,
                                static_cast<float>(-3 - 0.001 * static_cast<double>(rng.below(3))),
                                PieceType::normal});
        for (int i = 0; i < 25; ++i) {
            std::string s = rng.below(3) == 0 ? "▁" : "";
            for (std::int64_t k = 1 + rng.below(4); k > 0; --k)
                s += static_cast<char>('a' + rng.below(3));
            bool there = false;
            for (const SentencePiece& p : m.pieces) there |= p.text == s;
            if (!there)
                m.pieces.push_back(
                    {s, static_cast<float>(-6 - 0.01 * static_cast<double>(rng.below(4))),
                     PieceType::normal});
        }
        const SpmEncoder apart(m, "test");
        // A piece that goes on beyond a mark, and that no text can contain, makes it search the
        // whole text at once.
        m.pieces.push_back({"q▁q", -1, PieceType::normal});
        const SpmEncoder whole(m, "test");
        SpmScratch warm;  // keeps its cache of words from line to line
        for (int i = 0; i < 30; ++i) {
            std::string text;
            for (std::int64_t k = rng.below(4000); k > 0; --k)
                text += rng.below(5) == 0 ? ' ' : static_cast<char>('a' + rng.below(4));
            std::vector<SpmToken> x, y;
            SpmScratch cold;
            apart.encode(text, true, x, warm);
            whole.encode(text, true, y, cold);
            ASSERT_EQ(x.size(), y.size());
            for (std::size_t k = 0; k < x.size(); ++k) {
                ASSERT_EQ(x[k].id, y[k].id) << k;
                ASSERT_EQ(x[k].origin, y[k].origin) << k;
            }
        }
    }
}

TEST(SpmEncoder, Bpe) {
    SentencePieceModel m;
    m.kind = SentencePieceKind::bpe;
    m.pieces = {{"<unk>", 0, PieceType::unknown}, {"ab", 0, PieceType::normal},
                {"▁ab", -1, PieceType::normal},   {"abc", -2, PieceType::unused},
                {"▁", -3, PieceType::normal},     {"a", -4, PieceType::normal},
                {"b", -5, PieceType::normal},     {"c", -6, PieceType::normal}};
    const SpmEncoder e(m, "test");
    EXPECT_EQ(encode(e, "ab"), (Pieces{"▁ab"}));
    EXPECT_EQ(encode(e, "cabc"), (Pieces{"▁", "c", "ab", "c"}));  // "abc" taken apart again
    EXPECT_EQ(encode(e, "axb"), (Pieces{"▁", "a", "x", "b"}));
}

TEST(SpmEncoder, BytesAndDecoding) {
    SentencePieceModel m = unigram();
    m.byte_fallback = true;
    for (int b = 0; b < 256; ++b) {
        char name[8];
        std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(b));
        m.pieces.push_back({name, 0, PieceType::byte});
    }
    const SpmEncoder e(m, "test");
    std::vector<SpmToken> tokens;
    SpmScratch scratch;
    e.encode("aé", true, tokens, scratch);
    ASSERT_EQ(tokens.size(), 4u);
    EXPECT_EQ(tokens[2].id, e.byte_id(0xC3));
    EXPECT_EQ(tokens[2].origin, (ByteRange{1, 1}));  // the last byte stands for the character
    EXPECT_EQ(tokens[3].origin, (ByteRange{1, 3}));
    EXPECT_EQ(e.decode({"▁", "a", "<0xC3>", "<0xA9>", "▁ab"}), "aé ab");
    EXPECT_EQ(e.decode({"<0xC3>", "a"}), "\uFFFDa");
    EXPECT_EQ(e.decode({"<s>", "▁ab", "<unk>", "</s>"}), "ab ⁇ ");
    EXPECT_EQ(e.decode({}), "");
}

// Pieces that the library itself gave for its test models (../shared, where it is there).
TEST(SpmEncoder, AgreesWithTheLibrarysGoldens) {
    const std::string root = FOVEA_SOURCE_DIR "/../shared/tokenizers/";
    const std::string path = root + "sentencepiece-golden.json";
    if (!file_exists(path)) GTEST_SKIP() << "no ../shared";
    int checked = 0;
    const Json goldens = read_json(path);
    for (const auto& [name, golden] : goldens.items()) {
        const Tokenizer t = Tokenizer::load(root + name);
        for (std::size_t i = 0; i < golden["sentences"].size(); ++i) {
            const Encoding e = t.encode(golden["sentences"][i].get<std::string>());
            EXPECT_EQ(e.tokens, golden["pieces"][i].get<Pieces>()) << name;
            if (golden.contains("ids")) {
                EXPECT_EQ(e.ids, golden["ids"][i].get<std::vector<TokenId>>()) << name;
            }
            ++checked;
        }
    }
    EXPECT_GT(checked, 0);
}

}  // namespace
}  // namespace fovea::text
