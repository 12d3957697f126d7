// Word vectors and sentence vectors through the real binary: train, resume, convert, ask, and what
// can go wrong.
#include <gtest/gtest.h>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/base/rng.h"
#include "fovea/io/test_folder.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

// Animals and vehicles, which never share a line.
std::string two_topics(int lines, std::uint64_t seed) {
    const char* const words[2][4] = {{"cat", "dog", "fur", "paw"},
                                     {"car", "road", "wheel", "fuel"}};
    Rng rng(seed);
    std::string text;
    for (int i = 0; i < lines; ++i) {
        for (int k = 0; k < 9; ++k) text += std::string(k ? " " : "") + words[i % 2][rng.below(4)];
        text += "\n";
    }
    return text;
}

// A text and the same words in another order and case.
std::string pairs(int count, std::uint64_t seed) {
    Rng rng(seed);
    const char* const words[] = {"ba", "ke", "mi", "lu", "po", "ra", "su", "to"};
    std::string text;
    for (int i = 0; i < count; ++i) {
        const std::string a = words[rng.below(8)], b = words[rng.below(8)], c = words[rng.below(8)];
        text += a + " " + b + " " + c + "\t" + c + " " + a + " " + b + "\n";
    }
    return text;
}

std::vector<std::string> vector_words(const std::string& data, const std::string& out,
                                      std::vector<std::string> more = {}) {
    std::vector<std::string> words = {
        "train",    "--task", "vectors", data,  "--out",  out, "--dim",     "12",  "--epochs", "4",
        "--sample", "0",      "--lr",    "0.1", "--seed", "3", "--buckets", "256", "--window", "3"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

TEST(VectorsCli, TrainsConvertsAndAnswers) {
    const TestFolder folder;
    write_file_atomically(folder / "text.txt", two_topics(800, 1));
    for (const std::string model : {"skipgram", "cbow"}) {
        const std::string run = folder / model;
        const Outcome t = fovea(vector_words(folder / "text.txt", run, {"--model", model}));
        ASSERT_EQ(t.code, 0) << t.err;
        EXPECT_NE(t.err.find("9 seen 5 times or more have a vector"), std::string::npos) << t.err;
        const Outcome n =
            fovea({"vectors", run, "--top", "3", "--format", "jsonl"}, {.input = "cat\nwheel\n"});
        ASSERT_EQ(n.code, 0) << n.err;
        const std::string first = n.out.substr(0, n.out.find('\n'));
        for (const char* word : {"dog", "fur", "paw"})
            EXPECT_NE(first.find(word), std::string::npos) << first;
    }
    const std::string run = folder / "skipgram";
    for (const std::string file : {"w.vec", "f.bin"}) {
        ASSERT_EQ(fovea({"convert", run, "--out", folder / file}).code, 0);
        ASSERT_EQ(fovea({"convert", folder / file, "--out", folder / (file + ".model")}).code, 0);
        const std::string ask = "cat\n";
        EXPECT_EQ(fovea({"vectors", folder / (file + ".model")}, {.input = ask}).out,
                  fovea({"vectors", run}, {.input = ask}).out);
    }
    write_file_atomically(folder / "analogies.txt", ": all\ncat dog car road\ncat dog zzz road\n");
    const Outcome e = fovea({"eval", run, "--test", folder / "analogies.txt", "--json"});
    ASSERT_EQ(e.code, 0) << e.err;
    EXPECT_NE(e.out.find("\"known\":50"), std::string::npos) << e.out;
}

TEST(VectorsCli, ResumedIsUninterruptedForAnyThreads) {
    const TestFolder folder;
    write_file_atomically(folder / "text.txt", two_topics(4000, 2));
    const std::string text = folder / "text.txt";
    ASSERT_EQ(fovea(vector_words(text, folder / "whole"), {.env = {{"FOVEA_THREADS", "1"}}}).code,
              0);
    ASSERT_EQ(
        fovea(vector_words(text, folder / "parts", {"--steps", "7", "--save-every", "3"})).code, 0);
    // The budget decides the schedule: the second sitting has the first one's.
    const Outcome whole = fovea(vector_words(text, folder / "seven", {"--steps", "7"}),
                                {.env = {{"FOVEA_THREADS", "2"}}});
    ASSERT_EQ(whole.code, 0) << whole.err;
    EXPECT_EQ(read_file(folder / "parts/model/model.safetensors"),
              read_file(folder / "seven/model/model.safetensors"));
    const Outcome two =
        fovea(vector_words(text, folder / "two"), {.env = {{"FOVEA_THREADS", "2"}}});
    ASSERT_EQ(two.code, 0);
    EXPECT_EQ(read_file(folder / "whole/model/model.safetensors"),
              read_file(folder / "two/model/model.safetensors"));
}

TEST(VectorsCli, KilledAndResumedGivesTheSameBits) {
    const TestFolder folder;
    write_file_atomically(folder / "text.txt", two_topics(4000, 2));
    const std::string text = folder / "text.txt";
    ASSERT_EQ(fovea(vector_words(text, folder / "whole")).code, 0);
    bool stopped = false;
    RunOptions options;
    options.poll = [&](pid_t child, const std::string&) {
        if (!stopped && file_exists(folder / "parts/metrics.jsonl") &&
            file_size(folder / "parts/metrics.jsonl") > 0) {
            stopped = true;
            kill(child, SIGINT);
        }
    };
    fovea(vector_words(text, folder / "parts"), options);
    const Outcome r = fovea({"train", "--task", "vectors", "--out", folder / "parts", "--resume"});
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(read_file(folder / "parts/model/model.safetensors"),
              read_file(folder / "whole/model/model.safetensors"));
}

TEST(EmbedCli, LearnsPairsAndFindsNearestLines) {
    const TestFolder folder;
    write_file_atomically(folder / "pairs.tsv", pairs(600, 1));
    const Outcome t = fovea({"train",        "--task",
                             "embed",        folder / "pairs.tsv",
                             "--out",        folder / "run",
                             "--layers",     "1",
                             "--d-model",    "32",
                             "--ffn",        "48",
                             "--heads",      "2",
                             "--vocab",      "words",
                             "--epochs",     "6",
                             "--seed",       "3",
                             "--max-tokens", "512",
                             "--lr",         "0.003"});
    ASSERT_EQ(t.code, 0) << t.err;
    write_file_atomically(folder / "test.tsv",
                          "ba ke mi\tmi ba ke\nlu po ra\tra lu po\nsu to to\tto su to\n");
    const Outcome e = fovea({"eval", folder / "run", "--test", folder / "test.tsv", "--json"});
    ASSERT_EQ(e.code, 0) << e.err;
    EXPECT_NE(e.out.find("\"accuracy\":100"), std::string::npos) << e.out;
    write_file_atomically(folder / "lines.txt", "mi ba ke\nra lu po\nto su to\n");
    const Outcome n =
        fovea({"embed", folder / "run", "--nearest", folder / "lines.txt", "--top", "1"},
              {.input = "lu po ra\n"});
    ASSERT_EQ(n.code, 0) << n.err;
    EXPECT_NE(n.out.find("\tra lu po\n"), std::string::npos) << n.out;
    const Outcome s = fovea({"embed", folder / "run", "--similarity"}, {.input = "ba ke\tba ke\n"});
    EXPECT_EQ(s.out, "1.0000\n") << s.err;
    const Outcome v = fovea({"embed", folder / "run", "--format", "jsonl"}, {.input = "ba\n"});
    EXPECT_EQ(Json::parse(v.out)["vector"].size(), 32u);
}

TEST(EmbedCli, WordVectorsStartAnEmbedding) {
    const TestFolder folder;
    write_file_atomically(folder / "text.txt", two_topics(300, 1));
    ASSERT_EQ(fovea(vector_words(folder / "text.txt", folder / "v")).code, 0);
    write_file_atomically(folder / "train.tsv",
                          "text\tlabel\ncat dog\tanimal\ncar road\tvehicle\nfur unknown\tanimal\n");
    const auto train = [&](const std::string& out, std::vector<std::string> more) {
        std::vector<std::string> words = {
            "train",    "--task",     "classify", folder / "train.tsv",
            "--out",    folder / out, "--vocab",  "words",
            "--layers", "1",          "--heads",  "2",
            "--steps",  "2",          "--dev",    "none",
            "--model",  "transformer"};
        words.insert(words.end(), more.begin(), more.end());
        return fovea(words);
    };
    const Outcome t = train("run", {"--d-model", "12", "--vectors", folder / "v"});
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(t.err.find("words of the vocabulary have a vector in"), std::string::npos) << t.err;
    const Outcome wide = train("wide", {"--d-model", "16", "--vectors", folder / "v"});
    EXPECT_EQ(wide.code, 2);
    EXPECT_NE(wide.err.find("--d-model 12"), std::string::npos) << wide.err;
}

struct BadCase {
    std::vector<std::string> words;
    const char* says;
    std::string input{};
};

TEST(EmbedCli, BadInputIsOneClearError) {
    const TestFolder folder;
    write_file_atomically(folder / "text.txt", two_topics(60, 1));
    write_file_atomically(folder / "rare.txt", "one two three\n");
    write_file_atomically(folder / "empty.txt", "\n\n");
    write_file_atomically(folder / "one.tsv", "a b\tb a\n");
    write_file_atomically(folder / "bad.vec", "2 3\na 1 2 3\nb 1 2\n");
    write_file_atomically(folder / "nan.vec", "1 2\na 1 nan\n");
    write_file_atomically(folder / "few.vec", "5 1\na 1\n");
    write_file_atomically(folder / "cut.bin",
                          std::string("\xba\x16\x4f\x2f\x0c\x00\x00\x00\x64", 9));
    write_file_atomically(folder / "analogies.txt", "a b c\n");
    write_file_atomically(folder / "latin.txt", "caf\xe9 caf\xe9\n");
    const std::string run = folder / "run", text = folder / "text.txt";
    ASSERT_EQ(fovea(vector_words(text, run)).code, 0);
    const std::string plain = folder / "plain";  // without n-grams, so that words may be unknown
    ASSERT_EQ(
        fovea({"train", "--task", "vectors", text, "--out", plain, "--max-n", "0", "--epochs", "1"})
            .code,
        0);
    write_file_atomically(folder / "two.tsv", "a b\tb a\nc d\td c\n");
    const std::vector<BadCase> cases = {
        {vector_words(folder / "none.txt", folder / "x"), "there is no such file"},
        {vector_words(folder / "rare.txt", folder / "x"), "0 of 4 words were seen 5 times or more"},
        {vector_words(folder / "empty.txt", folder / "x"), "0 of 0 words"},
        {vector_words(folder / "latin.txt", folder / "x"), "UTF-8"},
        {vector_words(text, folder / "x", {"--min-n", "7"}), "--min-n 7 is above --max-n 6"},
        {{"train", "--task", "vectors", text, "--max-n", "0", "--min-n", "2"},
         "--min-n has no effect"},
        {vector_words(text, folder / "x", {"--clip", "2"}), "--clip has no effect"},
        {vector_words(text, folder / "x", {"--model", "glove"}), "glove"},
        {{"vectors", plain}, "nothing is known of the word", "zzzz\n"},
        {{"vectors", run}, "has no + or - before \"dog\"", "cat dog\n"},
        {{"vectors", run}, "ends with a sign", "cat -\n"},
        {{"vectors", run}, "an empty line", "\n"},
        {{"vectors", text}, "is a file, but a model is a folder", "cat\n"},
        {{"eval", run, "--test", folder / "analogies.txt"}, "an analogy has four words"},
        {{"convert", folder / "bad.vec", "--out", folder / "y"}, "bad.vec:3: has 2 numbers"},
        {{"convert", folder / "nan.vec", "--out", folder / "y"}, "is not a number"},
        {{"convert", folder / "few.vec", "--out", folder / "y"},
         "line 1 says 5 words, but there are 1"},
        {{"convert", folder / "cut.bin", "--out", folder / "y"}, "the file ends before"},
        {{"convert", run, "--out", text}, "is there already"},
        {{"embed", run, "--nearest", folder / "empty.txt"}, "there is no line in it", "cat\n"},
        {{"embed", run, "--nearest", folder / "no.txt"}, "no.txt", "cat\n"},
        {{"embed", run, "--pool", "max"}, "holds word vectors", "cat\n"},
        {{"embed", run, "--similarity"}, "there is only one text", "cat\n"},
        {{"embed", run, "--similarity", "--nearest", text}, "two questions", "cat\n"},
        {{"train", "--task", "embed", folder / "one.tsv", "--out", folder / "x"},
         "at least two are wanted"},
        {{"train", "--task", "embed", folder / "two.tsv", "--out", folder / "x", "--from", run},
         "word vectors"},
    };
    for (const BadCase& c : cases) {
        const Outcome o = fovea(c.words, {.input = c.input});
        EXPECT_NE(o.code, 0) << c.says;
        EXPECT_LT(o.code, 128) << c.says;
        EXPECT_NE(o.err.find(c.says), std::string::npos) << c.says << "\n" << o.err;
        EXPECT_NE(o.err.find("error"), std::string::npos) << o.err;
    }
}

}  // namespace
}  // namespace fovea::test
