// Several tasks at once through the real binary: a recipe with tables, resume, folders of each
// task, and what can go wrong.
#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/base/rng.h"
#include "fovea/io/test_folder.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

const char* const verbs[] = {"sees", "likes", "finds"};
const char* const nouns[] = {"ball", "cat", "moon", "rain", "door"};
const char* const names[] = {"Ada", "Bo", "Cy", "Di"};

// "Ada sees the cat": tags, heads and a label that is the verb.
struct ToyData {
    std::string conll, conllu, labels;
};
ToyData toy_data(int count, std::uint64_t seed) {
    Rng rng(seed);
    ToyData d;
    for (int i = 0; i < count; ++i) {
        const std::string who = names[rng.below(4)], verb = verbs[rng.below(3)],
                          what = nouns[rng.below(5)];
        d.conll += who + "\tB-person\n" + verb + "\tO\nthe\tO\n" + what + "\tB-thing\n\n";
        const auto row = [&](int id, const std::string& word, int head) {
            d.conllu += std::to_string(id) + "\t" + word + "\t_\tX\t_\t_\t" + std::to_string(head) +
                        "\tdep\t_\t_\n";
        };
        row(1, who, 2), row(2, verb, 0), row(3, "the", 4), row(4, what, 2);
        d.conllu += "\n";
        d.labels += who + " " + verb + " the " + what + "\t" + verb + "\n";
    }
    return d;
}

void write_toys(const TestFolder& folder) {
    const ToyData train = toy_data(240, 1), dev = toy_data(40, 2);
    write_file_atomically(folder / "train.conll", train.conll);
    write_file_atomically(folder / "dev.conll", dev.conll);
    write_file_atomically(folder / "train.conllu", train.conllu);
    write_file_atomically(folder / "train.tsv", "text\tlabel\n" + train.labels);
    write_file_atomically(folder / "dev.tsv", "text\tlabel\n" + dev.labels);
}

std::string run_table(const std::string& budget) {
    return "[train]\ntask = \"multi\"\n" + budget +
           "\nlayers = 1\nd-model = 24\nffn = 32\nheads = 2\nvocab = \"words\"\nlr = 0.005\n";
}

std::string four_tasks(const TestFolder& folder, const std::string& budget) {
    return run_table(budget) + "\n[[task]]  # the first one makes the encoder\ntask = \"tag\"\n" +
           "train = \"" + folder / "train.conll" + "\"\ndev = \"" + folder / "dev.conll" +
           "\"\nmax-tokens = 256\n\n[[task]]\ntask = \"classify\"\nname = \"verbs\"\ntrain = [\"" +
           folder / "train.tsv" + "\"]\ndev = \"" + folder / "dev.tsv" +
           "\"\nshare = 0.5\nweight = 0.5\nrate = 2\n\n[[task]]\ntask = \"language-model\"\nweight "
           "= "
           "0.3\n\n[[task]]\ntask = \"heads\"\ntrain = \"" +
           folder / "train.conllu" + "\"\nshare = 0.5\n";
}

TEST(MultiCli, LearnsFourTasksOnOneEncoder) {
    const TestFolder folder;
    write_toys(folder);
    write_file_atomically(folder / "multi.toml", four_tasks(folder, "epochs = 20"));
    const Outcome t =
        fovea({"train", "--config", folder / "multi.toml", "--out", folder / "run", "--seed", "3"});
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(t.err.find("verbs: model: the encoder of the first task; new: "), std::string::npos)
        << t.err;
    const Outcome tags =
        fovea({"eval", folder / "run", "--test", folder / "dev.conll", "--require", "f1=95"});
    EXPECT_EQ(tags.code, 0) << tags.out << tags.err;
    const Outcome labels = fovea({"eval", folder / "run/models/verbs", "--test", folder / "dev.tsv",
                                  "--require", "accuracy=95"});
    EXPECT_EQ(labels.code, 0) << labels.out << labels.err;
    // both folders hold the same encoder, and nothing of the other tasks
    EXPECT_EQ(list_folder(folder / "run/models"), std::vector<std::string>{"verbs"});
    EXPECT_EQ(fovea({"average", folder / "run", "--last", "1", "--out", folder / "mean"}).code, 0);
    EXPECT_EQ(fovea({"tag", folder / "mean"}, {.input = "Ada sees the cat\n"}).code, 0);
    const std::string log = read_file(folder / "run/metrics.jsonl");
    EXPECT_NE(log.find("\"heads\":{"), std::string::npos) << log.substr(0, 2000);
}

