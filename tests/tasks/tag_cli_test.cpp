// Tagging through the real binary: train, resume, eval, predict, and what can go wrong.
#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/base/rng.h"
#include "fovea/io/test_folder.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

// A made-up language: people stand behind "da" (one name or two), places behind "ni"; names are
// drawn from syllables, so that most are new in the test.
std::string conll(int count, std::uint64_t seed) {
    Rng rng(seed);
    const char* const words[] = {"ba", "ke", "mi", "lu", "po", "ra"};
    const char* const syllables[] = {"Zor", "Kim", "Tal", "Ven", "Sul", "Gar", "Pem", "Hob"};
    std::string text;
    const auto word = [&](const std::string& w, const std::string& tag) {
        text += w + "\t" + tag + "\n";
    };
    const auto name = [&] {
        std::string n = syllables[rng.below(8)];
        return n + words[rng.below(6)];
    };
    for (int i = 0; i < count; ++i) {
        const int length = 2 + static_cast<int>(rng.below(5));
        for (int k = 0; k < length; ++k) {
            const auto kind = rng.below(4);
            if (kind == 0) {
                word("da", "O");
                word(name(), "B-person");
                if (rng.below(2)) word(name(), "I-person");
            } else if (kind == 1) {
                word("ni", "O");
                word(name(), "B-place");
            } else {
                word(words[rng.below(6)], "O");
            }
        }
        text += "\n";
    }
    return text;
}

