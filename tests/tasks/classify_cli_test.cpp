// Classification through the real binary: train, resume, eval, predict, and what can go wrong.
#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/base/rng.h"
#include "fovea/io/test_folder.h"
#include "fovea/tasks/model_folder.h"
#include "fovea/text/train/vocabulary_recipe.h"
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

// A folder of another task, as pretraining leaves it: a body, its own head, a tokenizer.
void save_pretrained_bert(const std::string& path) {
    const TextEncoderEntry& entry = text_encoder_named("bert");
    ModelFolder f;
    f.tokenizer = f.target_tokenizer = std::make_shared<const Tokenizer>(
        train_vocabulary(std::vector<std::string>{"ba ke mi lu po ra zo"},
                         {.kind = VocabularyKind::words, .frame = entry.tokens}));
    EncoderChoice choice{.preset = "tiny", .layers = 1, .width = 32, .ffn = 48, .heads = 2};
    choice.vocabulary = static_cast<int>(f.tokenizer->vocab_size());
    f.config = entry.new_config(choice);
    name_architecture(f.config, Head::words_and_next);
    ParameterStore store;
    Rng rng(3);
    entry.make(f.config, "config", {Head::words_and_next}, Params(store, rng));
    f.save(path, store, entry.rules(), false);
}

TEST(ClassifyCli, FineTunesAPretrainedFolderAndResumesToTheSameBits) {
    const TestFolder folder;
    save_pretrained_bert(folder / "bert");
    write_file_atomically(folder / "train.tsv", table(300, 1, "text\tlabel\n"));
    const auto tune = [&](const std::string& out, std::vector<std::string> more) {
        std::vector<std::string> words = {
            "train",        "--task",        "classify",     folder / "train.tsv",
            "--from",       folder / "bert", "--out",        folder / out,
            "--lr",         "0.005",         "--seed",       "3",
            "--max-tokens", "256",           "--save-every", "5",
            "--schedule",   "constant",      "--warmup",     "0"};
        words.insert(words.end(), more.begin(), more.end());
        return fovea(words);
    };
    const Outcome whole = tune("whole", {"--steps", "60"});
    ASSERT_EQ(whole.code, 0) << whole.err;
    EXPECT_NE(whole.err.find("new: classifier.weight, classifier.bias; left: cls."),
              std::string::npos)
        << whole.err;
    const Outcome answer = fovea({"classify", folder / "whole"}, {.input = "ba zo ke\nba ke\n"});
    EXPECT_TRUE(answer.out.starts_with("with\t")) << answer.out << answer.err;
    ASSERT_EQ(tune("parts", {"--steps", "30"}).code, 0);
    const Outcome o = fovea({"train", "--out", folder / "parts", "--resume", "--steps", "60"});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(read_file(folder / "whole/step-0000000060/model.safetensors"),
              read_file(folder / "parts/step-0000000060/model.safetensors"));

    // a classifier is gone on with: its head stays, and its labels are those of the data
    const Outcome on = fovea({"train", "--task", "classify", folder / "train.tsv", "--from",
                              folder / "whole", "--out", folder / "on", "--steps", "3"});
    EXPECT_EQ(on.code, 0) << on.err;
    EXPECT_NE(on.err.find("goes on from"), std::string::npos) << on.err;
    const Outcome verb = fovea({"classify", folder / "bert"}, {.input = "ba\n"});
    EXPECT_EQ(verb.code, 2);
    EXPECT_NE(verb.err.find("--task classify --from"), std::string::npos) << verb.err;
    // dropout is a choice of training, not of the model
    ASSERT_EQ(tune("plain", {"--steps", "5"}).code, 0);
    ASSERT_EQ(tune("dropped", {"--steps", "5", "--dropout", "0.25"}).code, 0);
    const Json config = read_json(folder / "dropped/model/config.json");
    EXPECT_NEAR(config["hidden_dropout_prob"].get<double>(), 0.25, 1e-6);
    EXPECT_NEAR(config["attention_probs_dropout_prob"].get<double>(), 0.25, 1e-6);
    EXPECT_NE(read_file(folder / "dropped/step-0000000005/model.safetensors"),
              read_file(folder / "plain/step-0000000005/model.safetensors"));
    const Outcome sizes = tune("sizes", {"--layers", "2"});
    EXPECT_EQ(sizes.code, 2);
    EXPECT_NE(sizes.err.find("--layers has no effect"), std::string::npos) << sizes.err;
}

// Do both texts have the mark, or neither?
std::string pairs_table(int count, std::uint64_t seed) {
    Rng rng(seed);
    std::string text = "first\tsecond\tlabel\n";
    for (int i = 0; i < count; ++i) {
        const bool a = rng.below(2), b = rng.below(2);
        text += std::string(a ? "zo" : "ba") + "\t" + (b ? "zo" : "ba") + "\t" +
                (a == b ? "same" : "other") + "\n";
    }
    return text;
}

TEST(ClassifyCli, PairsOfTextsAreJudgedTogether) {
    const TestFolder folder;
    write_file_atomically(folder / "train.tsv", pairs_table(200, 1));
    write_file_atomically(folder / "test.tsv", pairs_table(40, 2));
    for (const char* model : {"bert", "roberta"}) {
        const Outcome t = fovea(train_words(
            folder / "train.tsv", folder / model,
            {"--model", model, "--text", "first", "--text", "second", "--steps", "150"}));
        ASSERT_EQ(t.code, 0) << t.err;
        const Outcome e = fovea({"eval", folder / model, "--test", folder / "test.tsv", "--text",
                                 "first", "--text", "second", "--json"});
        ASSERT_EQ(e.code, 0) << e.err;
        EXPECT_GE(parse_json(e.out, "eval")["value"].get<double>(), 95.0) << model << e.out;
        const Outcome p = fovea({"classify", folder / model, folder / "test.tsv", "--text-column",
                                 "first", "--text-column", "second", "--format", "tsv"});
        ASSERT_EQ(p.code, 0) << p.err;
        EXPECT_TRUE(p.out.starts_with("first\tsecond\tlabel\t")) << p.out.substr(0, 80);
    }
    const Outcome no =
        fovea(train_words(folder / "train.tsv", folder / "no",
                          {"--model", "transformer", "--text", "first", "--text", "second"}));
    EXPECT_EQ(no.code, 3);
    EXPECT_NE(no.err.find("no token that parts them"), std::string::npos) << no.err;
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
