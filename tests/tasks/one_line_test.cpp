// One line to a result: the task guessed from the file, and --autotune, through the real binary.
#include <gtest/gtest.h>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/io/test_folder.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

std::string reviews(int count) {
    const char* const good[] = {"fine", "lovely", "great"};
    const char* const bad[] = {"dull", "awful", "boring"};
    std::string text = "id,review,sentiment\n";
    for (int i = 0; i < count; ++i)
        text += std::to_string(i) + ",film " + std::to_string(i * 7 % 11) + " was " +
                (i % 2 ? good : bad)[i % 3] + (i % 2 ? ",pos\n" : ",neg\n");
    return text;
}

const std::vector<std::string> small = {"--layers", "1", "--d-model", "16", "--heads", "1"};

Outcome train(const std::string& file, const std::string& out, std::vector<std::string> more) {
    std::vector<std::string> words = {"train", file, "--out", out};
    words.insert(words.end(), small.begin(), small.end());
    words.insert(words.end(), more.begin(), more.end());
    return fovea(words);
}

TEST(OneLine, TheTaskIsGuessedAndTold) {
    const TestFolder folder;
    write_file_atomically(folder / "reviews.csv", reviews(80));
    const Outcome t = train(folder / "reviews.csv", folder / "run", {"--steps", "2"});
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(t.err.find("task: classify ("), std::string::npos) << t.err;
    EXPECT_NE(t.err.find("its column 'sentiment' has 2 values)   change with --task"),
              std::string::npos);
    EXPECT_EQ(fovea({"train", "--out", folder / "run", "--resume", "--steps", "3"}).code, 0);
    // A flag of pairs alone says that they are pairs.
    const Outcome pairs = fovea({"train", folder / "reviews.csv", "--source-key", "review",
                                 "--target-key", "sentiment", "--steps", "1", "--dry-run"});
    EXPECT_EQ(pairs.code, 0) << pairs.err;
    EXPECT_EQ(pairs.err.find("task: classify"), std::string::npos);
}

// Files as people have them, with no other flag than where to put the run.
TEST(OneLine, FormsThatLabelsComeIn) {
    const TestFolder folder;
    struct Form {
        const char *name, *head, *row;  // {L}: the label, {T}: the text
        const char* told;
    };
    const Form forms[] = {
        {"trec.label", "", "{L}:kind {T}\n", "each line has its label in it"},
        {"fast.txt", "", "__label__{L} {T}\n", "each line has its label in it"},
        {"behind.txt", "", "{T};{L}\n", "each line has its label in it"},
        {"SpamCollection", "", "{L}\t{T}\n", "few different values in a column"},
        {"unknown.csv", "Zeile,Art\n", "{T},{L}\n", "few different values in a column"},
        {"excel.csv", "text;label\n", "{T};{L}\n", "its column 'label' has 2 values"},
        {"sheet.csv", "v1,v2,,\n", "{L},\"{T}\",,\n", "few different values in a column"},
        {"cola.tsv", "", "gj04\t{L}\t\t{T}\n", "few different values in a column"},
        {"endings.csv", "id_str,film_sentiment,review_text\n", "i7,{L},{T}\n",
         "its column 'film_sentiment' has 2 values"},
    };
    for (const Form& form : forms) {
        std::string text = form.head;
        for (int i = 0; i < 240; ++i) {
            std::string row = form.row;
            row.replace(row.find("{L}"), 3, i % 2 ? "GOOD" : "BAD");
            row.replace(row.find("{T}"), 3,
                        "film number " + std::to_string(i) + (i % 2 ? " was fine" : " was dull"));
            text += row;
        }
        write_file_atomically(folder / form.name, text);
        const Outcome t = fovea({"train", folder / form.name, "--out", folder / "run", "--force",
                                 "--epochs", "3", "--threads", "1"});
        ASSERT_EQ(t.code, 0) << form.name << ": " << t.err;
        EXPECT_NE(t.err.find("task: classify (" + (folder / form.name) + ": " + form.told),
                  std::string::npos)
            << t.err;
        EXPECT_NE(t.err.find("228 training records, 2 labels: BAD"), std::string::npos) << t.err;
        const Outcome e = fovea({"eval", folder / "run", "--test", folder / form.name, "--require",
                                 "accuracy=95", "--threads", "1"});
        EXPECT_EQ(e.code, 0) << form.name << ": " << e.out << e.err;
    }
}

// Two texts a record are judged together, by a model that can part them.
TEST(OneLine, PairsOfTexts) {
    const TestFolder folder;
    std::string text = "premise,hypothesis,label\n";
    for (int i = 0; i < 60; ++i)
        text += "cat " + std::to_string(i % 7) +
                (i % 2 ? " rests,a cat rests,yes\n" : " rests,a cat runs,no\n");
    write_file_atomically(folder / "pairs.csv", text);
    const Outcome t = fovea(
        {"train", folder / "pairs.csv", "--out", folder / "run", "--steps", "2", "--threads", "1"});
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(t.err.find("model: bert   change with --model"), std::string::npos) << t.err;
    const Outcome p = fovea({"classify", folder / "run", folder / "pairs.csv", "--format", "tsv"});
    EXPECT_TRUE(p.out.starts_with("premise\thypothesis\tlabel\tpredicted_label\tprobability\n"))
        << p.out << p.err;
}