TEST(MultiCli, ThreadsAndResumeGiveTheSameBits) {
    const TestFolder folder;
    write_toys(folder);
    write_file_atomically(folder / "multi.toml", four_tasks(folder, "steps = 14"));
    const auto run = [&](const std::string& out, std::vector<std::string> more) {
        std::vector<std::string> words = {
            "train", "--config", folder / "multi.toml", "--out", folder / out, "--seed", "3"};
        words.insert(words.end(), more.begin(), more.end());
        return fovea(words);
    };
    ASSERT_EQ(run("a", {"--threads", "1"}).code, 0);
    ASSERT_EQ(run("b", {"--threads", "2", "--save-every", "6"}).code, 0);
    for (const std::string& name : list_folder(folder / "b"))
        if (name.starts_with("step-") && !name.ends_with("06"))
            std::filesystem::remove_all(join_path(folder / "b", name));
    const Outcome r = fovea({"train", "--out", folder / "b", "--resume"});
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(r.err.find("changed settings"), std::string::npos) << r.err;
    for (const char* file : {"model/model.safetensors", "models/verbs/model.safetensors"})
        EXPECT_EQ(read_file(join_path(folder / "a", file)),
                  read_file(join_path(folder / "b", file)))
            << file;
}

// Questions about the same sentences, first or second: whoever is first makes the encoder.
TEST(MultiCli, QuestionsBesideTags) {
    const TestFolder folder;
    write_toys(folder);
    const auto questions = [](int count, std::uint64_t seed) {
        Rng rng(seed);
        std::string lines;
        for (int i = 0; i < count; ++i) {
            const std::string who = names[rng.below(4)], verb = verbs[rng.below(3)],
                              what = nouns[rng.below(5)];
            const Json line{{"question", "who " + verb + " the " + what},
                            {"context", who + " " + verb + " the " + what},
                            {"answers", {{"text", {who}}, {"answer_start", {0}}}}};
            lines += line.dump() + "\n";
        }
        return lines;
    };
    write_file_atomically(folder / "train.jsonl", questions(200, 1));
    write_file_atomically(folder / "dev.jsonl", questions(30, 2));
    const std::string answer = "[[task]]\ntask = \"answer\"\nmax-tokens = 256\ntrain = \"" +
                               folder / "train.jsonl" + "\"\ndev = \"" + folder / "dev.jsonl" +
                               "\"\n",
                      tag = "[[task]]\ntask = \"tag\"\nmax-tokens = 256\ntrain = \"" +
                            folder / "train.conll" + "\"\ndev = \"" + folder / "dev.conll" + "\"\n";
    for (const bool first : {false, true}) {
        const std::string out = folder / (first ? "first" : "second");
        write_file_atomically(folder / "two.toml", run_table("steps = 120") + "model = \"bert\"\n" +
                                                       (first ? answer + tag : tag + answer));
        const Outcome t = fovea({"train", "--config", folder / "two.toml", "--out", out});
        ASSERT_EQ(t.code, 0) << t.err;
        const Outcome answers = fovea({"eval", out + (first ? "/model" : "/models/answer"),
                                       "--test", folder / "dev.jsonl", "--require", "f1=90"});
        EXPECT_EQ(answers.code, 0) << answers.out << answers.err;
        const Outcome tags = fovea({"eval", out + (first ? "/models/tag" : "/model"), "--test",
                                    folder / "dev.conll", "--require", "f1=90"});
        EXPECT_EQ(tags.code, 0) << tags.out << tags.err;
    }
}

