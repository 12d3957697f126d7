// fovea compare through the real binary.
#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/io/test_folder.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

std::string labelled(int count, int first) {
    const char* const good[] = {"fine", "lovely", "great"};
    const char* const bad[] = {"dull", "awful", "boring"};
    std::string text = "review\tsentiment\n";
    for (int i = first; i < first + count; ++i)
        text += "the film " + std::to_string(i * 7 % 11) + " was " + (i % 2 ? good : bad)[i % 3] +
                (i % 2 ? "\tpos\n" : "\tneg\n");
    return text;
}

std::string recipe(const TestFolder& folder, const std::string& more = {}) {
    return "[compare]\ntrain = \"" + (folder / "train.tsv") + "\"\ntest = \"" +
           (folder / "test.tsv") +
           "\"\nsteps = 6\nseeds = 2\nlayers = 1\nd-model = 16\nheads = 1\ninputs = [\"the film "
           "was "
           "great\"]\n" +
           more;
}

const std::string two_models =
    "[[model]]\nname = \"mean\"\npool = \"mean\"\n[[model]]\nname = \"max\"\npool = "
    "\"max\"\n";

TEST(Compare, TrainsMeasuresAndWritesOneTable) {
    const TestFolder folder;
    write_file_atomically(folder / "train.tsv", labelled(240, 0));
    write_file_atomically(folder / "test.tsv", labelled(40, 500));
    write_file_atomically(folder / "r.toml", recipe(folder, two_models));
    const std::vector<std::string> words = {"compare", folder / "r.toml", "--out", folder / "out"};
    const Outcome c = fovea(words);
    ASSERT_EQ(c.code, 0) << c.err;
    EXPECT_NE(c.out.find("| mean | "), std::string::npos) << c.out;
    EXPECT_EQ(c.out, read_file(folder / "out/compare.md"));
    const Json j = read_json(folder / "out/compare.json");
    ASSERT_EQ(j["models"].size(), 2u);
    ASSERT_EQ(j["models"][1]["runs"].size(), 2u);
    const Json run = j["models"][1]["runs"][1];
    EXPECT_EQ(run["seed"], 2);
    EXPECT_EQ(run["updates"], 6);
    EXPECT_EQ(run["parts"].size(), 0u);  // two seeds have an interval without them
    EXPECT_GE(run["curve"].size(), 1u);
    for (const char* key : {"noisy", "score", "tokens_per_second", "latency_ms", "memory"})
        EXPECT_TRUE(run.contains(key)) << key;
    const std::string page = read_file(folder / "out/compare.html");
    EXPECT_NE(page.find("<polyline"), std::string::npos);
    EXPECT_NE(page.find("great"), std::string::npos);  // a map's key
    EXPECT_EQ(page.find("http"), std::string::npos);   // nothing is loaded

    // Again: what is there is not trained again, and a run that is missing is.
    std::filesystem::remove_all(folder / "out/max/seed-2");
    const Outcome again = fovea(words);
    ASSERT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(again.err.find("mean, seed 1\n"), std::string::npos) << again.err;
    EXPECT_NE(again.err.find("max, seed 2\n"), std::string::npos) << again.err;
    EXPECT_EQ(read_json(folder / "out/compare.json")["models"][1]["runs"][1]["score"],
              run["score"]);
}

