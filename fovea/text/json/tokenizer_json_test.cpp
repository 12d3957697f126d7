#include "fovea/text/json/tokenizer_json.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/text/spm/sentencepiece_charsmap.h"
#include "fovea/text/test_specs.h"

namespace fovea {
namespace {

template <class Replace>
Replace replace(const std::string& what, bool regex, const std::string& by) {
    Replace r;
    r.pattern.text = what;
    r.pattern.regex = regex;
    r.content = by;
    return r;
}

// One of every component there is.
TokenizerSpec everything() {
    TokenizerSpec s = text::tiny_bert();
    namespace n = normalizer;
    s.normalizer = {n::Bert{false, true, false, true},
                    n::Nfc{},
                    n::Nfd{},
                    n::Nfkc{},
                    n::Nfkd{},
                    n::Lowercase{},
                    n::Strip{true, false},
                    n::StripAccents{},
                    n::Prepend{"▁"},
                    replace<n::Replace>("a\"\\\n", false, "b"),
                    replace<n::Replace>(" {2,}", true, " "),
                    n::Precompiled{build_charsmap({{"Ａ", "A"}})},
                    n::Nmt{},
                    n::ByteLevel{}};
    namespace p = pretokenizer;
    s.pre_tokenizer = {p::Bert{},
                       p::ByteLevel{false, false, false},
                       p::Whitespace{},
                       p::WhitespaceSplit{},
                       p::Metaspace{"_", PrependScheme::first, false},
                       p::Punctuation{SplitBehavior::contiguous},
                       p::Digits{true},
                       p::CharDelimiterSplit{"|"},
                       p::Split{{"\\s", true}, SplitBehavior::merged_with_next, true},
                       p::UnicodeScripts{},
                       p::FixedLength{7}};
    postprocessor::Template t;
    t.single = {{postprocessor::TemplatePiece::Kind::special, "x", 1},
                {postprocessor::TemplatePiece::Kind::sequence_a, {}, 0}};
    t.pair = {{postprocessor::TemplatePiece::Kind::sequence_a, {}, 0},
              {postprocessor::TemplatePiece::Kind::sequence_b, {}, 1}};
    t.special_tokens = {{"x", {1, 2}, {"a", "b"}}};
    s.post_processor = {postprocessor::ByteLevel{false, false, true},
                        postprocessor::Roberta{{"</s>", 2}, {"<s>", 0}, false, false}, t};
    namespace d = decoder;
    s.decoder = {{d::WordPiece{"@@", false}, d::ByteLevel{}, d::Metaspace{}, d::Bpe{"</x>"},
                  d::ByteFallback{}, d::Fuse{}, d::Strip{"é", 2, 3},
                  replace<d::Replace>("x", false, "y"), d::Ctc{"<p>", "~", false}}};
    s.truncation = Truncation{77, TruncationStrategy::only_second, 5, Direction::left};
    s.padding = Padding{64, Direction::left, 8, 3, 1, "<pad>"};
    AddedToken a;
    a.content = "new\ttoken";
    a.id = 24;
    a.single_word = a.lstrip = a.rstrip = true;
    s.added_tokens.push_back(a);
    return s;
}

TEST(TokenizerJson, WhatIsWrittenIsReadAgain) {
    const TokenizerSpec a = everything();
    const std::string json = write_tokenizer_json(a);
    const TokenizerSpec b = read_tokenizer_json(json, "test");
    EXPECT_EQ(a.normalizer, b.normalizer);
    EXPECT_EQ(a.pre_tokenizer, b.pre_tokenizer);
    EXPECT_EQ(a.post_processor, b.post_processor);
    EXPECT_EQ(a.decoder, b.decoder);
    EXPECT_EQ(a.truncation, b.truncation);
    EXPECT_EQ(a.padding, b.padding);
    EXPECT_EQ(write_tokenizer_json(b), json);
}

TEST(TokenizerJson, ModelsSurvive) {
    for (const TokenizerSpec& a : {text::tiny_bert(), text::tiny_gpt2(), text::tiny_unigram()}) {
        const std::string json = write_tokenizer_json(a);
        EXPECT_EQ(write_tokenizer_json(read_tokenizer_json(json, "test")), json);
    }
    TokenizerSpec words;
    WordLevelSpec model;
    model.vocab.add("<unk>", 0);
    model.vocab.add("\x01\"é\\", 5);  // holes and escapes
    words.model = model;
    const std::string json = write_tokenizer_json(words);
    const TokenizerSpec back = read_tokenizer_json(json, "test");
    EXPECT_EQ(std::get<WordLevelSpec>(back.model).vocab.find("\x01\"é\\"), 5);
}

std::string error_of(const std::string& json) {
    try {
        read_tokenizer_json(json, "t.json");
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::bad_input);
        return e.what();
    }
    return "";
}
std::string with(const std::string& fields) {
    return R"({"model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}, )" + fields +
           "}";
}

