// The programs of examples/ that ask a model of a text task: each says what the verb says.
#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/io/test_folder.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

Outcome example(const std::string& name, const std::vector<std::string>& words,
                const std::string& input) {
    const std::filesystem::path bin = std::filesystem::path(FOVEA_BINARY).parent_path();
    std::vector<std::string> command = {(bin / ("example_" + name)).string()};
    command.insert(command.end(), words.begin(), words.end());
    return run(command, {.input = input});
}

void learn(const std::string& file, const std::string& out, std::vector<std::string> more) {
    more.insert(more.begin(), {"train", file, "--out", out, "--threads", "1"});
    const Outcome t = fovea(more);
    ASSERT_EQ(t.code, 0) << t.err;
}

TEST(TextExamples, TagsAndSlots) {
    const TestFolder folder;
    write_file_atomically(folder / "a.conll",
                          "Anna\tB-person\nleft\tO\nOslo\tB-place\n\nBo\tB-person\nsleeps\tO\n\n");
    learn(folder / "a.conll", folder / "tags", {"--model", "features", "--epochs", "60"});
    const Outcome tags = example("tag", {folder / "tags"}, "Bo left Oslo\n\n");
    EXPECT_EQ(tags.code, 0) << tags.err;
    EXPECT_EQ(tags.out, "person [0, 2) Bo  place [8, 12) Oslo  \n\n");

    make_folders(folder / "music");
    write_file_atomically(folder / "music/seq.in", "play some jazz\nstop it\nplay rock\n");
    write_file_atomically(folder / "music/seq.out", "O O B-genre\nO O\nO B-genre\n");
    write_file_atomically(folder / "music/label", "Play\nStop\nPlay\n");
    learn(folder / "music", folder / "slots", {"--epochs", "40", "--lr", "1e-2"});
    const Outcome slots = example("slots", {folder / "slots"}, "play some rock\nstop it\n");
    EXPECT_EQ(slots.code, 0) << slots.err;
    EXPECT_EQ(slots.out, "Play  genre=rock\nStop\n");
    EXPECT_EQ(example("tag", {}, "").code, 2);
    EXPECT_EQ(example("slots", {}, "").code, 2);
}

TEST(TextExamples, AFolderThatIsNotThereIsAMessage) {
    for (const char* name : {"tag", "slots", "vectors"}) {
        const Outcome o = example(name, {"no/such/folder"}, "text\n");
        EXPECT_EQ(o.code, 1) << name << o.err;
        EXPECT_NE(o.err.find("no/such/folder"), std::string::npos) << name << o.err;
    }
}

TEST(TextExamples, VectorsOfWordsAndTexts) {
    const TestFolder folder;
    std::string text;
    for (int i = 0; i < 100; ++i)
        text += "the cat and the dog have fur\nthe car has a wheel and fuel\n";
    write_file_atomically(folder / "text.txt", text);
    learn(folder / "text.txt", folder / "words",
          {"--task", "vectors", "--dim", "16", "--sample", "0"});
    const Outcome near = example("vectors", {folder / "words"}, "cat\n");
    EXPECT_EQ(near.code, 0) << near.err;
    const Outcome verb = fovea({"vectors", folder / "words", "--top", "1"}, {.input = "cat\n"});
    EXPECT_EQ(near.out.substr(0, near.out.find(' ')), verb.out.substr(0, verb.out.find('\t')));

    write_file_atomically(folder / "lines.txt", "dog and fur\nfuel and wheel\n");
    const Outcome like = example("embed", {folder / "words", folder / "lines.txt"}, "a car\n");
    EXPECT_EQ(like.code, 0) << like.err;
    EXPECT_TRUE(like.out.starts_with("fuel and wheel  0.")) << like.out;
    EXPECT_EQ(example("vectors", {}, "").code, 2);
    EXPECT_EQ(example("embed", {}, "").code, 2);
}

TEST(TextExamples, Answers) {
    const TestFolder folder;
    std::string lines;
    for (int i = 0; i < 40; ++i) {
        const std::string who = "Tom" + std::to_string(i);
        lines += "{\"question\": \"who sleeps\", \"context\": \"" + who +
                 " sleeps\", \"answers\": {\"text\": [\"" + who + "\"], \"answer_start\": [0]}}\n";
    }
    write_file_atomically(folder / "q.jsonl", lines);
    learn(folder / "q.jsonl", folder / "answers",
          {"--dev", "none", "--d-model", "16", "--layers", "1", "--ffn", "16", "--heads", "1",
           "--steps", "30"});
    write_file_atomically(folder / "book.txt", "Tom7 sleeps");
    const Outcome found =
        example("answer", {folder / "answers", folder / "book.txt"}, "who sleeps\n");
    EXPECT_EQ(found.code, 0) << found.err;
    const Outcome verb = fovea({"answer", folder / "answers", "--question", "who sleeps",
                                "--context", folder / "book.txt"});
    ASSERT_EQ(verb.code, 0) << verb.err;
    const std::string best = verb.out.substr(0, verb.out.find_first_of("\t\n"));
    EXPECT_TRUE(found.out.starts_with(best + " [")) << found.out << verb.out;
    EXPECT_EQ(example("answer", {}, "").code, 2);
}

}  // namespace
}  // namespace fovea::test
