// Against the reference libraries themselves, on lines that no golden has seen; only where they are
// installed (`ctest -C slow`). The Python is FOVEA_PEER_PYTHON, /opt/peers/venv/bin/python3 or
// python3.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "fovea/base/json.h"
#include "golden_file.h"
#include "tests/run_program.h"

namespace fovea {
namespace {

const std::string root = FOVEA_SOURCE_DIR;

std::string python() {
    if (const char* named = std::getenv("FOVEA_PEER_PYTHON")) return named;
    return file_exists("/opt/peers/venv/bin/python3") ? "/opt/peers/venv/bin/python3" : "python3";
}

int run(const std::string& command) {
    const test::Outcome o = test::run({"/bin/sh", "-c", command});
    if (o.code != 0) std::fputs(o.err.c_str(), stderr);
    return o.code;
}

int tool(const std::string& arguments) {
    return run(python() + " " + root + "/tools/make_tokenizer_goldens.py " + arguments);
}

int fovea_train(const std::string& arguments) {
    return run(std::string(FOVEA_BINARY) + " -q tokenizer train --force " + arguments);
}

class LiveSlow : public testing::Test {
protected:
    void SetUp() override {
        if (run(python() + " -c 'import tokenizers, sentencepiece, numpy' 2>/dev/null") != 0)
            GTEST_SKIP() << "tokenizers and sentencepiece are not installed for " << python();
        make_folders(folder);
    }
    void TearDown() override {
        if (!is_folder(folder)) return;
        for (const std::string& name : list_folder(folder)) unlink((folder + "/" + name).c_str());
        rmdir(folder.c_str());
    }
    std::string write_text(std::uint64_t seed, int lines) const {
        std::string text;
        for (int i = 0; i < lines; ++i) text += sample_line(seed, i) + "\n";
        const std::string path = folder + "/text.txt";
        write_file_atomically(path, text);
        return path;
    }
    const std::string folder = "/tmp/fovea-live-" + std::to_string(getpid());
};

TEST_F(LiveSlow, OtherLinesGiveTheSameToo) {
    const std::uint64_t seed = 99;
    ASSERT_EQ(run(std::string(FOVEA_GOLDEN_LINES) + " 99 > " + folder + "/lines.jsonl"), 0);
    const std::vector<std::string> lines = golden_lines(seed);
    for (const std::string& file : list_folder(root + "/tests/text/tokenizers")) {
        SCOPED_TRACE(file);
        const std::string name = file.substr(0, file.size() - 3);
        write_file_atomically(folder + "/" + name,
                              read_file_or_gzip(root + "/tests/text/tokenizers/" + file));
        ASSERT_EQ(tool("hash " + folder + "/" + name + " " + folder + "/lines.jsonl " + folder +
                       "/hashes"),
                  0);
        const auto wrong =
            compare(Tokenizer::load(folder + "/" + name), GoldenFile(folder + "/hashes"), lines);
        EXPECT_TRUE(wrong.empty()) << report_of(wrong, lines);
    }
}

TEST_F(LiveSlow, TrainedMergesAreThoseOfTokenizers) {
    const std::string text = write_text(31, 20000);
    const std::string ours = folder + "/ours.json", theirs = folder + "/theirs.json";
    for (const char* flags : {"--like gpt2 --vocab-size 3000", "--like gpt2 --vocab-size 8257",
                              "--like roberta --vocab-size 2000",
                              "--like gpt2 --vocab-size 1500 --max-token-length 6"}) {
        SCOPED_TRACE(flags);
        ASSERT_EQ(fovea_train(text + " " + flags + " --out " + ours), 0);
        const bool limited = std::string(flags).find("length") != std::string::npos;
        ASSERT_EQ(tool("train-peer " + ours + " " + text + " " + theirs + (limited ? " 6" : "")),
                  0);
        const Json a = read_json(ours), b = read_json(theirs);
        EXPECT_GT(a["model"]["merges"].size(), 500u);
        EXPECT_TRUE(a["model"]["merges"] == b["model"]["merges"]);
        std::map<std::string, int> x, y;
        for (const auto& [token, id] : a["model"]["vocab"].items()) x[token] = id;
        for (const auto& [token, id] : b["model"]["vocab"].items()) y[token] = id;
        EXPECT_TRUE(x == y);
    }
}

TEST_F(LiveSlow, TrainedWordsAreThoseOfTokenizers) {
    const std::string text = write_text(32, 5000);
    const std::string ours = folder + "/ours.json", theirs = folder + "/theirs.json";
    ASSERT_EQ(fovea_train(text + " --like word --vocab-size 1000 --out " + ours), 0);
    ASSERT_EQ(tool("train-peer " + ours + " " + text + " " + theirs), 0);
    const Json a = read_json(ours), b = read_json(theirs);
    std::map<std::string, int> x, y;
    for (const auto& [token, id] : a["model"]["vocab"].items()) x[token] = id;
    for (const auto& [token, id] : b["model"]["vocab"].items()) y[token] = id;
    EXPECT_TRUE(x == y);
}

// `tokenizers` numbers "##a", "##b" … in the order of a randomly seeded hash table, and breaks ties
// by these numbers, so two of its own runs differ by up to 16 of 2,500 pieces here. (On text with
// more characters than its alphabet may have, two runs of it differ by hundreds: which of the
// rarest characters it takes is as random. So the text is one of few characters.)
TEST_F(LiveSlow, TrainedWordPiecesAreNearlyThoseOfTokenizers) {
    const std::string text = folder + "/prose.txt";
    write_file_atomically(text, sample_prose(33, 2000000));
    const std::string ours = folder + "/ours.json", theirs = folder + "/theirs.json";
    const std::pair<const char*, std::size_t> cases[] = {
        {"--like bert-uncased --vocab-size 2500", 40}, {"--like gpt --vocab-size 2000", 4}};
    for (const auto& [flags, most] : cases) {
        SCOPED_TRACE(flags);
        ASSERT_EQ(fovea_train(text + " " + flags + " --out " + ours), 0);
        ASSERT_EQ(tool("train-peer " + ours + " " + text + " " + theirs), 0);
        const Json a = read_json(ours), b = read_json(theirs);
        std::size_t missing = 0;
        for (const auto& [token, id] : a["model"]["vocab"].items())
            missing += !b["model"]["vocab"].contains(token);
        EXPECT_GE(a["model"]["vocab"].size(), 2000u);
        EXPECT_LE(missing, most);
    }
}

TEST_F(LiveSlow, UnigramPiecesCutTheTextAsWellAsThoseOfSentencePiece) {
    std::string text = folder + "/prose.txt";
    write_file_atomically(text, sample_prose(3, 1500000));
    const std::string ours = folder + "/ours.json", figures = folder + "/figures";
    ASSERT_EQ(fovea_train(text + " --like t5 --vocab-size 2000 --out " + ours), 0);
    ASSERT_EQ(tool("compare-unigram " + ours + " " + text + " > " + figures), 0);
    std::istringstream in(read_file(figures));
    double mine = 0, peer = 0;
    in >> mine >> peer;
    EXPECT_GT(mine, 0);
    EXPECT_LE(mine, peer * 1.01) << "bits a character";
}

}  // namespace
}  // namespace fovea
