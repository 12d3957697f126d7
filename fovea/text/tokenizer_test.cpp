#include "fovea/text/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "fovea/base/error.h"
#include "fovea/base/threads.h"
#include "fovea/base/utf8.h"
#include "fovea/text/test_specs.h"

namespace fovea {
namespace {

std::vector<std::string> tokens_of(const Tokenizer& t, std::string_view text) {
    return t.encode(text).tokens;
}
using Tokens = std::vector<std::string>;
using Spans = std::vector<TextSpan>;

// Texts of every sort, seeded.
std::vector<std::string> samples(int n) {
    static const char32_t letters[] = {
        U'a',      U'b', U'c',      U't', U'h',  U'e',  U'A', U'é', U'É', U'中', U'日', U'ä',
        U'ß',      U' ', U' ',      U' ', U'\n', U'\t', U'.', U',', U'!', U'\'', U'1',  U'\u0301',
        U'\u200D', U'😀', U'\u3000', U'ﬁ', U'İ',  U'[',  U']', U'<', U'|', U'▁',  U'\0'};
    Rng rng(77);
    std::vector<std::string> out;
    for (int i = 0; i < n; ++i) {
        std::string s;
        for (std::int64_t k = rng.below(60); k > 0; --k) {
            const std::int64_t what = rng.below(40);
            if (what == 0) s += "[MASK]";
            if (what == 1) s += "<|end|>";
            if (what == 2) s += "the lazy dog";
            append_utf8(s, letters[rng.below(std::size(letters))]);
        }
        out.push_back(std::move(s));
    }
    return out;
}

std::vector<TokenizerSpec> all_kinds() {
    std::vector<TokenizerSpec> all = {text::tiny_bert(), text::tiny_gpt2(), text::tiny_unigram()};
    TokenizerSpec words = text::tiny_bert();
    WordLevelSpec model;
    model.vocab.add("<unk>", 0);
    model.vocab.add("the", 1);
    words.model = std::move(model);
    words.post_processor.clear();
    words.pre_tokenizer = {pretokenizer::Whitespace{}, pretokenizer::Metaspace{}};
    all.push_back(std::move(words));
    return all;
}

TEST(Tokenizer, Bert) {
    const Tokenizer t(text::tiny_bert());
    const Encoding e = t.encode("The fox JUMPED over, unwanted Café!");
    EXPECT_EQ(e.tokens, (Tokens{"[CLS]", "the", "fox", "jump", "##ed", "over", ",", "un", "##want",
                                "##ed", "cafe", "!", "[SEP]"}));
    EXPECT_EQ(e.offsets, (Spans{{0, 0},
                                {0, 3},
                                {4, 7},
                                {8, 12},
                                {12, 14},
                                {15, 19},
                                {19, 20},
                                {21, 23},
                                {23, 27},
                                {27, 29},
                                {30, 34},
                                {34, 35},
                                {0, 0}}));
    EXPECT_EQ(e.word_ids, (std::vector<std::int32_t>{-1, 0, 1, 2, 2, 3, 4, 5, 5, 5, 6, 7, -1}));
    EXPECT_EQ(t.decode(e.ids), "the fox jumped over, unwanted cafe!");
    EXPECT_EQ(t.special_tokens_added(), 2);
    EXPECT_EQ(t.cls_id(), t.token_to_id("[CLS]"));
    EXPECT_EQ(t.mask_id(), t.token_to_id("[MASK]"));
    EXPECT_TRUE(t.is_special(*t.pad_id()));
    EXPECT_FALSE(t.is_special(*t.token_to_id("fox")));
    EXPECT_FALSE(t.id_to_token(9999));
}

TEST(Tokenizer, AddedTokensAreFoundFirst) {
    const Tokenizer t(text::tiny_bert());
    EXPECT_EQ(tokens_of(t, "the[MASK]dog"), (Tokens{"[CLS]", "the", "[MASK]", "dog", "[SEP]"}));
    EXPECT_EQ(t.decode(t.encode("the[MASK]dog").ids, false), "[CLS] the [MASK] dog [SEP]");
}

TEST(Tokenizer, OffsetsAreCharactersOrBytes) {
    const Tokenizer t(text::tiny_bert());
    EXPECT_EQ(t.encode("中 fox").offsets, (Spans{{0, 0}, {0, 1}, {2, 5}, {0, 0}}));
    EXPECT_EQ(t.encode("中 fox", {.offsets = OffsetUnit::bytes}).offsets,
              (Spans{{0, 0}, {0, 3}, {4, 7}, {0, 0}}));
}

TEST(Tokenizer, ByteLevelRoundTrip) {
    const Tokenizer t(text::tiny_gpt2());
    for (const std::string& s : samples(2000)) {
        std::string without = s;  // special tokens in the text are special tokens
        for (std::size_t at = 0; (at = without.find("<|end|>")) != std::string::npos;)
            without.erase(at, 7);
        ASSERT_EQ(t.decode(t.encode_ids(without)), without);
    }
    EXPECT_EQ(t.decode(t.encode_ids("a<|end|>b"), false), "a<|end|>b");
    EXPECT_EQ(t.decode(t.encode_ids("a<|end|>b"), true), "ab");
}

TEST(Tokenizer, IdsAloneAreTheSameIds) {
    for (TokenizerSpec& spec : all_kinds()) {
        const Tokenizer t(std::move(spec));
        for (const std::string& s : samples(500)) {
            ASSERT_EQ(t.encode_ids(s), t.encode(s).ids) << s;
            ASSERT_EQ(t.encode_ids(s, false), t.encode(s, {.add_special_tokens = false}).ids);
        }
    }
}

TEST(Tokenizer, SavingAndLoadingChangesNothing) {
    for (TokenizerSpec& spec : all_kinds()) {
        const Tokenizer a(std::move(spec));
        const Tokenizer b = Tokenizer::from_json(a.to_json());
        EXPECT_EQ(a.to_json(), b.to_json());
        EXPECT_EQ(a.vocab_size(), b.vocab_size());
        for (const std::string& s : samples(300)) {
            const Encoding x = a.encode(s), y = b.encode(s);
            ASSERT_EQ(x.ids, y.ids) << s;
            ASSERT_EQ(x.offsets, y.offsets) << s;
            ASSERT_EQ(x.tokens, y.tokens) << s;
        }
    }
}

TEST(Tokenizer, OffsetsLieInTheTextAndGoForward) {
    for (TokenizerSpec& spec : all_kinds()) {
        const Tokenizer t(std::move(spec));
        for (const std::string& s : samples(500)) {
            const auto chars = static_cast<std::int32_t>(count_chars(s));
            std::int32_t last = 0;
            const Encoding e = t.encode(s, {.add_special_tokens = false});
            for (const TextSpan& o : e.offsets) {
                ASSERT_LE(o.begin, o.end);
                ASSERT_LE(o.end, chars);
                ASSERT_GE(o.begin, 0);
                ASSERT_GE(o.begin, last - 1);
                last = o.begin;
            }
        }
    }
}

TEST(Tokenizer, BrokenTextIsRepaired) {
    const Tokenizer t(text::tiny_gpt2());
    const std::string r = "\xEF\xBF\xBD";
    for (const std::string& s : {std::string("a\xFF"
                                             "b"),
                                 std::string("\xC0\xAF"), std::string("\xED\xA0\x80"),
                                 std::string("\xE6\x97"), std::string("ok\xF0\x9F\x98")}) {
        EXPECT_EQ(t.encode_ids(s), t.encode_ids(repair_utf8(s)));
        EXPECT_EQ(t.decode(t.encode_ids(s)), repair_utf8(s));
        EXPECT_EQ(t.encode(s).offsets.back().end,
                  static_cast<std::int32_t>(count_chars(repair_utf8(s))));
    }
    const std::string nul("a\0b", 3);
    EXPECT_EQ(t.decode(t.encode_ids(nul)), nul);
    EXPECT_TRUE(t.encode_ids("").empty());
}

TEST(Tokenizer, PairsAndTruncation) {
    const Tokenizer t(text::tiny_bert());
    const Encoding e = t.encode_pair("the fox", "the lazy dog");
    EXPECT_EQ(e.tokens, (Tokens{"[CLS]", "the", "fox", "[SEP]", "the", "lazy", "dog", "[SEP]"}));
    EXPECT_EQ(e.type_ids, (std::vector<std::int32_t>{0, 0, 0, 0, 1, 1, 1, 1}));
    EXPECT_EQ(e.sequence_ids, (std::vector<std::int32_t>{-1, 0, 0, -1, 1, 1, 1, -1}));
    const Encoding cut = t.encode_pair(
        "the fox", "the lazy dog",
        {.truncation = Truncation{
             .max_length = 7, .strategy = TruncationStrategy::only_second, .stride = 1}});
    EXPECT_EQ(cut.tokens, (Tokens{"[CLS]", "the", "fox", "[SEP]", "the", "lazy", "[SEP]"}));
    ASSERT_EQ(cut.overflowing.size(), 1u);
    EXPECT_EQ(cut.overflowing[0].tokens,
              (Tokens{"[CLS]", "the", "fox", "[SEP]", "lazy", "dog", "[SEP]"}));
    EXPECT_THROW(t.encode("the", {.truncation = Truncation{.max_length = 1}}), Error);
    EXPECT_EQ(t.encode("the fox over", {.truncation = Truncation{.max_length = 0}}).size(), 5u);
}

TEST(Tokenizer, TruncationOfTheFileCounts) {
    TokenizerSpec spec = text::tiny_bert();
    spec.truncation = Truncation{.max_length = 4};
    const Tokenizer t(std::move(spec));
    EXPECT_EQ(t.encode("the fox over the dog").size(), 4u);
    EXPECT_EQ(t.encode_ids("the fox over the dog").size(), 4u);
    EXPECT_EQ(t.encode("the fox over", {.truncation = Truncation{.max_length = 0}}).size(), 5u);
}

TEST(Tokenizer, BatchesDoNotDependOnTheThreads) {
    const std::vector<std::string> texts = samples(700);
    const Tokenizer t(text::tiny_bert());
    std::vector<std::vector<TokenId>> alone;
    for (const std::string& s : texts) alone.push_back(t.encode_ids(s));
    for (const int threads : {1, 2, 4}) {
        set_thread_count(threads);
        EXPECT_EQ(t.encode_ids_batch(texts), alone);
        const std::vector<Encoding> full = t.encode_batch(texts);
        for (std::size_t i = 0; i < texts.size(); ++i) ASSERT_EQ(full[i].ids, alone[i]);
    }
    set_thread_count(0);
    const std::vector<std::pair<std::string, std::string>> pairs = {{"the", "fox"}, {"dog", ""}};
    EXPECT_EQ(t.encode_batch(pairs)[0].ids, t.encode_pair("the", "fox").ids);
}

TEST(Tokenizer, AddedTokensGetTheNextIds) {
    TokenizerSpec spec = text::tiny_unigram();
    for (const char* c : {"<x>", "a", "<y>"}) {
        AddedToken a;
        a.content = c;
        a.id = 500;  // what a file says is not looked at
        spec.added_tokens.push_back(a);
    }
    const Tokenizer t(std::move(spec));
    EXPECT_EQ(t.token_to_id("<x>"), 10);
    EXPECT_EQ(t.token_to_id("a"), 2);
    EXPECT_EQ(t.token_to_id("<y>"), 11);
    EXPECT_EQ(t.vocab_size(), 12);
    EXPECT_EQ(t.decode({{10, 11, 777, -5}}), "<x><y>");  // ids that do not exist are left out
}

TEST(Tokenizer, UnknownUnigramTextKeepsItsSpelling) {
    const Tokenizer t(text::tiny_unigram());
    const Encoding e = t.encode("ab xy");
    EXPECT_EQ(e.tokens, (Tokens{"▁ab", "▁", "xy"}));
    EXPECT_EQ(e.offsets, (Spans{{0, 2}, {2, 3}, {3, 5}}));
}

// 1 MiB of the same: 16 times the text may take at most 64 times as long. (A step that is
// quadratic would take 256 times as long.)
TEST(Tokenizer, LongRunsTakeLinearTime) {
    for (TokenizerSpec& spec : all_kinds()) {
        const Tokenizer t(std::move(spec));
        for (const char* unit : {"a", " ", "\n", "\u0301", "中", "\u200D", "the"}) {
            const auto seconds = [&](std::size_t size) {
                std::string s;
                while (s.size() < size) s += unit;
                const double before = static_cast<double>(std::clock());
                EXPECT_GE(t.encode(s).size(), t.encode_ids(s, false).size());
                return (static_cast<double>(std::clock()) - before) / CLOCKS_PER_SEC;
            };
            const double small = std::max({seconds(1 << 16), seconds(1 << 16), 1e-3});
            EXPECT_LT(seconds(1 << 20), small * 64) << unit;
        }
    }
}

// The ids of a template stand in the file beside the names: one that the vocabulary does not have
// would be looked up in an embedding later.
TEST(Tokenizer, RefusesAFileThatAddsIdsOutsideItsVocabulary) {
    const auto with_id = [](int id) {
        return R"({"post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                       {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [)" +
               std::to_string(id) + R"(], "tokens": ["<s>"]}}},
            "model": {"type": "WordLevel", "unk_token": "<unk>", "vocab": {"<unk>": 0, "<s>": 1}}})";
    };
    EXPECT_EQ(Tokenizer::from_json(with_id(1)).encode_ids("x"), (std::vector<TokenId>{1, 0}));
    EXPECT_THROW(Tokenizer::from_json(with_id(2)), Error);
}

}  // namespace
}  // namespace fovea
