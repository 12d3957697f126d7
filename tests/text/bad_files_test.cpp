// Bad files: each gives one clear error that names the file, and never a crash.
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/text/spm/sentencepiece_charsmap.h"
#include "fovea/text/spm/sentencepiece_model.h"
#include "fovea/text/tokenizer.h"

namespace fovea {
namespace {

struct BadFile {
    const char* title;
    const char* name;
    std::string bytes;
    const char* says;              // part of the message
    const char* second_name = "";  // a file beside it
    std::string second_bytes = {};
};

// ---- tokenizer.json ----

Json good_json() {
    return parse_json(R"({
      "version": "1.0", "truncation": null, "padding": null,
      "added_tokens": [{"id": 0, "content": "[UNK]", "single_word": false, "lstrip": false,
                        "rstrip": false, "normalized": false, "special": true}],
      "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"},
      "post_processor": null, "decoder": null,
      "model": {"type": "BPE", "dropout": null, "unk_token": "[UNK]",
                "continuing_subword_prefix": null, "end_of_word_suffix": null, "fuse_unk": false,
                "byte_fallback": false, "ignore_merges": false,
                "vocab": {"[UNK]": 0, "a": 1, "b": 2, "ab": 3}, "merges": [["a", "b"]]}})",
                      "good.json");
}

std::string json_with(const std::function<void(Json&)>& change) {
    Json j = good_json();
    change(j);
    return j.dump();
}

std::string json_model(const char* text) {
    return json_with([&](Json& j) { j["model"] = parse_json(text, "model"); });
}

std::string json_part(const char* part, const char* text) {
    return json_with([&](Json& j) { j[part] = parse_json(text, part); });
}

