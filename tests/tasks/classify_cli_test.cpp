// Classification through the real binary: train, resume, eval, predict, and what can go wrong.
#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/base/rng.h"
#include "fovea/io/test_folder.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

// Texts of made-up words; those with "zo" in them are of the one class.
std::string table(int count, std::uint64_t seed, const char* header) {
    Rng rng(seed);
    const char* const words[] = {"ba", "ke", "mi", "lu", "po", "ra"};
    std::string text = header;
    for (int i = 0; i < count; ++i) {
        std::string line;
        const int length = 3 + static_cast<int>(rng.below(6)),
                  mark = static_cast<int>(rng.below(2));
        const int at = static_cast<int>(rng.below(length));
        for (int k = 0; k < length; ++k)
            line += std::string(k ? " " : "") + (mark && k == at ? "zo" : words[rng.below(6)]);
        text += line + "\t" + (mark ? "with" : "without") + "\n";
    }
    return text;
}

std::vector<std::string> train_words(const std::string& data, const std::string& out,
                                     std::vector<std::string> more = {}) {
    std::vector<std::string> words = {
        "train",    "--task", "classify",     data,  "--out", out,     "--preset", "tiny",
        "--layers", "1",      "--d-model",    "32",  "--ffn", "48",    "--heads",  "2",
        "--vocab",  "words",  "--max-tokens", "256", "--lr",  "0.005", "--seed",   "3"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

TEST(ClassifyCli, TrainsMeasuresAndAnswers) {
    const TestFolder folder;
    write_file_atomically(folder / "train.tsv", table(600, 1, "review\tverdict\n"));
    write_file_atomically(folder / "test.tsv", table(100, 2, "review\tverdict\n"));
    const Outcome t = fovea(train_words(folder / "train.tsv", folder / "run", {"--epochs", "12"}));
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(t.err.find("verdict"), std::string::npos) << t.err;  // says what it guessed
    EXPECT_NE(t.err.find("held out"), std::string::npos) << t.err;
    EXPECT_NE(t.err.find("accuracy"), std::string::npos) << t.err;

    const Outcome e = fovea({"eval", folder / "run", "--test", folder / "test.tsv", "--json"});
    ASSERT_EQ(e.code, 0) << e.err;
    const Json j = parse_json(e.out, "eval");
    EXPECT_EQ(j["task"], "classify");
    EXPECT_EQ(j["metric"], "accuracy");
    EXPECT_GE(j["value"].get<double>(), 95.0) << e.out;
    EXPECT_TRUE(j["figures"].contains("macro_f1"));

    const Outcome text =
        fovea({"classify", folder / "run/model"}, {.input = "ba ke zo\nba ke mi\n"});
    ASSERT_EQ(text.code, 0) << text.err;
    EXPECT_TRUE(text.out.starts_with("with\t")) << text.out;
    EXPECT_NE(text.out.find("\nwithout\t"), std::string::npos) << text.out;
    // `predict` is the same; one line alone gives what it gives among others
    EXPECT_EQ(fovea({"predict", folder / "run"}, {.input = "ba ke zo\nba ke mi\n"}).out, text.out);
    EXPECT_EQ(fovea({"predict", folder / "run"}, {.input = "ba ke mi\n"}).out,
              text.out.substr(text.out.find('\n') + 1));
    // a table keeps its columns
    const Outcome tsv = fovea({"classify", folder / "run", folder / "test.tsv", "--format", "tsv"});
    EXPECT_TRUE(tsv.out.starts_with("review\tverdict\tlabel\tprobability\n"))
        << tsv.out.substr(0, 80);
    const Json line = parse_json(
        fovea({"classify", folder / "run", "--format", "jsonl"}, {.input = "zo\n"}).out, "answer");
    EXPECT_EQ(line["label"], "with");
    EXPECT_EQ(line["probabilities"].size(), 2u);
    // other verbs say what the model is for
    const Outcome wrong = fovea({"translate", folder / "run"}, {.input = "x\n"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_NE(wrong.err.find("fovea classify"), std::string::npos) << wrong.err;
}

TEST(ClassifyCli, AnInterruptedRunResumesToTheSameBits) {
    const TestFolder folder;
    write_file_atomically(folder / "train.tsv", table(300, 1, "text\tlabel\n"));
    const auto run = [&](const std::string& out, std::vector<std::string> more) {
        more.insert(more.end(), {"--save-every", "5", "--dropout", "0.2"});
        const Outcome o = fovea(train_words(folder / "train.tsv", folder / out, more));
        EXPECT_EQ(o.code, 0) << o.err;
    };
    run("whole", {"--steps", "20", "--schedule", "constant", "--warmup", "0"});
    run("parts", {"--steps", "10", "--schedule", "constant", "--warmup", "0"});
    const Outcome o = fovea({"train", "--out", folder / "parts", "--resume", "--steps", "20"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.err.find("changed settings: steps"), std::string::npos) << o.err;
    for (const char* file : {"/step-0000000020/model.safetensors"})
        EXPECT_EQ(read_file(folder / "whole" + file), read_file(folder / "parts" + file));
    const Outcome one =
        fovea(train_words(folder / "train.tsv", folder / "one",
                          {"--steps", "20", "--schedule", "constant", "--warmup", "0",
                           "--save-every", "5", "--dropout", "0.2", "--threads", "1"}));
    ASSERT_EQ(one.code, 0) << one.err;
    EXPECT_EQ(read_file(folder / "whole/step-0000000020/model.safetensors"),
              read_file(folder / "one/step-0000000020/model.safetensors"));
}

TEST(ClassifyCli, AveragesItsCheckpoints) {
    const TestFolder folder;
    write_file_atomically(folder / "train.tsv", table(200, 1, "text\tlabel\n"));
    ASSERT_EQ(fovea(train_words(folder / "train.tsv", folder / "run",
                                {"--steps", "12", "--save-every", "4"}))
                  .code,
              0);
    const Outcome a = fovea({"average", folder / "run", "--last", "3", "--out", folder / "mean"});
    ASSERT_EQ(a.code, 0) << a.err;
    EXPECT_EQ(fovea({"classify", folder / "mean"}, {.input = "ba\n"}).code, 0);
}

TEST(ClassifyCli, BadInputIsOneClearError) {
    const TestFolder folder;
    const auto refused = [&](const std::string& train, std::vector<std::string> more, int code,
                             const std::string& says) {
        write_file_atomically(folder / "t.tsv", train);
        more.push_back("--force");
        const Outcome o = fovea(train_words(folder / "t.tsv", folder / "bad", more));
        EXPECT_EQ(o.code, code) << o.err;
        EXPECT_NE(o.err.find(says), std::string::npos) << says << "\n" << o.err;
    };
    const std::string good = table(50, 1, "text\tlabel\n");
    refused("text\tlabel\nba\twith\nke\twith\n", {}, 3, "at least two labels");
    refused(good, {"--label", "colour"}, 3, "colour");
    write_file_atomically(folder / "dev.tsv", "text\tlabel\nba\twith\nke\tperhaps\n");
    refused(good, {"--dev", folder / "dev.tsv"}, 3, "dev.tsv:3: the label \"perhaps\"");
    refused(good, {"--heads", "3"}, 2, "--heads");
    refused(good, {"--dropout", "1"}, 2, "--dropout is `1`");
    refused(good, {"--pool", "median"}, 2, "--pool is `median`");
    refused(good, {"--model", "bort"}, 2, "--model is `bort`");
    refused(good, {"--metric", "bleu"}, 2, "--metric is `bleu`");
    refused(good, {"--patience", "2", "--dev", "none"}, 2, "--patience has no effect");
    EXPECT_EQ(fovea({"train", "--task", "knit", folder / "t.tsv"}).code, 2);
}

TEST(ClassifyCli, EveryPoolingTrains) {
    const TestFolder folder;
    write_file_atomically(folder / "train.tsv", table(60, 1, "text\tlabel\n"));
    for (const char* pool : {"first", "last", "mean", "max", "attention", "positions", "queries"}) {
        const Outcome o = fovea(train_words(folder / "train.tsv", folder / pool,
                                            {"--pool", pool, "--steps", "3", "--dev", "none"}));
        EXPECT_EQ(o.code, 0) << pool << "\n" << o.err;
        EXPECT_EQ(fovea({"classify", folder / pool}, {.input = "ba zo\n"}).code, 0) << pool;
    }
}

TEST(ClassifyCli, HelpShowsTheTasksFlags) {
    const Outcome c = fovea({"train", "--task", "classify", "--help"});
    EXPECT_EQ(c.code, 0);
    EXPECT_NE(c.out.find("--pool"), std::string::npos);
    EXPECT_NE(c.out.find("data flags:"), std::string::npos) << c.out;
    EXPECT_NE(c.out.find("model flags:"), std::string::npos);
    EXPECT_NE(c.out.find("run flags:"), std::string::npos);
    const Outcome t = fovea({"train", "--task", "translate", "--help-all"});
    EXPECT_EQ(t.out.find("--pool"), std::string::npos);
    EXPECT_NE(t.out.find("--encoder-layers"), std::string::npos);
}

}  // namespace
}  // namespace fovea::test