// Pretraining makes vocabulary and encoder, and others stand on it; it stands on nobody's.
TEST(MultiCli, PretrainingComesFirst) {
    const TestFolder folder;
    write_toys(folder);
    std::string text;
    for (int i = 0; i < 60; ++i)
        text += std::string(names[i % 4]) + " " + verbs[i % 3] + " the " + nouns[i % 5] + ".\n\n";
    write_file_atomically(folder / "text.txt", text);
    const std::string pretrain = "[[task]]\ntask = \"pretrain\"\nobjective = \"mlm\"\ntrain = \"" +
                                 folder / "text.txt" + "\"\ndev = \"none\"\n",
                      tag = "[[task]]\ntask = \"tag\"\ntrain = \"" + folder / "train.conll" +
                            "\"\ndev = \"" + folder / "dev.conll" + "\"\n";
    const auto train = [&](const std::string& tasks, const std::string& out) {
        std::string table = run_table("steps = 3");
        if (const auto at = table.find("vocab = "); at != std::string::npos)  // BERT's own
            table.erase(at, table.find('\n', at) + 1 - at);
        write_file_atomically(folder / "two.toml", table + "model = \"bert\"\n" + tasks);
        return fovea({"train", "--config", folder / "two.toml", "--out", folder / out});
    };
    const Outcome t = train(pretrain + tag, "first");
    ASSERT_EQ(t.code, 0) << t.err;
    const Outcome filled = fovea({"fill", folder / "first", "--top", "1"},
                                 {.input = std::string(names[0]) + " [MASK] the " + nouns[0]});
    EXPECT_EQ(filled.code, 0) << filled.err;
    EXPECT_EQ(fovea({"eval", folder / "first/models/tag", "--test", folder / "dev.conll"}).code, 0);
    const Outcome second = train(tag + pretrain, "second");
    EXPECT_EQ(second.code, 2) << second.err;
    EXPECT_NE(second.err.find("put it first"), std::string::npos) << second.err;
    const Outcome dropped = train(pretrain + tag + "dropout = 0.3\n", "dropped");
    EXPECT_EQ(dropped.code, 2) << dropped.err;
    EXPECT_NE(dropped.err.find("--dropout has no effect on an encoder that another task makes"),
              std::string::npos)
        << dropped.err;
}

// A translator's encoder learns beside it: tags, distances, hidden words. Its own folder is as
// ever.
TEST(MultiCli, LossesStandBesideATranslation) {
    const TestFolder folder;
    write_toys(folder);
    std::string pairs;
    for (int i = 0; i < 200; ++i)
        pairs += std::string(names[i % 4]) + " " + verbs[i % 3] + "\t" + verbs[i % 3] + " " +
                 names[i % 4] + "\n";
    write_file_atomically(folder / "pairs.tsv", pairs);
    const auto recipe = [&](const std::string& model, const std::string& beside) {
        return "[train]\ntask = \"multi\"\nsteps = 12\nvocab = \"words\"\n[[task]]\ntask = "
               "\"translate\"\nmodel = \"" +
               model + "\"\npreset = \"tiny\"\nd-model = 16\nheads = 2\ntrain = \"" +
               folder / "pairs.tsv" + "\"\nmax-tokens = 100\n" + beside;
    };
    const std::string three = "[[task]]\ntask = \"tags\"\nweight = 0.5\ntrain = \"" +
                              folder / "train.conll" +
                              "\"\n[[task]]\ntask = \"distance\"\n[[task]]\ntask = "
                              "\"language-model\"\nweight = 0.2\n";
    for (const std::string model : {"transformer", "gru"}) {
        write_file_atomically(folder / "beside.toml", recipe(model, three));
        const auto run = [&](const std::string& out, const std::string& threads) {
            return fovea({"train", "--config", folder / "beside.toml", "--out",
                          folder / (model + out), "--threads", threads});
        };
        const Outcome a = run("a", "1"), b = run("b", "2");
        ASSERT_EQ(a.code, 0) << a.err;
        ASSERT_EQ(b.code, 0) << b.err;
        EXPECT_EQ(read_file(folder / (model + "a/model/model.safetensors")),
                  read_file(folder / (model + "b/model/model.safetensors")));
        EXPECT_EQ(read_file(folder / (model + "a/model/model.safetensors")).find("classifier"),
                  std::string::npos);
        const std::string log = read_file(folder / (model + "a/metrics.jsonl"));
        EXPECT_NE(log.find("\"tags\":{"), std::string::npos) << log.substr(0, 2000);
        EXPECT_EQ(fovea({"translate", folder / (model + "a")}, {.input = "Ada sees\n"}).code, 0);
        // the losses reach the encoder
        write_file_atomically(folder / "beside.toml", recipe(model, ""));
        ASSERT_EQ(run("alone", "1").code, 0);
        EXPECT_NE(read_file(folder / (model + "a/model/model.safetensors")),
                  read_file(folder / (model + "alone/model/model.safetensors")));
    }
    write_file_atomically(
        folder / "beside.toml",
        recipe("gru", "[[task]]\ntask = \"tag\"\ntrain = \"" + folder / "train.conll" + "\"\n"));
    const Outcome tag =
        fovea({"train", "--config", folder / "beside.toml", "--out", folder / "no"});
    EXPECT_NE(tag.code, 0);
    EXPECT_NE(tag.err.find("beside it can stand language-model, distance, tags"), std::string::npos)
        << tag.err;
}

