// --freeze and --layer-decay through the real binary: what is frozen has the bits it had, and the
// rest has learnt, in every task that stands on layers.
#include <gtest/gtest.h>

#include <cstring>

#include "fovea/base/files.h"
#include "fovea/io/model_weights.h"
#include "fovea/io/test_folder.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

bool is_embedding(const std::string& name) {
    return name.find("embed") != std::string::npos && name.find("layers") == std::string::npos;
}

// Learns for three updates, then three more with frozen embeddings.
void expect_frozen(const std::string& task, const std::string& data,
                   const std::vector<std::string>& sizes) {
    const TestFolder folder;
    const auto train = [&](const std::string& out, std::vector<std::string> more) {
        std::vector<std::string> words = {"train",   "--task", task,        data, "--out", out,
                                          "--steps", "3",      "--threads", "1",  "--dev", "none"};
        words.insert(words.end(), more.begin(), more.end());
        return fovea(words);
    };
    const Outcome first = train(folder / "a", sizes);
    ASSERT_EQ(first.code, 0) << task << first.err;
    const Outcome second = train(folder / "b", {"--from", folder / "a", "--freeze", "embeddings",
                                                "--layer-decay", "0.9", "--lr", "0.01"});
    ASSERT_EQ(second.code, 0) << task << second.err;
    const ModelWeights a(folder / "a/model"), b(folder / "b/model");
    int same = 0, moved = 0;
    for (const std::string& name : a.names()) {
        const Tensor was = a.read(name), is = b.read(name);
        const bool equal = std::memcmp(was.data(), is.data(),
                                       static_cast<std::size_t>(was.size()) * sizeof(float)) == 0;
        EXPECT_TRUE(equal || !is_embedding(name)) << task << " " << name;
        (equal ? same : moved) += 1;
    }
    EXPECT_GT(same, 0) << task;
    EXPECT_GT(moved, 0) << task;
    const Outcome none = train(folder / "c", {"--from", folder / "a", "--freeze", "7"});
    EXPECT_EQ(none.code, 2);
    EXPECT_NE(none.err.find("--freeze 7: the model has no such part"), std::string::npos)
        << none.err;
}

TEST(Frozen, PartsKeepTheirBitsInEveryTask) {
    const TestFolder folder;
    std::string pairs, questions, labels, tags;
    for (int i = 0; i < 30; ++i) {
        const std::string who = i % 2 ? "Anna" : "Bo",
                          line = who + " sleeps now " + (i % 3 ? "" : "too");
        pairs += line + "\tso does " + who + "\n";
        questions += "{\"question\": \"who sleeps\", \"context\": \"" + line +
                     "\", \"answers\": {\"text\": [\"" + who + "\"], \"answer_start\": [0]}}\n";
        labels += line + "\t" + who + "\n";
        tags += who + "\tB-person\nsleeps\tO\n\n";
    }
    write_file_atomically(folder / "pairs.tsv", pairs);
    write_file_atomically(folder / "q.jsonl", questions);
    write_file_atomically(folder / "labels.tsv", labels);
    write_file_atomically(folder / "t.conll", tags);
    const std::vector<std::string> sizes = {
        "--model", "transformer", "--layers", "1",       "--d-model",
        "16",      "--ffn",       "16",       "--heads", "2"};
    expect_frozen("embed", folder / "pairs.tsv", sizes);
    expect_frozen("answer", folder / "q.jsonl", sizes);
    expect_frozen("classify", folder / "labels.tsv", sizes);
    expect_frozen("tag", folder / "t.conll", sizes);
}

}  // namespace
}  // namespace fovea::test