std::vector<BadFile> bad_json() {
    const std::string good = good_json().dump();
    std::string deep;
    for (int i = 0; i < 100000; ++i) deep += "[";
    std::vector<BadFile> all = {
        {"empty", "tokenizer.json", "", ""},
        {"only spaces", "tokenizer.json", "   \n", ""},
        {"cut in the middle", "tokenizer.json", good.substr(0, good.size() / 2), ""},
        {"cut at the last brace", "tokenizer.json", good.substr(0, good.size() - 1), ""},
        {"text after the end", "tokenizer.json", good + "x", ""},
        {"not UTF-8", "tokenizer.json", "{\"version\": \"\xC0\xAF\"}", ""},
        {"an array", "tokenizer.json", "[1, 2]", ""},
        {"a number", "tokenizer.json", "42", ""},
        {"nested 100,000 deep", "tokenizer.json", deep, ""},
        {"no model", "tokenizer.json", json_with([](Json& j) { j.erase("model"); }), "model"},
        {"model is a string", "tokenizer.json", json_with([](Json& j) { j["model"] = "BPE"; }),
         "model"},
        {"model of no type and no vocab", "tokenizer.json", json_model("{}"), ""},
        {"unknown model", "tokenizer.json", json_model(R"({"type": "Neural", "vocab": {}})"),
         "Neural"},
        {"unknown normalizer", "tokenizer.json", json_part("normalizer", R"({"type": "Rot13"})"),
         "Rot13"},
        {"unknown pre-tokenizer", "tokenizer.json",
         json_part("pre_tokenizer", R"({"type": "Telepathy"})"), "Telepathy"},
        {"unknown post-processor", "tokenizer.json",
         json_part("post_processor", R"({"type": "Polish"})"), "Polish"},
        {"unknown decoder", "tokenizer.json", json_part("decoder", R"({"type": "Enigma"})"),
         "Enigma"},
        {"normalizer is a number", "tokenizer.json", json_part("normalizer", "7"), ""},
        {"normalizer without a type", "tokenizer.json", json_part("normalizer", "{}"), ""},
        {"sequence without its parts", "tokenizer.json",
         json_part("normalizer", R"({"type": "Sequence"})"), ""},
        {"split pattern that is no regular expression", "tokenizer.json",
         json_part(
             "pre_tokenizer",
             R"({"type": "Split", "pattern": {"Regex": "(a"}, "behavior": "Isolated", "invert": false})"),
         ""},
        {"unknown split behaviour", "tokenizer.json",
         json_part(
             "pre_tokenizer",
             R"({"type": "Split", "pattern": {"String": "a"}, "behavior": "Sideways", "invert": false})"),
         "Sideways"},
        {"charsmap that is not base64", "tokenizer.json",
         json_part("normalizer", R"({"type": "Precompiled", "precompiled_charsmap": "!!!"})"), ""},
        {"charsmap whose trie is longer than itself", "tokenizer.json",
         json_part("normalizer", R"({"type": "Precompiled", "precompiled_charsmap": "/////w=="})"),
         "charsmap"},
        {"merge of an unknown token", "tokenizer.json",
         json_with([](Json& j) { j["model"]["merges"] = parse_json(R"([["a", "zz"]])", ""); }),
         "zz"},
        {"merge whose result is unknown", "tokenizer.json",
         json_with([](Json& j) { j["model"]["merges"] = parse_json(R"([["b", "a"]])", ""); }),
         "ba"},
        {"merge of three parts", "tokenizer.json",
         json_with([](Json& j) { j["model"]["merges"] = parse_json(R"([["a", "b", "a"]])", ""); }),
         "merge"},
        {"merge in one word", "tokenizer.json",
         json_with([](Json& j) { j["model"]["merges"] = Json::array({"ab"}); }), "merge"},
        {"merge that is a number", "tokenizer.json",
         json_with([](Json& j) { j["model"]["merges"] = Json::array({3}); }), "merge"},
        {"merges is an object", "tokenizer.json",
         json_with([](Json& j) { j["model"]["merges"] = Json::object(); }), "merges"},
        {"vocab is an array", "tokenizer.json",
         json_with([](Json& j) { j["model"]["vocab"] = Json::array({"a"}); }), "vocab"},
        {"id is a string", "tokenizer.json",
         json_with([](Json& j) { j["model"]["vocab"]["a"] = "1"; }), "a"},
        {"id is negative", "tokenizer.json",
         json_with([](Json& j) { j["model"]["vocab"]["a"] = -1; }), "a"},
        {"id is a fraction", "tokenizer.json",
         json_with([](Json& j) { j["model"]["vocab"]["a"] = 1.5; }), "a"},
        {"id beyond 2^31", "tokenizer.json",
         json_with([](Json& j) { j["model"]["vocab"]["a"] = 4294967296; }), "a"},
        {"dropout above one", "tokenizer.json",
         json_with([](Json& j) { j["model"]["dropout"] = 1.5; }), "dropout"},
        {"byte fallback is a string", "tokenizer.json",
         json_with([](Json& j) { j["model"]["byte_fallback"] = "yes"; }), "byte_fallback"},
        {"unigram vocabulary is an object", "tokenizer.json",
         json_model(R"({"type": "Unigram", "unk_id": 0, "vocab": {"a": -1}})"), "vocab"},
        {"unigram piece without a score", "tokenizer.json",
         json_model(R"({"type": "Unigram", "unk_id": 0, "vocab": [["a"]]})"), ""},
        {"unigram score is a string", "tokenizer.json",
         json_model(R"({"type": "Unigram", "unk_id": 0, "vocab": [["a", "x"]]})"), ""},
        {"unigram unk_id past the end", "tokenizer.json",
         json_model(R"({"type": "Unigram", "unk_id": 9, "vocab": [["a", -1.0]]})"), "unk_id"},
        {"added token without content", "tokenizer.json",
         json_with([](Json& j) { j["added_tokens"][0].erase("content"); }), "content"},
        {"added token with a negative id", "tokenizer.json",
         json_with([](Json& j) { j["added_tokens"][0]["id"] = -5; }), ""},
        {"added tokens is an object", "tokenizer.json", json_part("added_tokens", R"({"a": 1})"),
         "added_tokens"},
        {"template that names an unknown special token", "tokenizer.json",
         json_part("post_processor",
                   R"({"type": "TemplateProcessing",
                       "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}],
                       "pair": [], "special_tokens": {}})"),
         "[CLS]"},
        {"truncation of a negative length", "tokenizer.json",
         json_part(
             "truncation",
             R"({"direction": "Right", "max_length": -3, "strategy": "LongestFirst", "stride": 0})"),
         ""},
        {"unknown truncation strategy", "tokenizer.json",
         json_part("truncation",
                   R"({"direction": "Right", "max_length": 5, "strategy": "Random", "stride": 0})"),
         "Random"},
        {"lone surrogate in a token", "tokenizer.json",
         json_model(R"({"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0}})"), ""},
    };
    // JSON libraries do not write lone surrogates, so this one is made by hand.
    std::string& lone = all.back().bytes;
    lone.replace(lone.find("\"vocab\":{\"a\":0}"), 15, "\"vocab\":{\"a\":0,\"\\ud800\":1}");
    return all;
}

