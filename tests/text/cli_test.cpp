// `fovea tokenizer` as a user runs it: formats, standard input, training, and wrong requests, each
// answered by one line that says what and a hint that says how else.
#include <gtest/gtest.h>

#include <algorithm>

#include "committed.h"
#include "fovea/base/json.h"
#include "fovea/bench/sample_lines.h"
#include "tests/run_program.h"

namespace fovea {
namespace {

using test::Outcome;

struct TokenizerCommand : testing::Test {
    TemporaryFile file{"cli.json"}, out{"cli-out.json"}, corpus{"cli.txt"};
    void SetUp() override {
        write_file_atomically(file.path, committed_bytes("bert-uncased.json"));
    }
};

TEST_F(TokenizerCommand, EncodesInThreeFormats) {
    const Tokenizer t = Tokenizer::load(file.path);
    const std::string line = "The old river";
    const Encoding e = t.encode(line);
    std::string ids, tokens, offsets;
    for (std::size_t i = 0; i < e.size(); ++i) {
        for (std::string* list : {&ids, &tokens, &offsets})
            if (i > 0) *list += ' ';
        ids += std::to_string(e.ids[i]);
        tokens += e.tokens[i];
        offsets += e.tokens[i] + "[" + std::to_string(e.offsets[i].begin) + "," +
                   std::to_string(e.offsets[i].end) + ")";
    }
    const auto encode = [&](std::vector<std::string> flags) {
        std::vector<std::string> words = {"tokenizer", "encode", file.path};
        words.insert(words.end(), flags.begin(), flags.end());
        const Outcome o = test::fovea(words, {.input = line + "\n"});
        EXPECT_EQ(o.code, 0) << o.err;
        return o.out;
    };
    EXPECT_EQ(encode({"--format", "ids"}), ids + "\n");
    EXPECT_EQ(encode({}), tokens + "\n");
    EXPECT_EQ(encode({"--offsets"}), offsets + "\n");
    EXPECT_EQ(encode({"--no-special", "--format", "ids"}).find(std::to_string(e.ids[1])), 0u);
    const Json j = parse_json(encode({"--format", "json"}), "output");
    EXPECT_EQ(j["ids"].get<std::vector<TokenId>>(), e.ids);
    EXPECT_EQ(j["tokens"].get<std::vector<std::string>>(), e.tokens);
    EXPECT_EQ(j["special_mask"].get<std::vector<std::uint8_t>>(), e.special_mask);
    for (const char* key : {"offsets", "type_ids", "word_ids"}) EXPECT_EQ(j[key].size(), e.size());
    EXPECT_NE(encode({"--color", "always"}).find("\x1B["), std::string::npos);
}

TEST_F(TokenizerCommand, DecodesAndInspects) {
    const std::string lines = "the old river\nagain and again\n";
    const Outcome ids =
        test::fovea({"tokenizer", "encode", file.path, "--format", "ids"}, {.input = lines});
    const Outcome text = test::fovea({"tokenizer", "decode", file.path}, {.input = ids.out});
    EXPECT_EQ(text.out, lines);
    const Outcome all =
        test::fovea({"tokenizer", "decode", file.path, "--keep-special"}, {.input = ids.out});
    EXPECT_EQ(all.out.find("[CLS] the old river [SEP]\n"), 0u) << all.out;
    const Outcome unknown = test::fovea({"tokenizer", "decode", file.path}, {.input = "99999999"});
    EXPECT_EQ(unknown.code, 0);
    EXPECT_NE(unknown.err.find("not in the vocabulary"), std::string::npos) << unknown.err;
    const Outcome inspected = test::fovea({"tokenizer", "inspect", file.path, "--format", "json"});
    const Json j = parse_json(inspected.out, "output");
    EXPECT_EQ(j["model"], "WordPiece");
    EXPECT_EQ(j["vocabulary"], Tokenizer::load(file.path).vocab_size());
}

TEST_F(TokenizerCommand, TrainsTheSameFromFilesAndStandardInput) {
    const std::string text = sample_prose(2, 200000);
    write_file_atomically(corpus.path, text);
    const auto train = [&](const std::string& from, const std::string& model) {
        const Outcome o =
            test::fovea({"-q", "tokenizer", "train", from, "--model", model, "--vocab-size", "500",
                         "--special", "<x>", "--out", out.path, "--force"},
                        {.input = from == "-" ? text : ""});
        EXPECT_EQ(o.code, 0) << o.err;
        return read_file(out.path);
    };
    for (const char* model : {"bpe", "wordpiece", "unigram", "word"}) {
        SCOPED_TRACE(model);
        const std::string json = train(corpus.path, model);
        EXPECT_TRUE(json == train(corpus.path, model)) << "twice the same";
        EXPECT_TRUE(json == train("-", model)) << "from standard input";
        const Tokenizer t = Tokenizer::from_json(json);
        EXPECT_TRUE(t.token_to_id("<x>"));
        EXPECT_LE(t.vocab_size(), 500);
        EXPECT_GE(t.vocab_size(), 400);
    }
}

TEST_F(TokenizerCommand, TrainsOnlyOnUtf8Text) {
    write_file_atomically(corpus.path, "first line\nDer Caf\xE9-Besitzer gr\xFC\xDFt\n");
    const Outcome latin = test::fovea({"tokenizer", "train", corpus.path, "--out", out.path});
    EXPECT_EQ(latin.code, 3);
    EXPECT_NE(latin.err.find(corpus.path + ":2: the text is not UTF-8"), std::string::npos)
        << latin.err;
    EXPECT_NE(latin.err.find("iconv -f ISO-8859-1 -t UTF-8 " + corpus.path), std::string::npos)
        << latin.err;
    const Outcome program = test::fovea({"tokenizer", "train", FOVEA_BINARY, "--out", out.path});
    EXPECT_EQ(program.code, 3);
    EXPECT_NE(program.err.find("is not a text file"), std::string::npos) << program.err;
    EXPECT_FALSE(file_exists(out.path));
}

TEST_F(TokenizerCommand, WrongWishesGetOneClearLineAndAHint) {
    write_file_atomically(corpus.path, "some text\n");
    const TemporaryFile empty("cli-empty.txt");
    write_file_atomically(empty.path, "");
    struct Wrong {
        std::vector<std::string> words;
        int code;
        const char* says;
    };
    const Wrong all[] = {
        {{"encode", "/nowhere/tokenizer.json"}, 4, "/nowhere/tokenizer.json"},
        {{"encode", "/tmp/.."}, 4, "no tokenizer in this folder"},
        {{"decode", file.path, corpus.path}, 3, "\"some text\" is no token id"},
        {{"encode", file.path, "--format", "xml"}, 2, "xml"},
        {{"train", "/nowhere.txt"}, 4, "/nowhere.txt"},
        {{"train", "/tmp", "--out", out.path}, 4, "is a folder"},
        {{"train", empty.path, "--out", out.path}, 3, "not one word"},
        {{"train", corpus.path, "--out", "/nowhere/x.json"}, 4, "/nowhere"},
        {{"train", corpus.path, "--out", "/tmp"}, 2, "is a folder"},
        {{"train", corpus.path, "--out", file.path}, 2, "exists already"},
        {{"train", corpus.path, "--vocab-size", "99999999999"}, 2, "--vocab-size"},
        {{"train", corpus.path, "--out", out.path, "--vocab-size", "10"}, 2, "10 tokens"},
        {{"train", corpus.path, "--out", out.path, "--memory", "1M"}, 2, "64"},
        {{"train", corpus.path, "--out", out.path, "--memory", "lots"}, 2, "lots"},
        {{"train", corpus.path, "--out", out.path, "--model", "magic"}, 2, "magic"},
        {{"train", corpus.path, "--out", out.path, "--like", "t5", "--model", "bpe"}, 2, "unigram"},
        {{"train", corpus.path, "--out", out.path + ".model", "--like", "bert-uncased"},
         2,
         ".model"},
    };
    for (const Wrong& w : all) {
        std::vector<std::string> words = {"tokenizer"};
        words.insert(words.end(), w.words.begin(), w.words.end());
        std::string title;
        for (const std::string& word : words) title += word + " ";
        SCOPED_TRACE(title);
        const Outcome o = test::fovea(words);
        EXPECT_EQ(o.code, w.code) << o.err;
        EXPECT_EQ(o.err.find("error: "), 0u) << o.err;
        EXPECT_NE(o.err.find(w.says), std::string::npos) << o.err;
        EXPECT_NE(o.err.find("\nhint: "), std::string::npos) << o.err;
        EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 2) << o.err;
        EXPECT_EQ(o.out, "");
    }
    EXPECT_FALSE(file_exists(out.path));
}

}  // namespace
}  // namespace fovea
