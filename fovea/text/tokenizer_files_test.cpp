#include "fovea/text/tokenizer_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/text/spm/sentencepiece_model.h"
#include "fovea/text/tokenizer.h"
#include "fovea/text/tokenizer_config.h"

namespace fovea {
namespace {

// A folder that goes away again.
class Folder {
public:
    Folder() : path_(text_of(testing::TempDir(), "fovea_tokenizer_", ::getpid(), "_", ++count_)) {
        make_folders(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    void put(const std::string& name, std::string_view content) const {
        write_file_atomically(join_path(path_, name), content);
    }
    const std::string& path() const { return path_; }
    std::string file(const std::string& name) const { return join_path(path_, name); }

private:
    static inline int count_ = 0;
    std::string path_;
};
using Tokens = std::vector<std::string>;

const char* bert_vocab = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhello\nworld\n##s\n";
const char* merges = "#version: 0.2\nh e\nhe l\n";
const char* bpe_vocab = R"({"h": 0, "e": 1, "l": 2, "he": 3, "hel": 4, "<|endoftext|>": 5})";

TEST(TokenizerFiles, VocabTxt) {
    const Folder f;
    f.put("vocab.txt", bert_vocab);
    for (const std::string& path : {f.path(), f.file("vocab.txt")}) {
        const Tokenizer t = Tokenizer::load(path);
        EXPECT_EQ(t.encode("Hello Worlds").tokens,
                  (Tokens{"[CLS]", "hello", "world", "##s", "[SEP]"}));
        EXPECT_EQ(t.pad_id(), 0);
    }
}

TEST(TokenizerFiles, CaseIsGuessedAndMayBeSaid) {
    const Folder f;
    f.put("vocab.txt", "[UNK]\nHello\nhello\n[CLS]\n[SEP]\n");
    EXPECT_EQ(Tokenizer::load(f.path()).encode("Hello").tokens[1], "Hello");
    f.put("tokenizer_config.json",
          R"({"do_lower_case": true, "tokenizer_class": "BertTokenizer"})");
    EXPECT_EQ(Tokenizer::load(f.path()).encode("Hello").tokens[1], "hello");
}

TEST(TokenizerFiles, VocabAndMerges) {
    const Folder f;
    f.put("vocab.json", bpe_vocab);
    f.put("merges.txt", merges);
    for (const std::string& path : {f.path(), f.file("vocab.json"), f.file("merges.txt")})
        EXPECT_EQ(Tokenizer::load(path).encode("hell").tokens, (Tokens{"hel", "l"})) << path;
    const Folder old;  // the names of GPT-2's first release
    old.put("encoder.json", bpe_vocab);
    old.put("vocab.bpe", merges);
    EXPECT_EQ(Tokenizer::load(old.path()).encode("hell").tokens, (Tokens{"hel", "l"}));
}

TEST(TokenizerFiles, Roberta) {
    const Folder f;
    f.put("vocab.json",
          R"({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "h": 4, "<mask>": 5, "Ġ": 6})");
    f.put("merges.txt", "");
    const Tokenizer t = Tokenizer::load(f.path());
    EXPECT_EQ(t.encode("h <mask>").tokens, (Tokens{"<s>", "h", " <mask>", "</s>"}));
    EXPECT_EQ(t.mask_id(), 5);
}

TEST(TokenizerFiles, WordLists) {
    const Folder f;
    f.put("vocab.txt", "<unk>\nhello\n");
    EXPECT_EQ(Tokenizer::load(f.path()).encode_ids("hello you"), (std::vector<TokenId>{1, 0}));
    const Folder g;
    g.put("vocab.json", R"({"<unk>": 3, "hello": 1})");
    EXPECT_EQ(Tokenizer::load(g.path()).encode_ids("hello you"), (std::vector<TokenId>{1, 3}));
}

TEST(TokenizerFiles, SpecialTokenFilesOldAndNew) {
    const Folder old;
    old.put("vocab.txt", bert_vocab);
    old.put("added_tokens.json", R"({"foo bar": 8, "[NEW]": 9})");
    old.put("special_tokens_map.json",
            R"({"pad_token": "[PAD]", "additional_special_tokens": ["[NEW]"],
                "mask_token": {"content": "[MASK]", "lstrip": true}})");
    const Folder fresh;
    fresh.put("vocab.txt", bert_vocab);
    fresh.put("tokenizer_config.json",
              R"({"added_tokens_decoder": {"8": {"content": "foo bar"},
                                           "9": {"content": "[NEW]", "special": true},
                                           "4": {"content": "[MASK]", "special": true,
                                                 "lstrip": true}},
                  "pad_token": "[PAD]", "mask_token": "[MASK]"})");
    // A bare name beside a tokenizer.json leaves the token as that describes it.
    const Folder both;
    Tokenizer::load(fresh.path()).save(both.file("tokenizer.json"));
    both.put("tokenizer_config.json", R"({"mask_token": "[MASK]"})");
    for (const Folder* f : {&old, &fresh, &both}) {
        const Tokenizer t = Tokenizer::load(f->path());
        EXPECT_EQ(t.token_to_id("foo bar"), 8);
        EXPECT_EQ(t.token_to_id("[NEW]"), 9);
        EXPECT_TRUE(t.is_special(9));
        EXPECT_FALSE(t.is_special(8));
        EXPECT_EQ(t.encode("hello [MASK] foo bar").tokens,
                  (Tokens{"[CLS]", "hello", " [MASK]", "foo bar", "[SEP]"}));
    }
}

TEST(TokenizerFiles, RolesOfAFolderWithTokenizerJson) {
    const Folder f;
    f.put("vocab.txt", bert_vocab);
    const Tokenizer t = Tokenizer::load(f.path());
    const Folder g;
    t.save(g.file("tokenizer.json"));
    g.put("tokenizer_config.json", R"({"pad_token": "world", "eos_token": "<end>"})");
    const Tokenizer u = Tokenizer::load(g.path());
    EXPECT_EQ(u.pad_id(), u.token_to_id("world"));
    EXPECT_EQ(u.eos_id(), 8);  // not there before: added
}

SentencePieceModel tiny_model() {
    SentencePieceModel m;
    m.pieces = {{"<unk>", 0, PieceType::unknown}, {"<s>", 0, PieceType::control},
                {"</s>", 0, PieceType::control},  {"▁", -2, PieceType::normal},
                {"▁he", -3, PieceType::normal},   {"l", -3, PieceType::normal},
                {"o", -3, PieceType::normal}};
    return m;
}

TEST(TokenizerFiles, SentencePieceFolders) {
    const std::string proto = write_sentencepiece(tiny_model());
    const Folder f;
    f.put("spiece.model", proto);
    EXPECT_EQ(Tokenizer::load(f.path()).encode("hello").tokens, (Tokens{"▁he", "l", "l", "o"}));
    f.put("config.json", R"({"model_type": "t5"})");
    const Tokenizer t5 = Tokenizer::load(f.path());
    EXPECT_EQ(t5.encode("hello").tokens, (Tokens{"▁he", "l", "l", "o", "</s>"}));
    EXPECT_EQ(t5.token_to_id("<extra_id_0>"), 106);
    f.put("tokenizer_config.json", R"({"tokenizer_class": "XLNetTokenizer"})");
    const Encoding e = Tokenizer::load(f.path()).encode("hello");
    EXPECT_EQ(e.tokens, (Tokens{"▁he", "l", "l", "o", "<sep>", "<cls>"}));
    EXPECT_EQ(e.type_ids.back(), 2);
    f.put("tokenizer_config.json", R"({"tokenizer_class": "AlbertTokenizerFast"})");
    EXPECT_EQ(Tokenizer::load(f.path()).encode("HÉllo").tokens,
              (Tokens{"[CLS]", "▁he", "l", "l", "o", "[SEP]"}));
}

TEST(TokenizerFiles, SentencePieceModelsAreSavedAsTheyAre) {
    const std::string proto = write_sentencepiece(tiny_model());
    const Folder f;
    f.put("a.model", proto);
    const Tokenizer t = Tokenizer::load(f.file("a.model"));
    t.save(f.file("b.model"));
    EXPECT_EQ(read_file(f.file("b.model")), proto);
    EXPECT_THROW(t.save(f.file("b.json")), Error);
}

TEST(TokenizerFiles, Marian) {
    const Folder f;
    f.put("source.spm", write_sentencepiece(tiny_model()));
    f.put("target.spm", write_sentencepiece(tiny_model()));
    f.put("vocab.json",
          R"({"</s>": 0, "<unk>": 1, "▁he": 2, "l": 3, "o": 4, ">>fra<<": 5, "▁": 6, "<pad>": 7})");
    for (const std::string& path : {f.path(), f.file("target.spm")}) {
        const Tokenizer t = Tokenizer::load(path);
        EXPECT_EQ(t.encode_ids(">>fra<< hellox"), (std::vector<TokenId>{5, 2, 3, 3, 4, 1, 0}));
        EXPECT_EQ(t.decode({{5, 2, 3, 4, 2, 0}}), "helo he");
        EXPECT_EQ(t.pad_id(), 7);
        EXPECT_EQ(t.eos_id(), 0);
        EXPECT_EQ(t.vocab_size(), 8);
    }
}

std::string error_of(const std::string& path, ErrorKind kind) {
    try {
        Tokenizer::load(path);
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), kind) << e.what();
        return e.what();
    }
    return "";
}

