// Training from files of lines in all languages, recipe by recipe.
#include <gtest/gtest.h>
#include <unistd.h>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/threads.h"
#include "fovea/bench/sample_lines.h"
#include "fovea/text/tokenizer.h"
#include "fovea/text/train/train_tokenizer.h"

namespace fovea {
namespace {

class TrainTokenizer : public testing::Test {
protected:
    void SetUp() override { make_folders(folder); }
    void TearDown() override {
        for (const std::string& name : list_folder(folder)) unlink((folder + "/" + name).c_str());
        rmdir(folder.c_str());
    }
    std::string write(const std::string& name, const std::string& bytes) const {
        write_file_atomically(folder + "/" + name, bytes);
        return folder + "/" + name;
    }
    std::string sample(int lines) const {
        std::string text;
        for (int i = 0; i < lines; ++i) text += sample_line(11, i) + "\n";
        return write("sample.txt", text);
    }
    const std::string folder = "/tmp/fovea-train-" + std::to_string(getpid());
};

TEST_F(TrainTokenizer, EveryRecipeTrainsSavesAndLoads) {
    const std::string text = sample(1500);
    for (const std::string& recipe : training_recipes()) {
        SCOPED_TRACE(recipe);
        TokenizerTraining training = training_like(recipe);
        training.vocab_size = 900;
        training.limit_alphabet = 300;
        TrainingReport report;
        const Tokenizer t(train_tokenizer({text}, training, &report));
        EXPECT_LE(t.vocab_size(), 900);
        EXPECT_GE(t.vocab_size(), 600);
        EXPECT_EQ(report.undercount, 0);
        EXPECT_GT(report.words, report.different_words);
        const Tokenizer again = Tokenizer::from_json(t.to_json());
        const std::string line = "The old teacher opens the window, again and again.";
        EXPECT_EQ(again.encode_ids(line), t.encode_ids(line));
        EXPECT_LT(t.encode_ids(line).size(), line.size());
        for (std::size_t i = 0; i < training.special_tokens.size(); ++i)
            EXPECT_EQ(t.token_to_id(training.special_tokens[i].content), static_cast<TokenId>(i));
    }
}

TEST_F(TrainTokenizer, ByteLevelRoundTripsAnyText) {
    TokenizerTraining training = training_like("gpt2");
    training.vocab_size = 600;
    const Tokenizer t(train_tokenizer({sample(300)}, training));
    for (int i = 5000; i < 5300; ++i) {
        const std::string line = sample_line(12, i);
        if (line.find("<|endoftext|>") != std::string::npos) continue;
        EXPECT_EQ(t.decode(t.encode_ids(line)), line);
    }
}

TEST_F(TrainTokenizer, SameResultWhateverTheThreads) {
    std::string words = sample_prose(4, 2000000);
    for (int i = 0; i < 60000; ++i) words += "w" + std::to_string(i) + (i % 9 ? " " : "\n");
    const std::string text = write("prose.txt", words);
    for (const char* recipe : {"gpt2", "t5"}) {
        TokenizerTraining training = training_like(recipe);
        training.vocab_size = 800;
        training.memory_limit = least_training_memory;  // small enough that words are dropped
        std::string first;
        for (const int threads : {1, 2, 5}) {
            set_thread_count(threads);
            TrainingReport report;
            const std::string json =
                Tokenizer(train_tokenizer({text}, training, &report)).to_json();
            EXPECT_GT(report.undercount, 0);
            if (first.empty()) first = json;
            EXPECT_TRUE(json == first) << threads;
        }
        set_thread_count(0);
    }
}

TEST_F(TrainTokenizer, WrongWishesAreUsageErrors) {
    const std::string text = sample(20);
    const auto refused = [&](auto&& change) {
        TokenizerTraining training = training_like("bert-uncased");
        change(training);
        try {
            train_tokenizer({text}, training);
        } catch (const Error& e) {
            EXPECT_FALSE(e.hint().empty());
            return e.kind();
        }
        return ErrorKind::failed;
    };
    EXPECT_EQ(refused([](auto& t) { t.vocab_size = 5; }), ErrorKind::usage);
    EXPECT_EQ(refused([](auto& t) { t.memory_limit = 1 << 20; }), ErrorKind::usage);
    EXPECT_EQ(refused([](auto& t) { t.unk_token = "[NONE]"; }), ErrorKind::usage);
    EXPECT_EQ(refused([](auto& t) { t.unk_token = ""; }), ErrorKind::usage);
    EXPECT_EQ(refused([](auto& t) { t.special_tokens.push_back(t.special_tokens[0]); }),
              ErrorKind::usage);
    EXPECT_THROW(training_like("nobody"), Error);
    EXPECT_THROW(train_tokenizer({write("empty.txt", "\n\n")}, training_like("bert-uncased")),
                 Error);
}

TEST_F(TrainTokenizer, AsSentencePieceModel) {
    for (const char* recipe : {"t5", "llama"}) {
        SCOPED_TRACE(recipe);
        TokenizerTraining training = training_like(recipe);
        training.vocab_size = 900;
        training.limit_alphabet = 300;
        const TokenizerSpec spec = train_tokenizer({sample(800)}, training);
        const std::string bytes = write_sentencepiece(to_sentencepiece(spec));
        const Tokenizer t = Tokenizer::load(write(std::string(recipe) + ".model", bytes));
        EXPECT_EQ(t.decode(t.encode_ids("the old river", false)), "the old river");
    }
    TokenizerTraining bert = training_like("bert-uncased");
    bert.vocab_size = 500;
    EXPECT_THROW(to_sentencepiece(train_tokenizer({sample(100)}, bert)), Error);
}

}  // namespace
}  // namespace fovea
