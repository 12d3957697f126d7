// Every architecture of `classify` through the real binary, and what the task can do beside one
// label for each text.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/base/rng.h"
#include "fovea/io/test_folder.h"
#include "fovea/models/text_encoder.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

// Texts of made-up words; each of two marks stands for a label of its own.
struct MarkedText {
    std::string text;
    bool zo = false, xi = false;
};

std::vector<MarkedText> marked_texts(int count, std::uint64_t seed) {
    Rng rng(seed);
    const char* const words[] = {"ba", "ke", "mi", "lu", "po", "ra"};
    std::vector<MarkedText> all;
    for (int i = 0; i < count; ++i) {
        MarkedText t;
        const int length = 2 + static_cast<int>(rng.below(5));
        for (int k = 0; k < length; ++k) t.text += std::string(k ? " " : "") + words[rng.below(6)];
        t.zo = rng.below(2) == 1;
        t.xi = rng.below(3) == 1;
        if (t.zo) t.text += " zo";
        if (t.xi) t.text += " xi";
        t.text += std::string(" ") + words[rng.below(6)];
        all.push_back(t);
    }
    return all;
}

std::string one_label_table(int count, std::uint64_t seed) {
    std::string text = "text\tlabel\n";
    for (const MarkedText& t : marked_texts(count, seed))
        text += t.text + "\t" + (t.zo ? "with" : "without") + "\n";
    return text;
}

std::string labels_table(int count, std::uint64_t seed) {
    std::string text = "text\tlabels\n";
    for (const MarkedText& t : marked_texts(count, seed))
        text += t.text + "\t" + (t.zo ? "zo" : "") + (t.zo && t.xi ? ";" : "") +
                (t.xi ? "xi" : "") + "\n";
    return text;
}

Outcome train(const std::string& data, const std::string& out, std::vector<std::string> more) {
    std::vector<std::string> words = {"train", "--task", "classify", data,
                                      "--out", out,      "--seed",   "3"};
    words.insert(words.end(), more.begin(), more.end());
    return fovea(words);
}

class ClassifyModels : public testing::TestWithParam<std::string> {
protected:
    std::vector<std::string> sizes() const {
        const std::string known = " " + std::string(text_encoder_named(GetParam()).sizes) + " ";
        const bool deep = known.find(" layers ") != std::string::npos;
        std::vector<std::string> words{"--model", GetParam(), "--lr", deep ? "0.003" : "0.01"};
        for (const auto& [flag, value] : {std::pair{"layers", "1"},
                                          {"d-model", "16"},
                                          {"ffn", "24"},
                                          {"heads", "2"},
                                          {"hidden", "16"}})
            if (known.find(" " + std::string(flag) + " ") != std::string::npos)
                words.insert(words.end(), {std::string("--") + flag, value});
        return words;
    }
};