TEST(TokenizerJson, UnknownComponentsAreNamed) {
    EXPECT_EQ(error_of(with(R"("normalizer": {"type": "Magic"})")),
              "t.json.normalizer: unknown normalizer \"Magic\"");
    EXPECT_EQ(error_of(with(R"("pre_tokenizer": {"type": "Sequence", "pretokenizers":
                          [{"type": "Whitespace"}, {"type": "Magic"}]})")),
              "t.json.pre_tokenizer.pretokenizers[1]: unknown pre_tokenizer \"Magic\"");
    EXPECT_EQ(error_of(with(R"("post_processor": {"type": "Magic"})")),
              "t.json.post_processor: unknown post_processor \"Magic\"");
    EXPECT_EQ(error_of(with(R"("decoder": {"type": "Magic"})")),
              "t.json.decoder: unknown decoder \"Magic\"");
    EXPECT_EQ(error_of(R"({"model": {"type": "Magic"}})"), "t.json.model: unknown model \"Magic\"");
}

TEST(TokenizerJson, ErrorsSayWhere) {
    EXPECT_NE(error_of("{"), "");
    EXPECT_NE(error_of("[]").find("no \"model\""), std::string::npos);
    EXPECT_NE(error_of(with(R"("added_tokens": [{"id": -1, "content": "x"}])"))
                  .find("added_tokens[0].id"),
              std::string::npos);
    EXPECT_NE(error_of(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "b"]]}})")
                  .find("\"b\" is not in the vocabulary"),
              std::string::npos);
    EXPECT_NE(error_of(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b c"]}})"),
              "");
    EXPECT_NE(error_of(R"({"model": {"type": "BPE", "vocab": {"a": 1.5}, "merges": []}})")
                  .find("token \"a\""),
              std::string::npos);
    EXPECT_NE(error_of(R"({"model": {"type": "Unigram", "vocab": [["a", 0]], "unk_id": 1}})")
                  .find("unk_id"),
              std::string::npos);
    EXPECT_NE(
        error_of(with(R"("normalizer": {"type": "Precompiled", "precompiled_charsmap": "*"})")),
        "");
    EXPECT_NE(error_of(with("\"x\": \"\\ud800\"")), "");  // half a surrogate pair
    EXPECT_NE(error_of(with("\"x\": \"\xC3\"")), "");     // not UTF-8
}

TEST(TokenizerJson, OldSpellings) {
    // no type, merges as one string, add_prefix_space instead of prepend_scheme
    const TokenizerSpec s = read_tokenizer_json(
        R"({"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "add_prefix_space": false},
            "model": {"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})",
        "old");
    const auto& bpe = std::get<BpeSpec>(s.model);
    ASSERT_EQ(bpe.merges.size(), 1u);
    EXPECT_EQ(bpe.merges[0], (Merge{0, 1, 2}));
    EXPECT_EQ(std::get<pretokenizer::Metaspace>(s.pre_tokenizer[0]).prepend_scheme,
              PrependScheme::never);
    EXPECT_TRUE(std::holds_alternative<WordPieceSpec>(
        read_tokenizer_json(
            R"({"model": {"vocab": {"[UNK]": 0}, "continuing_subword_prefix": "##"}})", "old")
            .model));
}

}  // namespace
}  // namespace fovea