std::vector<std::string> tag_words(const std::string& data, const std::string& out,
                                   std::vector<std::string> more = {}) {
    std::vector<std::string> words = {
        "train",        "--task", "tag",   data,    "--out",   out, "--layers", "1",
        "--d-model",    "32",     "--ffn", "48",    "--heads", "2", "--vocab",  "characters",
        "--max-tokens", "512",    "--lr",  "0.005", "--seed",  "3"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

std::vector<std::string> feature_words(const std::string& data, const std::string& out,
                                       std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"train", "--task",  "tag",      data,     "--out",
                                      out,     "--model", "features", "--seed", "3"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

TEST(TagCli, TrainsMeasuresAndAnswers) {
    const TestFolder folder;
    write_file_atomically(folder / "train.conll", conll(400, 1));
    write_file_atomically(folder / "test.conll", conll(80, 2));
    const Outcome t = fovea(tag_words(folder / "train.conll", folder / "run", {"--epochs", "24"}));
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(t.err.find("words from column 1, tags from column 2 of 2"), std::string::npos);
    EXPECT_NE(t.err.find("entities: person ("), std::string::npos) << t.err;
    EXPECT_NE(t.err.find("held out"), std::string::npos) << t.err;
    EXPECT_NE(t.err.find("CRF"), std::string::npos) << t.err;

    const Outcome e = fovea({"eval", folder / "run", "--test", folder / "test.conll", "--json",
                             "--outputs", folder / "tags.txt", "--require", "f1=90"});
    ASSERT_EQ(e.code, 0) << e.out << e.err;
    const Json j = parse_json(e.out, "eval");
    EXPECT_EQ(j["task"], "tag");
    EXPECT_EQ(j["metric"], "F1");
    for (const char* figure : {"precision", "recall", "accuracy", "macro_f1", "loss"})
        EXPECT_TRUE(j["figures"].contains(figure)) << figure;
    EXPECT_GE(j["figures"]["types"]["place"]["f1"].get<double>(), 90.0);
    EXPECT_NE(read_file(folder / "tags.txt").find("O B-person"), std::string::npos);
    EXPECT_EQ(fovea({"eval", folder / "run", folder / "test.conll", "--strict"}).code, 0);

    const std::string input = "ba da Tellu  Zorke, ni Venmi!\nké\n\n";
    const Outcome text = fovea({"tag", folder / "run/model"}, {.input = input});
    ASSERT_EQ(text.code, 0) << text.err;
    EXPECT_EQ(text.out, "ba da [Tellu  Zorke|person], ni [Venmi|place]!\nké\n\n");
    EXPECT_EQ(fovea({"predict", folder / "run"}, {.input = input}).out, text.out);
    const Outcome colour = fovea({"tag", folder / "run", "--color", "always"}, {.input = input});
    EXPECT_NE(colour.out.find("m[Venmi|place]\x1b["), std::string::npos) << colour.out;
    EXPECT_EQ(fovea({"tag", folder / "run", "--every-word"}, {.input = "ba ni Venmi!\n"}).out,
              "ba/O ni/O Venmi/B-place !/O\n");
    // offsets count characters, and the text is the one that was given
    const Outcome lines =
        fovea({"tag", folder / "run", "--format", "jsonl"}, {.input = "ké ni Venmi\nba\n"});
    const Json first = parse_json(lines.out.substr(0, lines.out.find('\n')), "answer");
    ASSERT_EQ(first["entities"].size(), 1u) << lines.out;
    const Json& entity = first["entities"][0];
    EXPECT_EQ(entity["start"], 6);
    EXPECT_EQ(entity["end"], 11);
    EXPECT_EQ(entity["label"], "place");
    EXPECT_EQ(entity["text"], "Venmi");
    EXPECT_GT(entity["score"].get<double>(), 0.5);
    const Outcome tsv =
        fovea({"tag", folder / "run", "--format", "tsv"}, {.input = "ba\nni Venmi\n"});
    EXPECT_TRUE(
        tsv.out.starts_with("line\tstart\tend\tlabel\ttext\tscore\n2\t3\t8\tplace\tVenmi\t"))
        << tsv.out;
    const Outcome wrong = fovea({"classify", folder / "run"}, {.input = "x\n"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_NE(wrong.err.find("fovea tag"), std::string::npos) << wrong.err;
}

// A line alone gives what it gives among others, to the last digit of every score.
TEST(TagCli, ALinesAnswerDoesNotDependOnItsBatch) {
    const TestFolder folder;
    write_file_atomically(folder / "train.conll", conll(200, 1));
    ASSERT_EQ(fovea(tag_words(folder / "train.conll", folder / "run",
                              {"--steps", "30", "--max-length", "20"}))
                  .code,
              0);
    std::vector<std::string> lines;
    for (int i = 0; i < 8; ++i) {
        std::string line = "ba da Zorke";
        for (int k = 0; k < i; ++k) line += " mi ni Venlu da Talke Garmi";
        lines.push_back(line + "\n");
    }
    std::string all, one_by_one;
    const std::vector<std::string> flags = {"tag", folder / "run", "--format", "jsonl",
                                            "--every-word"};
    for (const std::string& line : lines) {
        all += line;
        one_by_one += fovea(flags, {.input = line}).out;
    }
    const Outcome together = fovea(flags, {.input = all});
    EXPECT_EQ(together.out, one_by_one);
    EXPECT_NE(together.err.find("longer than the 20 tokens"), std::string::npos) << together.err;
    for (const char* threads : {"1", "2"}) {
        auto with = flags;
        with.insert(with.end(), {"--threads", threads, "--batch-tokens", "64"});
        EXPECT_EQ(fovea(with, {.input = all}).out, one_by_one);
    }
}

TEST(TagCli, AnInterruptedRunResumesToTheSameBits) {
    const TestFolder folder;
    write_file_atomically(folder / "train.conll", conll(150, 1));
    const std::vector<std::string> usual = {"--schedule",   "constant", "--warmup",  "0",
                                            "--save-every", "5",        "--dropout", "0.2"};
    const auto run = [&](bool features, const std::string& out, std::vector<std::string> more) {
        more.insert(more.end(), usual.begin(), usual.end());
        const auto words = features ? feature_words(folder / "train.conll", folder / out, more)
                                    : tag_words(folder / "train.conll", folder / out, more);
        const Outcome o = fovea(words);
        ASSERT_EQ(o.code, 0) << o.err;
    };
    for (const bool features : {false, true}) {
        const std::string kind = features ? "f" : "t";
        run(features, kind + "whole", {"--steps", "16"});
        run(features, kind + "parts", {"--steps", "8"});
        const Outcome o =
            fovea({"train", "--out", folder / (kind + "parts"), "--resume", "--steps", "16"});
        ASSERT_EQ(o.code, 0) << o.err;
        run(features, kind + "one", {"--steps", "16", "--threads", "1"});
        const auto weights = [&](const std::string& out) {
            return read_file(folder / (kind + out) + "/step-0000000016/model.safetensors");
        };
        EXPECT_TRUE(weights("whole") == weights("parts")) << kind;
        EXPECT_TRUE(weights("whole") == weights("one")) << kind;
    }
}

TEST(TagCli, EveryModelTrains) {
    const TestFolder folder;
    write_file_atomically(folder / "train.conll", conll(40, 1));
    for (const char* model : {"transformer", "bert", "roberta", "gpt2", "xlnet"})
        for (const char* crf : {"--crf", "--no-crf"}) {
            const std::string out = folder / (std::string(model) + crf);
            const Outcome o =
                fovea(tag_words(folder / "train.conll", out,
                                {"--model", model, crf, "--steps", "2", "--dev", "none"}));
            ASSERT_EQ(o.code, 0) << model << "\n" << o.err;
            EXPECT_EQ(fovea({"tag", out}, {.input = "ba zo\n"}).code, 0) << model;
        }
}

TEST(TagCli, FeaturesAloneLearnToo) {
    const TestFolder folder;
    write_file_atomically(folder / "train.conll", conll(300, 1));
    write_file_atomically(folder / "test.conll", conll(80, 2));
    for (const char* crf : {"--crf", "--no-crf"}) {
        const std::string out = folder / crf;
        const Outcome t =
            fovea(feature_words(folder / "train.conll", out,
                                {crf, "--epochs", "12", "--max-tokens", "96", "--lr", "0.01"}));
        ASSERT_EQ(t.code, 0) << t.err;
        const Outcome e =
            fovea({"eval", out, folder / "test.conll", "--require", "f1=95", "--json"});
        EXPECT_EQ(e.code, 0) << e.out << e.err;
    }
}

TEST(TagCli, GoesOnFromPretrainedAndFromTaggers) {
    const TestFolder folder;
    write_file_atomically(folder / "train.conll", conll(60, 1));
    std::string corpus;
    for (int i = 0; i < 200; ++i)
        corpus += "Ba ke mi " + std::to_string(i) + " da Zorke. Lu ni Venmi po ra.\n\n";
    write_file_atomically(folder / "text.txt", corpus);
    const Outcome p = fovea({"train", "--task", "pretrain", folder / "text.txt", "--model", "bert",
                             "--layers", "1", "--d-model", "32", "--ffn", "48", "--heads", "2",
                             "--steps", "2", "--out", folder / "bert"});
    ASSERT_EQ(p.code, 0) << p.err;
    const auto train = [&](const std::string& from, const std::string& out,
                           std::vector<std::string> more) {
        std::vector<std::string> words = {"train",   "--task", "tag",   folder / "train.conll",
                                          "--from",  from,     "--out", out,
                                          "--steps", "3"};
        words.insert(words.end(), more.begin(), more.end());
        return fovea(words);
    };
    const Outcome t = train(folder / "bert", folder / "tagger", {"--no-crf"});
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(t.err.find("new: classifier.weight, classifier.bias; left: bert.pooler."),
              std::string::npos)
        << t.err;
    EXPECT_EQ(read_json(folder / "tagger/model/config.json")["architectures"][0],
              "BertForTokenClassification");
    EXPECT_EQ(fovea({"tag", folder / "tagger"}, {.input = "ba zo\n"}).code, 0);
    const Outcome on = train(folder / "tagger", folder / "more", {});
    ASSERT_EQ(on.code, 0) << on.err;
    EXPECT_NE(on.err.find("goes on from"), std::string::npos) << on.err;
    const Outcome crf = train(folder / "tagger", folder / "crf", {"--crf"});
    EXPECT_EQ(crf.code, 2);
    EXPECT_NE(crf.err.find("--crf has no effect"), std::string::npos) << crf.err;
    const Outcome size = train(folder / "bert", folder / "size", {"--layers", "3"});
    EXPECT_EQ(size.code, 2);
}

TEST(TagCli, PlainTagsOfAnyColumn) {
    const TestFolder folder;
    std::string text = "word\tpos\tner\n";
    for (int i = 0; i < 60; ++i) text += "ba\tNOUN\tO\nke\tVERB\tO\nZor\tPROPN\tB-x\n\n";
    write_file_atomically(folder / "train.conll", text);
    const Outcome t = fovea(
        feature_words(folder / "train.conll", folder / "run", {"--tags", "pos", "--epochs", "4"}));
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(t.err.find("tags: NOUN (60), PROPN (60), VERB (60)"), std::string::npos) << t.err;
    const Outcome e = fovea({"eval", folder / "run", folder / "train.conll", "--tags", "2",
                             "--require", "accuracy=99"});
    EXPECT_EQ(e.code, 0) << e.out << e.err;
    EXPECT_EQ(fovea({"tag", folder / "run"}, {.input = "ba ke Zor\n"}).out,
              "ba/NOUN ke/VERB Zor/PROPN\n");
    const Outcome ner = fovea({"eval", folder / "run", folder / "train.conll"});
    EXPECT_EQ(ner.code, 3);
    EXPECT_NE(ner.err.find("--tags"), std::string::npos) << ner.err;
}

TEST(TagCli, DataCheckKnowsTaggedWords) {
    const TestFolder folder;
    write_file_atomically(folder / "train.conll", conll(50, 1));
    write_file_atomically(folder / "dev.conll", "ba\tO\nZor\tB-animal\n\nke\tO\n\n");
    const Outcome good = fovea({"data", "check", folder / "train.conll"});
    EXPECT_EQ(good.code, 0) << good.err;
    EXPECT_NE(good.out.find("50 sentences"), std::string::npos) << good.out;
    EXPECT_NE(good.out.find("entities: person "), std::string::npos) << good.out;
    const Outcome o =
        fovea({"data", "check", folder / "train.conll", folder / "dev.conll", "--json"});
    EXPECT_EQ(o.code, 3);
    const Json j = parse_json(o.out, "check");
    EXPECT_EQ(j["leaks"][0]["unknown"]["animal"], 1);
    EXPECT_FALSE(j["clean"]);
    write_file_atomically(folder / "bad.txt", "a\tO\nb\tO\tO\n\nc\tO\n\n");
    const Outcome bad = fovea({"data", "check", folder / "bad.txt", "--task", "tag"});
    EXPECT_EQ(bad.code, 3);
    EXPECT_NE(bad.out.find("bad.txt:2: 3 columns"), std::string::npos) << bad.out;
}

TEST(TagCli, BadInputIsOneClearError) {
    const TestFolder folder;
    int cases = 0;
    const auto refused = [&](const std::string& train, std::vector<std::string> more, int code,
                             const std::string& says) {
        ++cases;
        write_file_atomically(folder / "t.conll", train);
        more.push_back("--force");
        const Outcome o = fovea(tag_words(folder / "t.conll", folder / "bad", more));
        EXPECT_EQ(o.code, code) << says << "\n" << o.err;
        EXPECT_NE(o.err.find(says), std::string::npos) << says << "\n" << o.err;
    };
    const std::string good = conll(30, 1);
    refused("", {}, 3, "t.conll: holds no sentence");
    refused("ba\nke\n", {}, 3, "one column");
    refused("ba\tO\nke\tO\n\n", {}, 3, "no word has a tag other than O");
    refused("ba\tN\nke\tN\n\n", {}, 3, "all words have the same tag");
    refused("ba\tO\nke\tx\tO\n", {}, 3, "t.conll:2: 3 columns, but the lines before have 2");
    refused("ba\tB-x\nke\tO\nmi\tI-x\n", {}, 3, "t.conll:3: the tag I-x cannot follow O");
    refused("ba\tB-x\n\nmi\tI-y\n", {}, 3, "t.conll:3: the tag I-y cannot begin a sentence");
    refused("ba\tB-x\nke\tE-x\nmi\tE-x\n", {}, 3, "t.conll:3: the tag E-x cannot follow E-x");
    refused("ba\tO\nke\t\n", {}, 3, "t.conll:2: the tag is empty");
    refused("b\xff\tO\nke\tB-x\n", {}, 3, "t.conll:1: the word is not valid UTF-8");
    refused(good, {"--tags", "ner"}, 3, "there is no column \"ner\"");
    refused(good, {"--tags", "5"}, 3, "there is no column 5");
    refused(good, {"--words", "2"}, 2, "column 2 cannot hold both");
    refused(good, {"--scheme", "iob9"}, 2, "--scheme is `iob9`");
    refused(good, {"--model", "bort"}, 2, "--model is `bort`");
    refused(good, {"--crf", "--no-crf"}, 2, "do not go together");
    refused(good, {"--metric", "bleu"}, 2, "--metric is `bleu`");
    refused(good, {"--scheme", "plain", "--metric", "f1"}, 2, "mark no entities");
    refused(good, {"--model", "features"}, 2, "--layers");
    refused(good, {"--heads", "3"}, 2, "--heads");
    refused(good, {"--max-length", "1"}, 2, "no room for words");
    write_file_atomically(folder / "dev.conll", "ba\tO\n\nZor\tB-animal\n");
    refused(good, {"--dev", folder / "dev.conll"}, 3,
            "dev.conll:3: the type \"animal\" of this sentence was never seen");
    const Outcome skipped = fovea(
        tag_words(folder / "t.conll", folder / "skipped",
                  {"--dev", folder / "dev.conll", "--unknown-label", "skip", "--steps", "1"}));
    EXPECT_EQ(skipped.code, 0) << skipped.err;
    EXPECT_NE(skipped.err.find("1 sentence has a tag that was never seen: passed over"),
              std::string::npos)
        << skipped.err;
    write_file_atomically(folder / "dev.conll", "Zor\tB-animal\n");
    refused(good, {"--dev", folder / "dev.conll", "--unknown-label", "skip"}, 3,
            "every sentence has a tag that was never seen");
    write_file_atomically(folder / "dev.conll", "ba\tN\n\nZor\tV\n");
    refused(good, {"--dev", folder / "dev.conll"}, 3, "its tags mark no entities");
    refused(good, {"--dev", folder / "nowhere.conll"}, 4, "nowhere.conll");
    const Outcome from = fovea({"train", "--task", "tag", folder / "t.conll", "--from",
                                folder / "nowhere", "--out", folder / "bad", "--force"});
    EXPECT_EQ(from.code, 4);
    EXPECT_NE(from.err.find("nowhere: there is no such model folder"), std::string::npos);
    write_file_atomically(folder / "t.jsonl", "{\"tokens\": [\"a\", \"b\"], \"tags\": [\"O\"]}\n");
    const Outcome json = fovea(tag_words(folder / "t.jsonl", folder / "bad", {}));
    EXPECT_EQ(json.code, 3);
    EXPECT_NE(json.err.find("t.jsonl:1: 2 words but 1 tags"), std::string::npos) << json.err;
    EXPECT_GE(cases, 24);
}

TEST(TagCli, HelpShowsTheTasksFlags) {
    const Outcome c = fovea({"train", "--task", "tag", "--help"});
    EXPECT_EQ(c.code, 0);
    for (const char* flag : {"--tags", "--crf", "--no-crf", "--model"})
        EXPECT_NE(c.out.find(flag), std::string::npos) << flag;
    EXPECT_NE(fovea({"help", "all"}).out.find("tag "), std::string::npos);
    EXPECT_EQ(fovea({"tag", "--help"}).code, 0);
}

}  // namespace
}  // namespace fovea::test