// Rows may have seeds of their own, measure the runs of another row in another way, and have
// further figures and test files beside the score.
TEST(Compare, RowsOfOneTrainingAndColumnsOfTheirOwn) {
    const TestFolder folder;
    write_file_atomically(folder / "train.tsv", labelled(240, 0));
    write_file_atomically(folder / "test.tsv", labelled(40, 500));
    write_file_atomically(folder / "few.tsv", labelled(4, 900));
    const std::string shared =
        "also-test = [\"" + (folder / "few.tsv") + "\"]\ncolumns = [\"macro_f1\"]\n";
    const std::string rows =
        "[[model]]\nname = \"mean\"\npool = \"mean\"\n[[model]]\nname = \"sure\"\n"
        "trained = \"mean\"\nseeds = 1\npredict.threshold = 0.99\n";
    const std::vector<std::string> words = {"compare", folder / "r.toml", "--out", folder / "out"};
    write_file_atomically(folder / "r.toml", recipe(folder, shared + rows));
    const Outcome c = fovea(words);
    ASSERT_EQ(c.code, 0) << c.err;
    EXPECT_NE(c.out.find("| macro_f1 | few.tsv | seeds |"), std::string::npos) << c.out;
    const Json models = read_json(folder / "out/compare.json")["models"];
    ASSERT_EQ(models[0]["runs"].size(), 2u);
    ASSERT_EQ(models[1]["runs"].size(), 1u);
    const Json mean = models[0]["runs"][0], sure = models[1]["runs"][0];
    EXPECT_EQ(mean["parts"].size(), 0u);  // two seeds say how far it scatters
    EXPECT_EQ(sure["parts"].size(), 10u);
    EXPECT_TRUE(sure["also_test"].contains("few.tsv"));
    EXPECT_GT(mean["processor_seconds"], 0);
    EXPECT_EQ(mean["processor_seconds"], sure["processor_seconds"]);  // one training
    EXPECT_FALSE(file_exists(folder / "out/sure/seed-1/model"));
    EXPECT_EQ(sure["curve"], mean["curve"]);

    // What is measured otherwise is measured again, and not trained again.
    write_file_atomically(folder / "r.toml", recipe(folder, "figure = \"macro_f1\"\n" + rows));
    const Outcome other = fovea(words);
    ASSERT_EQ(other.code, 0) << other.err;
    EXPECT_EQ(other.err.find("mean, seed 1\n"), std::string::npos) << other.err;
    const Json again = read_json(folder / "out/compare.json");
    EXPECT_EQ(again["metric"], "macro_f1");
    EXPECT_EQ(again["models"][0]["runs"][0]["score"], mean["figures"]["macro_f1"]);

    // Other settings of training are not answered with the old figures.
    write_file_atomically(folder / "r.toml", recipe(folder, "lr = 0.5\n" + rows));
    const Outcome changed = fovea(words);
    EXPECT_EQ(changed.code, 3) << changed.err;
    EXPECT_NE(changed.err.find("was trained by another recipe: lr was `` and is `0.5`"),
              std::string::npos)
        << changed.err;
}

TEST(Compare, WrongRecipes) {
    const TestFolder folder;
    write_file_atomically(folder / "train.tsv", labelled(60, 0));
    write_file_atomically(folder / "test.tsv", labelled(20, 500));
    const auto refused = [&](const std::string& text, const std::string& says) {
        write_file_atomically(folder / "r.toml", text);
        const Outcome c = fovea({"compare", folder / "r.toml", "--out", folder / "out"});
        EXPECT_NE(c.code, 0) << says;
        EXPECT_NE(c.err.find(says), std::string::npos) << c.err;
        EXPECT_FALSE(file_exists(folder / "out/compare.md"));
    };
    refused(recipe(folder), "no models");
    refused(recipe(folder, "[[model]]\npool = \"max\"\n"), "a [[model]] has no name");
    refused(recipe(folder, two_models + two_models), "two models are called `mean`");
    refused(recipe(folder, "[[model]]\nname = \"a\"\npool = \"sum\"\n"), "model `a`: ");
    refused(recipe(folder, "[[model]]\nname = \"a\"\nattention = \"nowhere\"\n"),
            "there is no setting `attention`");
    refused(recipe(folder, "[[model]]\nname = \"a/b\"\n"), "cannot be a folder's");
    refused(recipe(folder, "task = \"dream\"\n" + two_models), "there is no task `dream`");
    refused("[compare]\ntest = \"x\"\n" + two_models, "no training data");
    refused("[compare]\ntrain = \"x.tsv\"\n" + two_models, "no test data");
    refused(recipe(folder, "seeds = 0\n" + two_models), "seeds is 0");
    refused(recipe(folder, "figure = \"beauty\"\n" + two_models), "there is no figure `beauty`");
    const std::string mean = "[[model]]\nname = \"mean\"\npool = \"mean\"\n";
    const std::string second = mean + "[[model]]\nname = \"b\"\ntrained = ";
    refused(recipe(folder, second + "\"mode\"\n"), "no row before it is called `mode`");
    refused(recipe(folder, second + "\"b\"\n"), "no row before it is called `b`");
    refused(recipe(folder, second + "\"mean\"\npool = \"max\"\n"), "`pool` has no effect");
    refused(recipe(folder, second + "\"mean\"\nseeds = 3\n"), "has 3 seeds, but `mean` only 2");
    refused(recipe(folder, mean + "seeds = 0\n"), "seeds is 0");
    refused(recipe(folder, mean + "predict.mood = 1\n"),
            "model `mean`: there is no setting `mood`");
    refused(recipe(folder, "inputs = \"a text\"\n" + mean), "inputs is a text");
    refused(recipe(folder, "columns = [1]\n" + mean), "columns is [1]");
    EXPECT_EQ(fovea({"compare", folder / "nowhere.toml"}).code, 4);
}

}  // namespace
}  // namespace fovea::test
