// What people get wrong, through the real binary: each is one clear error, with file and line where
// a file is at fault, and with the way out.
#include <gtest/gtest.h>

#include "fovea/base/files.h"
#include "fovea/io/test_folder.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

const std::string good =
    "text\tlabel\nba ke\twith\nmi lu\twithout\npo ra\twith\nba lu\twithout\nke "
    "ke\twith\nra\twithout\n";

struct BadCase {
    const char* name;
    std::string file;                // its name decides the format
    std::string content;             // of the training file
    std::vector<std::string> flags;  // "DEV": the path of a dev file with `dev`
    std::string dev;
    int code;
    std::string says, hint;
};

std::vector<BadCase> bad_cases() {
    const std::string json = "{\"text\": \"ba\", \"label\": \"a\"}\n";
    return {
        {"UnknownLabelInDev",
         "t.tsv",
         good,
         {"--dev", "DEV"},
         "text\tlabel\nba\twith\nke\tperhaps\n",
         3,
         "dev.tsv:3: the label \"perhaps\" was never seen in training",
         "--unknown-label skip"},
        {"MissingColumn",
         "t.tsv",
         good,
         {"--label", "colour"},
         "",
         3,
         "t.tsv:1: there is no column \"colour\"",
         "\"text\", \"label\""},
        {"MissingTextColumn",
         "t.tsv",
         good,
         {"--text", "review"},
         "",
         3,
         "t.tsv:1: there is no column \"review\"",
         "\"text\", \"label\""},
        {"ColumnNumberTooLarge",
         "t.tsv",
         good,
         {"--label", "7"},
         "",
         3,
         "t.tsv:2: 2 columns, but 7 are wanted",
         ""},
        {"ShortRow",
         "t.tsv",
         good + "alone\n",
         {},
         "",
         3,
         "t.tsv:8: 1 column, but 2 are wanted",
         ""},
        {"EmptyLabel", "t.tsv", good + "ba\t \n", {}, "", 3, "t.tsv:8: the label is empty", ""},
        {"EmptyLine", "t.tsv", good + "\nba\twith\n", {}, "", 3, "t.tsv:8: the line is empty", ""},
        {"OneClass",
         "t.tsv",
         "text\tlabel\nba\tx\nke\tx\n",
         {},
         "",
         3,
         "t.tsv:2: all records have the label \"x\"",
         "--label"},
        {"NotUtf8",
         "t.tsv",
         good + "b\xff\twith\n",
         {},
         "",
         3,
         "t.tsv:8: the text is not valid UTF-8",
         ""},
        {"LabelNotUtf8",
         "t.tsv",
         good + "ba\tw\xff\n",
         {},
         "",
         3,
         "t.tsv:8: the label is not valid UTF-8",
         ""},
        {"EmptyFile", "t.tsv", "", {}, "", 3, "t.tsv: holds no text", ""},
        {"HeaderAlone", "t.tsv", "text\tlabel\n", {}, "", 3, "t.tsv: holds no text", ""},
        {"NoFile", "", "", {}, "", 4, "missing.tsv: cannot open", ""},
        {"BrokenJson", "t.jsonl", json + "{\"text\": \n", {}, "", 3, "t.jsonl:2: ", ""},
        {"MixedLabelTypes",
         "t.jsonl",
         json + "{\"text\": \"ke\", \"label\": 3}\n",
         {},
         "",
         3,
         "t.jsonl:2: the label is a number, but text in line 1",
         ""},
        {"LabelIsNull",
         "t.jsonl",
         json + "{\"text\": \"ke\", \"label\": null}\n",
         {},
         "",
         3,
         "t.jsonl:2: no label under \"label\"",
         ""},
        {"LabelIsAnObject",
         "t.jsonl",
         json + "{\"text\": \"ke\", \"label\": {\"a\": 1}}\n",
         {},
         "",
         3,
         "t.jsonl:2: the label is an object",
         ""},
        {"TextIsANumber",
         "t.jsonl",
         json + "{\"text\": 5, \"label\": \"b\"}\n",
         {},
         "",
         3,
         "t.jsonl:2: no text under \"text\"",
         ""},
        {"EmptyList",
         "t.jsonl",
         json + "{\"text\": \"ke\", \"label\": []}\n",
         {},
         "",
         3,
         "t.jsonl:2: the label is empty",
         ""},
        {"UnclosedQuote",
         "t.csv",
         "text,label\nba,with\n\"ke,without\n",
         {},
         "",
         3,
         "t.csv:3: ",
         ""},
        {"ManyLabelsInDev",
         "t.jsonl",
         json + "{\"text\": \"ke\", \"label\": \"b\"}\n",
         {"--dev", "DEVJ"},
         "{\"text\": \"ba\", \"label\": [\"a\", \"b\"]}\n",
         3,
         "dev.jsonl:1: one label is wanted, but there are 2",
         "--multi-label"},
        {"TwoTextsWithoutSeparator",
         "t.tsv",
         "a\tb\tlabel\nba\tke\tx\nmi\tlu\ty\n",
         {"--text", "a", "--text", "b", "--model", "cnn"},
         "",
         3,
         "no token that parts them",
         "--model bert"},
        {"UnknownModel",
         "t.tsv",
         good,
         {"--model", "bort"},
         "",
         2,
         "--model is `bort`",
         "single-head"},
        {"SizeTheModelHasNot",
         "t.tsv",
         good,
         {"--model", "bag", "--heads", "4"},
         "",
         2,
         "--heads has no effect with --model bag",
         "leave out --heads"},
        {"HeadsDoNotDivide",
         "t.tsv",
         good,
         {"--model", "single-head", "--hidden", "10", "--heads", "4"},
         "",
         2,
         "--heads is 4, but --hidden 10",
         "divide --hidden"},
        {"UnknownPooling", "t.tsv", good, {"--pool", "median"}, "", 2, "--pool is `median`", ""},
        {"LabelWordsWithoutQueries",
         "t.tsv",
         good,
         {"--model", "cnn", "--label-words"},
         "",
         2,
         "--label-words: the model has no query for each class",
         "label-query"},
        {"ThresholdsOfOneLabel",
         "t.tsv",
         good,
         {"--tune-thresholds"},
         "",
         2,
         "--tune-thresholds has no effect with one label",
         "--multi-label"},
        {"SmoothingOfSeveral",
         "t.tsv",
         good,
         {"--multi-label", "--smoothing", "0.1"},
         "",
         2,
         "--smoothing has no effect with several labels",
         ""},
        {"UnknownWeights",
         "t.tsv",
         good,
         {"--class-weights", "heavy"},
         "",
         2,
         "--class-weights is `heavy`",
         ""},
        {"UnknownUnknownLabel",
         "t.tsv",
         good,
         {"--unknown-label", "guess"},
         "",
         2,
         "--unknown-label is `guess`",
         ""},
        {"DevOfAnotherForm",
         "t.tsv",
         good,
         {"--dev", "DEV"},
         "only one column\n",
         3,
         "dev.tsv:1: ",
         ""},
        {"FromNowhere", "t.tsv", good, {"--from", "/nowhere/at/all"}, "", 4, "/nowhere/at/all", ""},
        {"DropoutOfEverything", "t.tsv", good, {"--dropout", "1"}, "", 2, "--dropout is `1`", ""},
    };
}