// ---- vocab.txt, vocab.json, merges.txt ----

std::vector<BadFile> bad_vocabularies() {
    return {
        {"empty vocab.txt", "vocab.txt", "", ""},
        {"vocab.txt that is not UTF-8", "vocab.txt", "[UNK]\n\xFF\xFE\n", ""},
        {"empty vocab.json", "vocab.json", "", "", "merges.txt", ""},
        {"vocab.json is an array", "vocab.json", R"(["a"])", "", "merges.txt", "a b\n"},
        {"vocab.json with a word as id", "vocab.json", R"({"a": "b"})", "a", "merges.txt", ""},
        {"vocab.json with a negative id", "vocab.json", R"({"a": -1})", "a", "merges.txt", ""},
        {"vocab.json cut off", "vocab.json", R"({"a": 0, "b")", "", "merges.txt", ""},
        {"merges.txt with one word", "vocab.json", R"({"a": 0})", "merges.txt", "merges.txt",
         "a\n"},
        {"merges.txt with three words", "vocab.json", R"({"a": 0})", "merges.txt", "merges.txt",
         "a a a\n"},
        {"merges.txt with an unknown token", "vocab.json", R"({"a": 0, "b": 1})", "zz",
         "merges.txt", "#version: 0.2\na zz\n"},
        {"merges.txt with an unknown result", "vocab.json", R"({"a": 0, "b": 1})", "ab",
         "merges.txt", "a b\n"},
    };
}

// ---- .model ----

SentencePieceModel good_model() {
    SentencePieceModel m;
    m.pieces = {{"<unk>", 0, PieceType::unknown},
                {"<s>", 0, PieceType::control},
                {"\xE2\x96\x81", -1, PieceType::normal},
                {"a", -2, PieceType::normal}};
    m.normalizer.name = "identity";
    return m;
}

std::string model_with(const std::function<void(SentencePieceModel&)>& change) {
    SentencePieceModel m = good_model();
    change(m);
    return write_sentencepiece(m);
}

std::vector<BadFile> bad_models() {
    const std::string good = write_sentencepiece(good_model());
    std::string groups;
    for (int i = 0; i < 10000; ++i) groups += '\x0B';
    const std::string charsmap = build_charsmap({{"x", "y"}});
    return {
        {"empty", "t.model", "", "empty"},
        {"text", "t.model", "this is no model", ""},
        {"cut inside a piece", "t.model", good.substr(0, 7), ""},
        {"truncated number", "t.model", good + "\x12\xFF", "number"},
        {"number of eleven bytes", "t.model", "\x08" + std::string(11, '\xFF'), "number"},
        {"length past the end", "t.model", good + "\x12\x7F", "claims"},
        {"groups nested 10,000 deep", "t.model", groups, "group"},
        {"wire type 7", "t.model", good + "\x0F", "wire type"},
        {"field number 0", "t.model", good + std::string("\x02\x00", 2), "field number"},
        {"pieces as a number", "t.model", std::string("\x08\x01"), "wire type"},
        {"no pieces", "t.model", std::string("\x12\x00", 2), "no pieces"},
        {"a piece twice", "t.model", model_with([](auto& m) { m.pieces[3].text = "<s>"; }),
         "twice"},
        {"an empty piece", "t.model", model_with([](auto& m) { m.pieces[3].text = ""; }), "piece"},
        {"a piece of 100 KB", "t.model",
         model_with([](auto& m) { m.pieces[3].text = std::string(100000, 'q'); }), "100000"},
        {"a piece that is not UTF-8", "t.model",
         model_with([](auto& m) { m.pieces[3].text = "\xED\xA0\x80"; }), "UTF-8"},
        {"no unknown piece", "t.model",
         model_with([](auto& m) { m.pieces[0].type = PieceType::normal; }), "unknown"},
        {"two unknown pieces", "t.model",
         model_with([](auto& m) { m.pieces[1].type = PieceType::unknown; }), "two unknown"},
        {"score is not a number", "t.model",
         model_with([](auto& m) { m.pieces[3].score = std::numeric_limits<float>::quiet_NaN(); }),
         "score"},
        {"score is infinite", "t.model",
         model_with([](auto& m) { m.pieces[3].score = std::numeric_limits<float>::infinity(); }),
         "score"},
        {"byte fallback without bytes", "t.model",
         model_with([](auto& m) { m.byte_fallback = true; }), "<0x00>"},
        {"byte piece without byte fallback", "t.model", model_with([](auto& m) {
             m.pieces[3] = {"<0x00>", 0, PieceType::byte};
         }),
         "byte"},
        {"model type 9", "t.model", good + std::string("\x12\x02\x18\x09"), "model type"},
        {"piece type 9", "t.model", good + std::string("\x0A\x05\x0A\x01q\x18\x09"), "piece type"},
        {"charsmap of three bytes", "t.model",
         model_with([](auto& m) { m.normalizer.precompiled_charsmap = "abc"; }), "charsmap"},
        {"charsmap cut off", "t.model",
         model_with([&](auto& m) { m.normalizer.precompiled_charsmap = charsmap.substr(0, 600); }),
         "charsmap"},
        {"charsmap without a final NUL", "t.model", model_with([&](auto& m) {
             m.normalizer.precompiled_charsmap = charsmap.substr(0, charsmap.size() - 1);
         }),
         "charsmap"},
        {"charsmap that points past its end", "t.model", model_with([&](auto& m) {
             std::string c = charsmap;
             for (std::size_t i = 4; i + 4 <= c.size() - 2; i += 4)
                 if (c[i + 3] & '\x80') c[i + 1] = '\x7F';
             m.normalizer.precompiled_charsmap = c;
         }),
         "charsmap"},
    };
}