TEST(MultiCli, BadTablesAreOneClearError) {
    const TestFolder folder;
    write_toys(folder);
    const auto says = [&](const std::string& tables, const std::string& part) {
        write_file_atomically(folder / "multi.toml", run_table("steps = 2") + tables);
        const Outcome o =
            fovea({"train", "--config", folder / "multi.toml", "--out", folder / "no", "--force"});
        EXPECT_NE(o.code, 0);
        EXPECT_NE(o.err.find(part), std::string::npos) << part << "\n" << o.err;
        EXPECT_EQ(o.err.find("error:"), o.err.rfind("error:")) << o.err;
    };
    const std::string tag =
        "[[task]]\ntask = \"tag\"\ntrain = \"" + folder / "train.conll" + "\"\n";
    says("", "there are no tasks");
    says("[[task]]\ntrain = \"x\"\n", "task 1: does not say which task it is");
    says("[[task]]\ntask = \"juggle\"\n", "there is no task `juggle`");
    says("[[task]]\ntask = \"multi\"\n", "there is no task `multi`");
    says("[[task]]\ntask = \"tag\"\n", "task 1 (tag): has no data");
    says(tag + "colour = 3\n", "task 1 (tag): there is no setting `colour`");
    says(tag + "lr = 3\n", "`lr` is a setting of the whole run");
    says(tag + "weight = -1\n", "task 1 (tag): ");
    says(tag + "weight = heavy\n", "multi.toml:");
    says(tag + "weight = 1\nweight = 2\n", "stands here for a second time");
    says(tag + tag, "task 2 (tag): a task before it is called \"tag\" too");
    says(tag + "[[task]]\ntask = \"language-model\"\nobjective = \"causal\"\n",
         "the encoder looks both ways");
    says(tag + "[[task]\n", "[[task]]");
    says(tag + "[[task]]\ntask = \"classify\"\nlayers = 3\ntrain = \"" + folder / "train.tsv" +
             "\"\n",
         "task 2 (classify): train: --layers has no effect");
    says("[[task]]\ntask = \"translate\"\ntrain = \"" + folder / "train.tsv" + "\"\n",
         "task 1 (translate)");
    says("[[task]]\ntask = \"tag\"\nmodel = \"features\"\ntrain = \"" + folder / "train.conll" +
             "\"\n",
         "task 1 (tag)");
    write_file_atomically(folder / "bad.conllu",
                          "1\ta\t_\tX\t_\t_\t2\tdep\t_\t_\n2\tb\t_\tX\t_\t_\t9\tdep\t_\t_\n\n");
    says(tag + "[[task]]\ntask = \"heads\"\ntrain = \"" + folder / "bad.conllu" + "\"\n",
         "bad.conllu:1: the head of word 2 is \"9\", but the sentence has 2 words");
}

}  // namespace
}  // namespace fovea::test
