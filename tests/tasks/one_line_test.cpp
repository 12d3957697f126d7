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