TEST(TokenizerFiles, ErrorsNameTheFile) {
    const Folder f;
    EXPECT_NE(error_of(f.path(), ErrorKind::not_found).find(f.path()), std::string::npos);
    EXPECT_NE(error_of(f.file("nothing.json"), ErrorKind::not_found), "");
    f.put("merges.txt", merges);
    EXPECT_NE(error_of(f.file("merges.txt"), ErrorKind::not_found).find("without a vocabulary"),
              std::string::npos);
    f.put("vocab.json", bpe_vocab);
    f.put("merges.txt", "h e\nh x\n");
    EXPECT_NE(error_of(f.path(), ErrorKind::bad_input).find("\"x\""), std::string::npos);
    f.put("merges.txt", "h e l\n");
    EXPECT_NE(error_of(f.path(), ErrorKind::bad_input).find("line 1"), std::string::npos);
    f.put("empty.txt", "");
    EXPECT_NE(error_of(f.file("empty.txt"), ErrorKind::bad_input).find("empty.txt"),
              std::string::npos);
    f.put("latin1.txt", "caf\xE9\n");
    EXPECT_NE(error_of(f.file("latin1.txt"), ErrorKind::bad_input).find("UTF-8"),
              std::string::npos);
    f.put("x.model", "not a model");
    EXPECT_NE(error_of(f.file("x.model"), ErrorKind::bad_input).find("x.model"), std::string::npos);
    f.put("added_tokens.json", R"({"a": "b"})");
    f.put("merges.txt", merges);
    EXPECT_NE(error_of(f.path(), ErrorKind::bad_input).find("added_tokens.json"),
              std::string::npos);
}

}  // namespace
}  // namespace fovea