TEST_P(ClassifyModels, LearnsAndResumesToTheSameBitsForAnyThreads) {
    const TestFolder folder;
    write_file_atomically(folder / "train.tsv", one_label_table(240, 1));
    const auto run = [&](const std::string& out, std::vector<std::string> more) {
        std::vector<std::string> words = sizes();
        words.insert(words.end(), {"--save-every", "30", "--schedule", "constant", "--warmup", "0",
                                   "--dropout", "0.1", "--max-records", "16"});
        words.insert(words.end(), more.begin(), more.end());
        const Outcome o = train(folder / "train.tsv", folder / out, words);
        EXPECT_EQ(o.code, 0) << o.err;
    };
    run("whole", {"--steps", "60", "--threads", "2"});
    run("parts", {"--steps", "30", "--threads", "1"});
    const Outcome o = fovea({"train", "--out", folder / "parts", "--resume", "--steps", "60"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(read_file(folder / "whole/step-0000000060/model.safetensors"),
              read_file(folder / "parts/step-0000000060/model.safetensors"));
    const Outcome e = fovea({"eval", folder / "whole", "--test", folder / "train.tsv", "--json"});
    ASSERT_EQ(e.code, 0) << e.err;
    // fixed weights cannot find a word that stands anywhere: better than chance is all they are
    EXPECT_GE(parse_json(e.out, "eval")["value"].get<double>(),
              GetParam() == "weighted-sum" ? 60 : 80)
        << GetParam() << e.out;
}

INSTANTIATE_TEST_SUITE_P(All, ClassifyModels, testing::ValuesIn(text_encoder_names()),
                         [](const auto& i) {
                             std::string name = i.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST(ClassifyDefaults, WithoutAModelItIsLinearAndSizesSurviveResuming) {
    const TestFolder folder;
    write_file_atomically(folder / "train.tsv", one_label_table(60, 1));
    const Outcome t = train(folder / "train.tsv", folder / "scores", {"--steps", "2"});
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(t.err.find("model: linear   change with --model"), std::string::npos) << t.err;
    const std::string kept = read_file(folder / "scores/config.toml");
    EXPECT_NE(kept.find("model = \"linear\""), std::string::npos) << kept;
    EXPECT_NE(kept.find("adam-eps = 1\n"), std::string::npos) << kept;
    ASSERT_EQ(train(folder / "train.tsv", folder / "one",
                    {"--model", "single-head", "--hidden", "12", "--steps", "2"})
                  .code,
              0);
    for (const char* steps : {"4", "6"}) {
        const Outcome o = fovea({"train", "--out", folder / "one", "--resume", "--steps", steps});
        EXPECT_EQ(o.code, 0) << o.err;
    }
    EXPECT_NE(read_file(folder / "one/config.toml").find("hidden = 12"), std::string::npos);
}

TEST(ClassifyTutorial, ThreeWordsAndTwoClassesAreLearntByHeart) {
    const TestFolder folder;
    write_file_atomically(folder / "words.tsv",
                          "correct\tgood\nsalute\tneutral\nincorrect\tneutral\n");
    const Outcome t =
        train(folder / "words.tsv", folder / "run",
              {"--model", "single-head", "--d-model", "5", "--hidden", "10", "--vocab",
               "characters", "--lr", "0.01", "--epochs", "200", "--label", "2"});
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(t.err.find("warning: 3 records are too few to hold some out"), std::string::npos)
        << t.err;
    EXPECT_NE(t.err.find("warning: the label \"good\" is seen only once"), std::string::npos)
        << t.err;
    const Outcome e =
        fovea({"eval", folder / "run", "--test", folder / "words.tsv", "--label", "2"});
    EXPECT_EQ(e.code, 0) << e.err;
    EXPECT_NE(e.out.find("= 100.00"), std::string::npos) << e.out;
}

TEST(ClassifyTutorial, TheExampleReachesThreeOfThree) {
    const std::string bin = std::filesystem::path(FOVEA_BINARY).parent_path().string();
    const Outcome o = run({bin + "/example_single_head"});
    EXPECT_EQ(o.code, 0) << o.out;
    EXPECT_NE(o.out.find("3 of 3"), std::string::npos) << o.out;
}

TEST(ClassifySeveral, AnyNumberOfLabelsIsLearntMeasuredAndWritten) {
    const TestFolder folder;
    write_file_atomically(folder / "train.tsv", labels_table(500, 1));
    write_file_atomically(folder / "test.tsv", labels_table(60, 2));
    const Outcome t = train(folder / "train.tsv", folder / "run",
                            {"--model", "cnn", "--d-model", "16", "--hidden", "16",
                             "--label-separator", ";", "--epochs", "12", "--tune-thresholds"});
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(t.err.find("2 labels, any number of them a text: xi ("), std::string::npos) << t.err;
    const Outcome e = fovea({"eval", folder / "run", "--test", folder / "test.tsv",
                             "--label-separator", ";", "--json"});
    ASSERT_EQ(e.code, 0) << e.err;
    const Json j = parse_json(e.out, "eval");
    EXPECT_EQ(j["metric"], "micro_f1");
    EXPECT_GE(j["value"].get<double>(), 90) << e.out;
    EXPECT_EQ(read_json(folder / "run/model/config.json")["thresholds"].size(), 2u);
    const Outcome p = fovea({"classify", folder / "run", "--format", "jsonl"},
                            {.input = "ba zo ke xi mi\nba ke mi\n"});
    ASSERT_EQ(p.code, 0) << p.err;
    const std::size_t line = p.out.find('\n');
    EXPECT_EQ(parse_json(p.out.substr(0, line), "p")["labels"].size(), 2u) << p.out;
    EXPECT_TRUE(parse_json(p.out.substr(line + 1), "p")["labels"].empty()) << p.out;
    // all at threshold 0, none at 1
    EXPECT_EQ(
        parse_json(fovea({"classify", folder / "run", "--format", "jsonl", "--threshold", "0"},
                         {.input = "ba\n"})
                       .out,
                   "p")["labels"]
            .size(),
        2u);
    EXPECT_TRUE(
        parse_json(fovea({"classify", folder / "run", "--format", "jsonl", "--threshold", "1"},
                         {.input = "ba\n"})
                       .out,
                   "p")["labels"]
            .empty());
    const Outcome tsv =
        fovea({"classify", folder / "run", "--format", "tsv"}, {.input = "ba zo xi ke\n"});
    EXPECT_NE(tsv.out.find("|"), std::string::npos) << tsv.out;
}

TEST(ClassifySeveral, AJsonListIsSeveral) {
    const TestFolder folder;
    std::string text;
    for (const MarkedText& m : marked_texts(80, 4))
        text += to_text(Json{{"text", m.text},
                             {"labels", m.zo && m.xi ? Json{"zo", "xi"}
                                        : m.zo       ? Json{"zo"}
                                                     : Json{"xi"}}},
                        -1) +
                "\n";
    write_file_atomically(folder / "t.jsonl", text);
    const Outcome t = train(folder / "t.jsonl", folder / "run", {"--model", "bag", "--steps", "3"});
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(t.err.find("any number of them a text"), std::string::npos) << t.err;
}

TEST(ClassifyFiles, AFolderForEachClass) {
    const TestFolder folder;
    int n = 0;
    for (const MarkedText& m : marked_texts(60, 5)) {
        const std::string path = folder / (m.zo ? "data/with" : "data/without");
        make_folders(path);
        write_file_atomically(path + "/" + std::to_string(n++) + ".txt", m.text + "\n");
    }
    const Outcome t = train(folder / "data", folder / "run", {"--model", "bag", "--steps", "5"});
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(t.err.find("2 labels: with ("), std::string::npos) << t.err;
    EXPECT_EQ(fovea({"eval", folder / "run", "--test", folder / "data"}).code, 0);
    make_folders(folder / "data/nothing");
    const Outcome empty =
        train(folder / "data", folder / "none", {"--model", "bag", "--steps", "5"});
    EXPECT_EQ(empty.code, 3);
    EXPECT_NE(empty.err.find("data/nothing: holds no .txt file"), std::string::npos) << empty.err;
}

TEST(ClassifyFiles, ColumnsAreKeptUnknownLabelsSkippedLongTextsJoined) {
    const TestFolder folder;
    write_file_atomically(folder / "train.tsv", one_label_table(120, 1));
    ASSERT_EQ(train(folder / "train.tsv", folder / "run",
                    {"--model", "cnn", "--steps", "4", "--max-length", "8"})
                  .code,
              0);
    write_file_atomically(folder / "in.csv", "id,text,label\n7,ba ke,with\n8,\"lu, po\",perhaps\n");
    const Outcome tsv = fovea({"classify", folder / "run", folder / "in.csv", "--format", "tsv"});
    EXPECT_TRUE(
        tsv.out.starts_with("id\ttext\tlabel\tpredicted_label\tprobability\n7\tba ke\twith\t"))
        << tsv.out;
    const Outcome jsonl =
        fovea({"classify", folder / "run", folder / "in.csv", "--format", "jsonl"});
    EXPECT_EQ(parse_json(jsonl.out.substr(0, jsonl.out.find('\n')), "p")["columns"]["id"], "7")
        << jsonl.out;
    const Outcome wrong = fovea({"eval", folder / "run", "--test", folder / "in.csv"});
    EXPECT_EQ(wrong.code, 3);
    EXPECT_NE(wrong.err.find("in.csv:3: the label \"perhaps\""), std::string::npos) << wrong.err;
    EXPECT_NE(wrong.err.find("--unknown-label skip"), std::string::npos) << wrong.err;
    const Outcome skipped = fovea({"eval", folder / "run", "--test", folder / "in.csv",
                                   "--unknown-label", "skip", "--confusion"});
    EXPECT_EQ(skipped.code, 0) << skipped.err;
    EXPECT_NE(skipped.err.find("1 record has a label that was never seen"), std::string::npos)
        << skipped.err;
    EXPECT_NE(skipped.out.find("calibration_error"), std::string::npos) << skipped.out;
    EXPECT_NE(skipped.out.find("wanted \\ found"), std::string::npos) << skipped.out;
    std::string text;
    for (int i = 0; i < 40; ++i) text += "ba ke ";
    const Outcome windows = fovea({"classify", folder / "run"}, {.input = text + "\n"});
    EXPECT_NE(windows.err.find("1 text was read in overlapping windows of 8 tokens"),
              std::string::npos)
        << windows.err;
    // the same in training, with a word
    write_file_atomically(folder / "long.tsv", one_label_table(30, 1) + text + "\twith\n");
    const Outcome longer = train(folder / "long.tsv", folder / "long",
                                 {"--model", "bag", "--steps", "2", "--max-length", "100"});
    EXPECT_NE(longer.err.find("1 text is longer than 100 tokens"), std::string::npos) << longer.err;
}

TEST(ClassifyFiles, RareLabelsWeighAsMuchAsFrequentOnes) {
    const TestFolder folder;
    std::string text = "text\tlabel\n";
    for (int i = 0; i < 190; ++i) text += "ba ke mi\toften\n";  // the same text: only weights tell
    for (int i = 0; i < 10; ++i) text += "ba ke mi\trare\n";
    write_file_atomically(folder / "t.tsv", text);
    const auto rare = [&](const char* weights) {
        const Outcome t =
            train(folder / "t.tsv", folder / weights,
                  {"--model", "weighted-sum", "--d-model", "8", "--epochs", "30", "--dev", "none",
                   "--class-weights", weights, "--smoothing", "0", "--lr", "0.01"});
        EXPECT_EQ(t.code, 0) << t.err;
        const Outcome p =
            fovea({"classify", folder / weights, "--format", "jsonl"}, {.input = "ba ke mi\n"});
        return parse_json(p.out, "p")["probabilities"]["rare"].get<double>();
    };
    EXPECT_NEAR(rare("none"), 0.05, 0.03);
    EXPECT_NEAR(rare("balanced"), 0.5, 0.12);
}

TEST(ClassifyFiles, ARareLabelAmongSeveralWeighsAsMuchAsItsAbsence) {
    const TestFolder folder;
    std::string text = "text\tlabel\n";
    for (int i = 0; i < 180; ++i) text += "ba ke mi\toften\n";
    for (int i = 0; i < 20; ++i) text += "ba ke mi\toften;rare\n";
    write_file_atomically(folder / "t.tsv", text);
    const auto rare = [&](const char* weights) {
        const Outcome t =
            train(folder / "t.tsv", folder / weights,
                  {"--model", "weighted-sum", "--d-model", "8", "--epochs", "30", "--dev", "none",
                   "--label-separator", ";", "--class-weights", weights, "--lr", "0.01"});
        EXPECT_EQ(t.code, 0) << t.err;
        const Outcome p =
            fovea({"classify", folder / weights, "--format", "jsonl"}, {.input = "ba ke mi\n"});
        return parse_json(p.out, "p")["probabilities"]["rare"].get<double>();
    };
    EXPECT_NEAR(rare("none"), 0.1, 0.04);
    EXPECT_NEAR(rare("balanced"), 0.5, 0.12);
}

}  // namespace
}  // namespace fovea::test