class Folder {
public:
    Folder() { make_folders(path); }
    ~Folder() {
        for (const std::string& name : list_folder(path)) unlink((path + "/" + name).c_str());
        rmdir(path.c_str());
    }
    const std::string path = "/tmp/fovea-bad-" + std::to_string(getpid());
};

void check_all(const std::vector<BadFile>& files) {
    for (const BadFile& f : files) {
        SCOPED_TRACE(f.title);
        const Folder folder;
        const std::string path = folder.path + "/" + f.name;
        write_file_atomically(path, f.bytes);
        if (*f.second_name)
            write_file_atomically(folder.path + "/" + f.second_name, f.second_bytes);
        try {
            Tokenizer::load(path);
            ADD_FAILURE() << "was read without an error";
        } catch (const Error& e) {
            const std::string message = e.what();
            EXPECT_TRUE(e.kind() == ErrorKind::bad_input || e.kind() == ErrorKind::not_found)
                << message;
            EXPECT_NE(message.find(folder.path), std::string::npos) << "no file named: " << message;
            EXPECT_NE(message.find(f.says), std::string::npos)
                << "\"" << f.says << "\" is not in: " << message;
            EXPECT_LT(message.size(), 600u) << message;
            EXPECT_EQ(message.find('\n'), std::string::npos) << message;
        }
    }
}

TEST(BadFiles, TokenizerJson) { check_all(bad_json()); }
TEST(BadFiles, Vocabularies) { check_all(bad_vocabularies()); }
TEST(BadFiles, SentencePieceModels) { check_all(bad_models()); }

// As in `tokenizers`, such files load; the error comes with the first word that needs the token.
TEST(BadFiles, MissingUnknownTokenIsAnErrorOfTheText) {
    const Tokenizer t = Tokenizer::from_json(json_model(
        R"({"type": "WordPiece", "unk_token": "[NONE]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": {"a": 0}})"));
    EXPECT_EQ(t.encode_ids("a a").size(), 2u);
    try {
        t.encode_ids("a zebra");
        ADD_FAILURE() << "no error";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::bad_input);
        EXPECT_NE(std::string(e.what()).find("[NONE]"), std::string::npos) << e.what();
    }
}

TEST(BadFiles, AreAtLeastSixty) {
    EXPECT_GE(bad_json().size() + bad_vocabularies().size() + bad_models().size(), 60u);
}

TEST(BadFiles, MissingOnesAndFolders) {
    const Folder folder;
    for (const std::string& path :
         {folder.path + "/none.json", folder.path, folder.path + "/none.model", std::string()}) {
        try {
            Tokenizer::load(path);
            ADD_FAILURE() << path;
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::not_found) << e.what();
        }
    }
}

}  // namespace
}  // namespace fovea
