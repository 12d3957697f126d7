// Pretraining and filling through the real binary: each objective learns, resumes and gives the
// same bits whatever the threads; what can go wrong is one clear error.
#include <gtest/gtest.h>

#include <cctype>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/base/rng.h"
#include "fovea/io/test_folder.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

// Documents in which one animal does things: its name tells what the next sentence is about.
std::string documents(int count, std::uint64_t seed) {
    Rng rng(seed);
    const char* const who[] = {"The cat", "A dog", "My friend", "One bird"};
    const char* const does[] = {"sat on", "looked at", "ran to", "slept under"};
    const char* const what[] = {"the mat", "the tree", "a house", "the river"};
    std::string text;
    for (int d = 0; d < count; ++d) {
        const std::string hero = who[rng.below(4)];
        for (int s = 0; s < 8; ++s)
            text += hero + " " + does[rng.below(4)] + " " + what[rng.below(4)] + ". ";
        text += "\n\n";
    }
    return text;
}

using Words = std::vector<std::string>;

Words train_words(const std::string& model, const std::string& data, const std::string& out,
                  const Words& more = {}) {
    Words words = {"train",        "--task", "pretrain",     "--model", model,       data,
                   "--out",        out,      "--layers",     "1",       "--d-model", "32",
                   "--ffn",        "48",     "--heads",      "2",       "--context", "32",
                   "--max-tokens", "256",    "--vocab-size", "300",     "--lr",      "2e-3",
                   "--seed",       "3"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

Json last_evaluation(const std::string& run) {
    Json last;
    std::string line;
    for (LineReader reader(run + "/metrics.jsonl"); reader.next(line);) {
        const Json j = parse_json(line, "metrics");
        if (j.contains("loss") && line.find("perplexity") != std::string::npos) last = j;
    }
    return last;
}

std::string weights(const std::string& run, const std::string& step) {
    return read_file(run + "/step-" + std::string(10 - step.size(), '0') + step +
                     "/model.safetensors");
}

struct Case {
    const char* model;
    const char* objective;
    const char* task;
};

class PretrainCli : public testing::TestWithParam<Case> {};

TEST_P(PretrainCli, LearnsResumesAndKeepsItsBits) {
    const TestFolder folder;
    write_file_atomically(folder / "train.txt", documents(60, 1));
    const auto run = [&](const char* out, Words more) {
        more.insert(more.end(), {"--objective", GetParam().objective, "--save-every", "10",
                                 "--schedule", "constant", "--warmup", "0"});
        const Outcome o =
            fovea(train_words(GetParam().model, folder / "train.txt", folder / out, more));
        ASSERT_EQ(o.code, 0) << o.err;
        EXPECT_NE(o.err.find("blank lines stand between documents"), std::string::npos) << o.err;
        EXPECT_NE(o.err.find("documents are held out"), std::string::npos) << o.err;
        EXPECT_NE(o.err.find(std::string("fovea ") + GetParam().task + " "), std::string::npos)
            << o.err;
    };
    run("whole", {"--steps", "40"});
    run("parts", {"--steps", "20"});
    const Outcome o = fovea({"train", "--out", folder / "parts", "--resume", "--steps", "40"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(weights(folder / "whole", "40"), weights(folder / "parts", "40"));
    run("one", {"--steps", "40", "--threads", "1"});
    EXPECT_EQ(weights(folder / "whole", "40"), weights(folder / "one", "40"));
    const Json about = read_json(folder / "whole/model/fovea.json");
    EXPECT_EQ(about["task"], GetParam().task);
    EXPECT_EQ(about["objective"], GetParam().objective);

    // A guess among the 25 or so words costs over 3 nats; where the loss began it was higher.
    std::string line, evaluations;
    double first = 0, last = 0;
    for (LineReader reader(folder / "whole/metrics.jsonl"); reader.next(line);) {
        const Json j = parse_json(line, "metrics");
        if (!j.contains("loss")) continue;
        if (first == 0) first = j["loss"].get<double>();
        last = j["loss"].get<double>();
    }
    EXPECT_GT(first, 3.0);
    EXPECT_LT(last, 0.85 * first);

    const Outcome a = fovea({"average", folder / "whole", "--last", "2", "--out", folder / "mean"});
    EXPECT_EQ(a.code, 0) << a.err;
    const Outcome on = fovea({"train", "--task", "pretrain", folder / "train.txt", "--from",
                              folder / "mean", "--steps", "2", "--out", folder / "on"});
    EXPECT_EQ(on.code, 0) << on.err;
}

INSTANTIATE_TEST_SUITE_P(
    Objectives, PretrainCli,
    testing::Values(Case{"bert", "mlm-nsp", "fill"}, Case{"bert", "mlm", "fill"},
                    Case{"roberta", "mlm", "fill"}, Case{"gpt2", "causal", "generate"},
                    Case{"xlnet", "permutation", "generate"}, Case{"xlnet", "causal", "generate"}),
    [](const auto& shown) {
        std::string name = std::string(shown.param.model) + "_" + shown.param.objective;
        for (char& c : name)
            if (c == '-') c = '_';
        return name;
    });

TEST(PretrainCliMore, TheLossDoesNotDependOnHowSequencesShareBatches) {
    const TestFolder folder;
    write_file_atomically(folder / "train.txt", documents(60, 1));
    write_file_atomically(folder / "dev.txt", documents(20, 2));
    ASSERT_EQ(fovea(train_words("bert", folder / "train.txt", folder / "run",
                                {"--steps", "10", "--dev", folder / "dev.txt"}))
                  .code,
              0);
    Json first;
    for (const char* tokens : {"1", "100", "4096"}) {
        const Outcome e = fovea({"eval", folder / "run", "--test", folder / "dev.txt",
                                 "--batch-tokens", tokens, "--json"});
        ASSERT_EQ(e.code, 0) << e.err;
        const Json j = parse_json(e.out, "eval");
        if (first.is_null()) first = j["figures"];
        EXPECT_EQ(j["figures"], first) << tokens;  // to the last digit
        EXPECT_EQ(j["how"]["objective"], "mlm-nsp");
    }
    // training measured the same
    EXPECT_EQ(last_evaluation(folder / "run")["perplexity"], first["perplexity"]);
}

TEST(PretrainCliMore, FillsGapsAndTellsWhatFollows) {
    const TestFolder folder;
    write_file_atomically(folder / "train.txt", documents(200, 1));
    const Outcome t = fovea(
        train_words("bert", folder / "train.txt", folder / "run",
                    {"--vocab", "words", "--lowercase", "--steps", "2500", "--dropout", "0"}));
    ASSERT_EQ(t.code, 0) << t.err;
    const Outcome o = fovea({"fill", folder / "run", "--top", "2", "--format", "jsonl"},
                            {.input = "The cat sat on the mat. The [MASK] ran to the tree.\n"
                                      "my <mask> looked [MASK] the river.\nno gap\n"});
    ASSERT_EQ(o.code, 0) << o.err;
    std::istringstream lines(o.out);
    std::string line;
    std::getline(lines, line);
    const Json one = parse_json(line, "fill");
    EXPECT_EQ(one["gaps"].size(), 1u);
    EXPECT_EQ(one["gaps"][0].size(), 2u);
    EXPECT_EQ(one["gaps"][0][0]["token"], "cat") << line;
    EXPECT_GT(one["gaps"][0][0]["probability"], one["gaps"][0][1]["probability"]);
    std::getline(lines, line);
    const Json two = parse_json(line, "fill");
    ASSERT_EQ(two["gaps"].size(), 2u);
    EXPECT_EQ(two["gaps"][0][0]["token"], "friend") << line;
    EXPECT_EQ(two["gaps"][1][0]["token"], "at") << line;
    EXPECT_NE(o.err.find("without a gap"), std::string::npos) << o.err;
    const Outcome text =
        fovea({"fill", folder / "run", "--top", "1"}, {.input = "a [MASK] ran to the tree.\n"});
    EXPECT_TRUE(text.out.starts_with("dog\t")) << text.out;

    const Outcome n = fovea({"fill", folder / "run", "--next"},
                            {.input = "A dog ran to the tree. A dog sat on the mat.\tA dog slept "
                                      "under a house. A dog ran to the river.\n"
                                      "A dog ran to the tree. A dog sat on the mat.\tThe cat slept "
                                      "under a house. The cat ran to the river.\n"});
    ASSERT_EQ(n.code, 0) << n.err;
    const double yes = std::stod(n.out), no = std::stod(n.out.substr(n.out.find('\n') + 1));
    EXPECT_GT(yes, no + 0.2) << n.out;
    EXPECT_EQ(fovea({"fill", folder / "run", "--next"}, {.input = "one text\n"}).code, 3);
    const Outcome e = fovea(
        {"eval", folder / "run", "--test", folder / "train.txt", "--require", "next_accuracy=70"});
    EXPECT_EQ(e.code, 0) << e.out << e.err;
    const Outcome i =
        fovea({"inspect", folder / "run", "--text", "a [MASK] ran", "--format", "json"});
    EXPECT_EQ(i.code, 0) << i.err;
    EXPECT_EQ(i.out.find("call 2"), std::string::npos);  // one pass, whatever is filled
}

// Sentences and their translations, word by word: without the other language a hidden noun may be
// any of eight.
std::string pairs(int count, std::uint64_t seed) {
    Rng rng(seed);
    const char* const english[] = {"cat", "dog", "owl", "hen", "fox", "ant", "bee", "cow"};
    const char* const german[] = {"Katze", "Hund",   "Eule",  "Henne",
                                  "Fuchs", "Ameise", "Biene", "Kuh"};
    std::string text = "en\tde\n";
    for (int i = 0; i < count; ++i) {
        std::string a = "see", b = "sieh";
        for (int w = 0; w < 4; ++w) {
            const auto which = static_cast<std::size_t>(rng.below(8));
            a += std::string(" ") + english[which];
            b += std::string(" ") + german[which];
        }
        text += a + "\t" + b + "\n";
    }
    return text;
}

TEST(PretrainTranslation, LooksAcrossLanguages) {
    const TestFolder folder;
    write_file_atomically(folder / "train.tsv", pairs(400, 1));
    write_file_atomically(folder / "dev.tsv", pairs(100, 2));
    const auto train = [&](const char* objective, const char* out, const Words& more) {
        Words words = {"train",       "--task",     "pretrain",     folder / "train.tsv",
                       "--out",       folder / out, "--objective",  objective,
                       "--documents", "pairs",      "--dev",        folder / "dev.tsv",
                       "--vocab",     "words",      "--dropout",    "0",
                       "--layers",    "1",          "--d-model",    "32",
                       "--ffn",       "48",         "--heads",      "2",
                       "--context",   "32",         "--max-tokens", "256",
                       "--lr",        "6e-3",       "--mask-share", "0.3",
                       "--seed",      "3"};
        words.insert(words.end(), more.begin(), more.end());
        const Outcome t = fovea(words);
        ASSERT_EQ(t.code, 0) << t.err;
        EXPECT_NE(t.err.find("400 pairs"), std::string::npos) << t.err;
    };
    const auto figures = [&](const char* out, Words more = {}) {
        more.insert(more.begin(), {"eval", folder / out, "--test", folder / "dev.tsv", "--json"});
        const Outcome e = fovea(more);
        EXPECT_EQ(e.code, 0) << e.err;
        return parse_json(e.out, "eval");
    };
    train("mlm-tlm", "both", {"--steps", "1500"});
    const Json both = figures("both");
    EXPECT_EQ(both["how"]["objective"], "tlm");
    EXPECT_GT(both["figures"]["accuracy"], 70) << both;
    EXPECT_LT(both["figures"]["accuracy_alone"], 45) << both;
    EXPECT_EQ(both["figures"], figures("both", {"--batch-tokens", "64"})["figures"]);

    const Outcome filled = fovea({"fill", folder / "both", "--top", "1", "--format", "jsonl"},
                                 {.input = "see cat [MASK] owl hen\tsieh Katze Hund Eule Henne\n"
                                           "see cat dog owl hen\tsieh Katze Hund <mask> Henne\n"});
    ASSERT_EQ(filled.code, 0) << filled.err;
    EXPECT_NE(filled.out.find("\"see cat dog owl hen\\tsieh Katze Hund Eule Henne\""),
              std::string::npos)
        << filled.out;
    EXPECT_NE(filled.out.find("\"token\":\"Eule\""), std::string::npos) << filled.out;
    // A text alone: which words it may be hangs on its language.
    const Outcome alone = fovea({"fill", folder / "both", "--top", "1", "--language", "second"},
                                {.input = "sieh Katze [MASK] Eule Henne\n"});
    EXPECT_EQ(alone.code, 0) << alone.err;
    EXPECT_TRUE(std::isupper(alone.out[0])) << alone.out;

    train("mlm", "alone", {"--steps", "60"});  // each language by itself
    EXPECT_LT(figures("alone")["figures"]["accuracy_alone"], 45);
    train("tlm", "threads1", {"--steps", "20", "--threads", "1", "--save-every", "10"});
    train("tlm", "threads2", {"--steps", "20", "--threads", "2", "--save-every", "10"});
    EXPECT_EQ(weights(folder / "threads1", "20"), weights(folder / "threads2", "20"));
}

TEST(PretrainTranslation, WrongUsesAreOneClearError) {
    const TestFolder folder;
    write_file_atomically(folder / "train.tsv", pairs(60, 1));
    write_file_atomically(folder / "half.tsv", "see cat\t\nsee dog\t\n");
    const auto refused = [&](const char* model, const char* data, const Words& more, int code,
                             const std::string& says) {
        Words words = train_words(model, folder / data, folder / "bad", more);
        words.insert(words.end(), {"--force", "--steps", "2"});
        const Outcome o = fovea(words);
        EXPECT_EQ(o.code, code) << o.err;
        EXPECT_NE(o.err.find(says), std::string::npos) << says << "\n" << o.err;
    };
    refused("gpt2", "train.tsv", {"--objective", "tlm"}, 2, "cannot learn");
    refused("roberta", "train.tsv", {"--documents", "pairs"}, 2, "language embeddings");
    refused("bert", "train.tsv", {"--objective", "tlm", "--documents", "line"}, 2, "pairs");
    refused("bert", "train.tsv", {"--objective", "mlm-nsp", "--documents", "pairs"}, 2, "pairs");
    refused("bert", "train.tsv", {"--source-key", "en"}, 2, "without --documents pairs");
    refused("bert", "train.tsv", {"--memory", "8"}, 2, "--memory has no effect");
    refused("bert", "half.tsv", {"--objective", "tlm"}, 3, "both sides");
}

// A memory is read anew for each sequence: no state is left to lose or to mix up.
TEST(PretrainMemory, LearnsResumesAndKeepsItsBits) {
    for (const char* objective : {"permutation", "causal"}) {
        const TestFolder folder;
        write_file_atomically(folder / "train.txt", documents(60, 1));
        const auto run = [&](const char* out, Words more) {
            more.insert(more.end(), {"--objective", objective, "--memory", "16", "--save-every",
                                     "10", "--schedule", "constant", "--warmup", "0"});
            const Outcome o = fovea(train_words("xlnet", folder / "train.txt", folder / out, more));
            ASSERT_EQ(o.code, 0) << o.err;
        };
        run("whole", {"--steps", "20", "--threads", "1"});
        run("part", {"--steps", "10", "--threads", "2"});
        const Outcome rest =
            fovea({"train", "--out", folder / "part", "--resume", "--steps", "20"});
        ASSERT_EQ(rest.code, 0) << rest.err;
        EXPECT_EQ(weights(folder / "whole", "20"), weights(folder / "part", "20")) << objective;
        const Outcome none =
            fovea(train_words("xlnet", folder / "train.txt", folder / "none",
                              {"--objective", objective, "--save-every", "10", "--schedule",
                               "constant", "--warmup", "0", "--steps", "20"}));
        ASSERT_EQ(none.code, 0) << none.err;
        EXPECT_NE(weights(folder / "whole", "20"), weights(folder / "none", "20"));
    }
}

TEST(PretrainCliMore, ReadsSquadAndStandardInputAndHoldsOutTheTail) {
    const TestFolder folder;
    Json j{{"data", Json::array()}};
    for (int a = 0; a < 30; ++a)
        j["data"].push_back({{"title", "t"}, {"paragraphs", {{{"context", documents(1, a)}}}}});
    write_file_atomically(folder / "s.json", to_text(j));
    const Outcome squad =
        fovea(train_words("bert", folder / "s.json", folder / "squad", {"--steps", "3"}));
    EXPECT_EQ(squad.code, 0) << squad.err;
    EXPECT_NE(squad.err.find("each article is a document"), std::string::npos) << squad.err;

    const Outcome piped =
        fovea(train_words("gpt2", "-", folder / "piped",
                          {"--steps", "3", "--documents", "file", "--vocab", "characters"}),
              {.input = documents(30, 1)});
    EXPECT_EQ(piped.code, 0) << piped.err;
    EXPECT_NE(piped.err.find("the last tenth of the text is held out"), std::string::npos);
    const Json tokenizer = read_json(folder / "piped/model/tokenizer.json");
    EXPECT_LT(tokenizer["model"]["vocab"].size(), 40u);  // characters, line breaks among them
    EXPECT_TRUE(tokenizer["model"]["vocab"].contains("\n"));
}

TEST(PretrainCliMore, BadInputIsOneClearError) {
    const TestFolder folder;
    write_file_atomically(folder / "good.txt", documents(40, 1));
    write_file_atomically(folder / "empty.txt", "");
    write_file_atomically(folder / "binary.txt", std::string(4000, '\1'));
    write_file_atomically(folder / "latin.txt", "caf\xe9 au lait et caf\xe9 noir\n");
    write_file_atomically(folder / "one.txt", "Only one sentence here.\n");
    const auto refused = [&](const char* model, const char* data, Words more, int code,
                             const std::string& says) {
        more.insert(more.end(), {"--force", "--steps", "2"});
        const Outcome o = fovea(train_words(model, folder / data, folder / "bad", more));
        EXPECT_EQ(o.code, code) << o.err;
        EXPECT_NE(o.err.find(says), std::string::npos) << says << "\n" << o.err;
    };
    refused("bert", "empty.txt", {}, 3, "there is no text");
    refused("bert", "binary.txt", {}, 3, "is not a text file");
    refused("bert", "latin.txt", {}, 3, "not UTF-8");
    refused("bert", "nowhere.txt", {}, 4, "nowhere.txt");
    refused("bert", "one.txt", {"--objective", "mlm-nsp"}, 3, "--objective mlm");
    refused("bort", "good.txt", {}, 2, "--model is `bort`");
    refused("gpt2", "good.txt", {"--objective", "mlm-nsp"}, 2, "gpt2 cannot learn");
    refused("gpt2", "good.txt", {"--whole-words"}, 2, "--whole-words has no effect");
    refused("bert", "good.txt", {"--max-length", "16"}, 2, "--max-length is 16");
    refused("bert", "good.txt", {"--documents", "pages"}, 2, "--documents is `pages`");
    refused("bert", "good.txt", {"--heads", "3"}, 2, "--heads");
    refused("bert", "good.txt", {"--tokenizer", folder / "good.txt", "--lowercase"}, 2,
            "has no effect with --tokenizer");
    refused("roberta", "good.txt", {"--metric", "next_accuracy"}, 2, "--metric has no effect");
    refused("bert", "good.txt", {"--dev", folder / "empty.txt"}, 3, "the dev set has 0 tokens");
    ASSERT_EQ(
        fovea(train_words("roberta", folder / "good.txt", folder / "run", {"--steps", "2"})).code,
        0);
    const Outcome longer = fovea({"train", "--task", "pretrain", folder / "good.txt", "--from",
                                  folder / "run", "--context", "64", "--out", folder / "x"});
    EXPECT_EQ(longer.code, 2) << longer.err;
    EXPECT_NE(longer.err.find("the model takes 32"), std::string::npos) << longer.err;
    const Outcome no_head = fovea({"fill", folder / "run", "--next"}, {.input = "a\tb\n"});
    EXPECT_EQ(no_head.code, 2) << no_head.err;
    const Outcome eval = fovea({"eval", folder / "run", "--test", folder / "empty.txt"});
    EXPECT_EQ(eval.code, 3) << eval.err;
}

}  // namespace
}  // namespace fovea::test