// Twelve records cannot tell thirty models apart: the luckiest would be kept, often an early one.
TEST(OneLine, AHandfulOfHeldOutRecordsChoosesNoModel) {
    const TestFolder folder;
    write_file_atomically(folder / "reviews.csv", reviews(240));
    const Outcome t = train(folder / "reviews.csv", folder / "run", {"--epochs", "4"});
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(
        t.err.find("held-out records are too few to choose a model by, so the last one is kept"),
        std::string::npos)
        << t.err;
    const auto saved_step = [](const std::string& err) {
        const std::string mark = "/model: step ";
        return std::stoll(err.substr(err.find(mark) + mark.size()));
    };
    const auto updates = [](const std::string& err) {
        const std::string mark = "done after ";
        return std::stoll(err.substr(err.find(mark) + mark.size()));
    };
    EXPECT_EQ(saved_step(t.err), updates(t.err)) << t.err;
    const Outcome chosen =
        train(folder / "reviews.csv", folder / "chosen", {"--epochs", "4", "--patience", "50"});
    ASSERT_EQ(chosen.code, 0) << chosen.err;
    EXPECT_EQ(chosen.err.find("too few to choose"), std::string::npos) << chosen.err;
}

// A type of entity that only one sentence has is not held out, and a text without paragraphs is
// learned from without next sentences.
TEST(OneLine, RareTypesAndOneDocumentAreNoErrors) {
    const TestFolder folder;
    std::string words;
    for (int i = 0; i < 260; ++i)
        words += "Anna" + std::to_string(i) + "\tB-t" + std::to_string(i) + "\nsleeps\tO\n\n";
    write_file_atomically(folder / "rare.conll", words);
    const Outcome t = train(folder / "rare.conll", folder / "tags", {"--steps", "1"});
    EXPECT_EQ(t.code, 0) << t.err;
    std::string lines;
    for (int i = 0; i < 300; ++i) lines += "line " + std::to_string(i * 7 % 50) + " of a text\n";
    write_file_atomically(folder / "text.txt", lines);
    const Outcome p = train(folder / "text.txt", folder / "text", {"--steps", "2"});
    EXPECT_EQ(p.code, 0) << p.err;
    EXPECT_NE(p.err.find("objective: mlm, since 1 document is too few"), std::string::npos)
        << p.err;
    const Outcome asked =
        train(folder / "text.txt", folder / "asked", {"--steps", "2", "--objective", "mlm-nsp"});
    EXPECT_EQ(asked.code, 3) << asked.err;
}

TEST(OneLine, AutotuneTriesAndKeepsTheBest) {
    const TestFolder folder;
    write_file_atomically(folder / "reviews.csv", reviews(240));
    const auto tune = [&](const std::string& out, const std::string& threads) {
        return train(folder / "reviews.csv", folder / out,
                     {"--autotune", "1", "--try-updates", "6", "--steps", "8", "--preset", "tiny",
                      "--model", "transformer", "--threads", threads});
    };
    const Outcome first = tune("a", "1");
    ASSERT_EQ(first.code, 0) << first.err;
    // Sizes, preset and model are given: rates and dropout are left to try.
    EXPECT_NE(first.err.find("autotune: 5 tries of 6 updates"), std::string::npos) << first.err;
    const Json told = read_json(folder / "a/autotune.json");
    ASSERT_EQ(told["tries"].size(), 5u);
    EXPECT_FALSE(file_exists(folder / "a/tries"));
    const Json best = told["tries"][told["best"].get<std::size_t>()];
    for (const Json& one : told["tries"])
        EXPECT_LE(one["accuracy"].get<double>(), best["accuracy"].get<double>());
    const std::string config = read_file(folder / "a/config.toml");
    for (const auto& [name, value] : best["settings"].items())
        EXPECT_NE(config.find(name + " = " + value.get<std::string>()), std::string::npos)
            << config;
    ASSERT_EQ(tune("b", "2").code, 0);
    EXPECT_EQ(read_file(folder / "a/model/model.safetensors"),
              read_file(folder / "b/model/model.safetensors"));
}

TEST(OneLine, AutotuneTriesModelsToo) {
    const TestFolder folder;
    write_file_atomically(folder / "reviews.csv", reviews(240));
    const Outcome t = fovea({"train", folder / "reviews.csv", "--out", folder / "run", "--autotune",
                             "1", "--try-updates", "2", "--steps", "2"});
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(t.err.find("autotune: 9 tries of 2 updates"), std::string::npos) << t.err;
    for (const char* model : {"cnn", "rnn", "transformer"})
        EXPECT_NE(t.err.find(std::string("updates   --model ") + model), std::string::npos)
            << t.err;
}

TEST(OneLine, WrongWishes) {
    const TestFolder folder;
    write_file_atomically(folder / "reviews.csv", reviews(40));
    const auto refused = [&](std::vector<std::string> more, const std::string& says) {
        const Outcome t = train(folder / "reviews.csv", folder / "run", std::move(more));
        EXPECT_EQ(t.code, 2) << t.err;
        EXPECT_NE(t.err.find(says), std::string::npos) << t.err;
    };
    refused({"--try-updates", "5"}, "--try-updates has no effect without --autotune");
    refused({"--autotune", "1", "--dev", "none"}, "--autotune needs records to measure on");
    refused({"--autotune", "1", "--resume"}, "--autotune goes with neither --resume nor --dry-run");
    refused({"--autotune", "1"}, "--autotune has no records to measure on");
    refused({"--autotune", "-1"}, "--autotune");
}

}  // namespace
}  // namespace fovea::test