class ClassifyBadInput : public testing::TestWithParam<BadCase> {};

TEST_P(ClassifyBadInput, IsOneClearError) {
    const BadCase& c = GetParam();
    const TestFolder folder;
    const std::string train = folder / (c.file.empty() ? "missing.tsv" : c.file);
    if (!c.file.empty()) write_file_atomically(train, c.content);
    std::vector<std::string> words = {"train", "--task",       "classify", train,
                                      "--out", folder / "run", "--steps",  "2"};
    for (const std::string& flag : c.flags) {
        const bool dev = flag == "DEV" || flag == "DEVJ";
        const std::string path = folder / (flag == "DEVJ" ? "dev.jsonl" : "dev.tsv");
        if (dev) write_file_atomically(path, c.dev);
        words.push_back(dev ? path : flag);
    }
    const Outcome o = fovea(words);
    EXPECT_EQ(o.code, c.code) << o.err;
    EXPECT_NE(o.err.find(c.says), std::string::npos) << c.says << "\n" << o.err;
    EXPECT_NE(o.err.find(c.hint), std::string::npos) << c.hint << "\n" << o.err;
    EXPECT_EQ(o.err.find("error:"), o.err.rfind("error:")) << o.err;  // one, and no more
    EXPECT_FALSE(file_exists(folder / "run/model")) << "a model came out";
}

INSTANTIATE_TEST_SUITE_P(All, ClassifyBadInput, testing::ValuesIn(bad_cases()),
                         [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace fovea::test
