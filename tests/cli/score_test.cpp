// `fovea score` through the real program.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <zlib.h>

#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

constexpr const char* outputs =
    "The cat sat on the mat .\nIt is 5 o'clock.\nHe said that he would come.\n";
constexpr const char* right = "The cat is on the mat.\nIt is 5 o'clock.\nHe said he would come.\n";
constexpr const char* also_right = "A cat sat on the mat.\nIt's 5.\nHe said that he would come.\n";

class ScoreVerb : public ::testing::Test {
protected:
    void SetUp() override {
        char pattern[] = "/tmp/fovea-score-XXXXXX";
        folder_ = mkdtemp(pattern);
        hyp_ = write("hyp.txt", outputs);
        ref_ = write("ref.txt", right);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string write(const char* name, const std::string& text) const {
        write_file_atomically(join_path(folder_, name), text);
        return join_path(folder_, name);
    }
    // The answer as JSON; nothing else may be on standard output.
    static Json json_answer(std::vector<std::string> words, const RunOptions& options = {}) {
        words.insert(words.begin(), "score");
        words.emplace_back("--json");
        const Outcome o = fovea(words, options);
        EXPECT_EQ(o.code, 0) << o.err;
        return parse_json(o.out, "standard output");
    }
    static const Json& score_in(const Json& answer, const char* key, std::size_t system = 0) {
        return answer.at("systems").at(system).at("scores").at(key);
    }

    std::string folder_, hyp_, ref_;
};

// The expected figures are sacreBLEU 2.6.0's for these lines.
TEST_F(ScoreVerb, PrintsWhatSacrebleuPrints) {
    const Outcome o = fovea({"score", hyp_, ref_});
    EXPECT_EQ(o.code, 0);
    EXPECT_EQ(o.out,
              "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|fovea:0.1.0 = 61.66 "
              "89.5/75.0/53.8/40.0 (BP = 1.000 ratio = 1.056 hyp_len = 19 ref_len = "
              "18)\nchrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|fovea:0.1.0 = 79.72\nexact "
              "match|nrefs:1|fovea:0.1.0 = 33.33\n");
    EXPECT_EQ(o.err, "note: BLEU's tokenizer is 13a, which fits the references\n");
    EXPECT_EQ(fovea({"score", hyp_, ref_, "-q"}).err, "");
}

TEST_F(ScoreVerb, TakesSeveralReferences) {
    const std::string second = write("ref2.txt", also_right);
    const Json one = json_answer({hyp_, ref_, "--rouge"}),
               two = json_answer({hyp_, ref_, second, "--rouge"});
    EXPECT_EQ(two.at("references"), 2);
    for (const char* key : {"bleu", "chrf2", "rouge2", "rougeL", "exact_match"})
        EXPECT_GT(score_in(two, key).at("value").get<double>(),
                  score_in(one, key).at("value").get<double>())
            << key;
    EXPECT_NEAR(score_in(two, "bleu").at("value").get<double>(), 95.47069866588913, 1e-9);
    EXPECT_NEAR(score_in(two, "exact_match").at("value").get<double>(), 200.0 / 3, 1e-9);
}

TEST_F(ScoreVerb, FitsTheTokenizerToTheReferences) {
    const std::string zh = write("zh.txt", "数字是四二。\n他在北京大学学习中文。\n"),
                      out = write("out.txt", "数字是四三。\n他在北京大学学习汉语。\n");
    const Json fitted = json_answer({out, zh});
    EXPECT_EQ(fitted.at("tokenizer").at("name"), "zh");
    EXPECT_EQ(fitted.at("tokenizer").at("chosen"), "auto");
    EXPECT_EQ(score_in(fitted, "bleu").at("signature"),
              "nrefs:1|case:mixed|eff:no|tok:zh|smooth:exp|fovea:0.1.0");
    EXPECT_GT(score_in(fitted, "bleu").at("value").get<double>(), 40);
    const Json plain = json_answer({out, zh, "--tokenize", "13a"});
    EXPECT_EQ(plain.at("tokenizer").at("chosen"), "by flag");
    EXPECT_EQ(score_in(plain, "bleu").at("value"), 0);
}

TEST_F(ScoreVerb, ReadsStandardInputAndGzip) {
    const std::string packed = join_path(folder_, "ref.txt.gz");
    gzFile file = gzopen(packed.c_str(), "wb");
    gzputs(file, right);
    gzclose(file);
    const Json plain = json_answer({hyp_, ref_});
    Json piped = json_answer({"-", packed}, {.input = outputs});
    EXPECT_EQ(piped["systems"][0]["file"], "standard input");
    piped["systems"][0]["file"] = hyp_;
    EXPECT_EQ(piped, plain);
    EXPECT_EQ(fovea({"score", "-", "-"}).code, 2);
}

TEST_F(ScoreVerb, GivesConfidenceTheSameForAnyThreads) {
    std::string longer, references;
    for (int i = 0; i < 40; ++i) {
        longer += i % 3 == 0 ? "a b c x e f\n" : "a b c d e f\n";
        references += "a b c d e f\n";
    }
    const std::string hyp = write("long.txt", longer), ref = write("long-ref.txt", references);
    const Outcome one = fovea({"score", hyp, ref, "--confidence", "--threads", "1"}),
                  two = fovea({"score", hyp, ref, "--confidence", "--threads", "2"});
    EXPECT_EQ(one.out, two.out);
    EXPECT_NE(one.out.find("BLEU|nrefs:1|bs:1000|seed:12345|case:mixed"), std::string::npos)
        << one.out;
    const Json answer = json_answer({hyp, ref, "--confidence"});
    const Json& c = score_in(answer, "exact_match").at("confidence");
    EXPECT_NEAR(c.at("mean").get<double>(), 65, 2);
    EXPECT_NEAR(c.at("half_width").get<double>(), 14.8, 2);  // 1.96 · √(0.65 · 0.35 / 40)
    EXPECT_NE(fovea({"score", hyp, ref, "--confidence", "--seed", "7"}).out.find("seed:7|"),
              std::string::npos);
}

TEST_F(ScoreVerb, ComparesSystems) {
    std::string references, good, bad;
    for (int i = 0; i < 60; ++i) {
        const std::string n = std::to_string(i);
        references += "line " + n + " is a b c d\n";
        good += "line " + n + " is a b c" + (i % 5 == 0 ? " x\n" : " d\n");
        bad += "line " + n + " is a b" + (i % 2 == 0 ? " x y\n" : " c d\n");
    }
    const std::string r = write("r", references), g = write("g", good), b = write("b", bad);
    for (const char* test : {"bootstrap", "randomization"}) {
        const Json j = json_answer({b, r, "--system", g, "--system", b, "--paired", test});
        EXPECT_EQ(j.at("paired").at("test"), test);
        EXPECT_FALSE(score_in(j, "bleu", 0).contains("paired"));
        for (const char* key : {"bleu", "chrf2", "exact_match"}) {
            EXPECT_LT(score_in(j, key, 1).at("paired").at("p_value").get<double>(), 0.01) << key;
            EXPECT_GT(score_in(j, key, 1).at("paired").at("difference").get<double>(), 5) << key;
            EXPECT_EQ(score_in(j, key, 2).at("paired").at("p_value"), 1) << key;
        }
    }
    const Outcome text = fovea({"score", b, r, "--system", g, "--metric", "bleu"});
    EXPECT_NE(text.out.find("BLEU|nrefs:1|ar:10000|seed:12345|case"), std::string::npos);
    EXPECT_NE(text.out.find("p = 0.0001 *\n"), std::string::npos) << text.out;
}

TEST_F(ScoreVerb, DifferentNumbersOfLinesAreOneClearError) {
    const std::string shorter = write("short.txt", "one\ntwo\n");
    const Outcome o = fovea({"score", hyp_, shorter});
    EXPECT_EQ(o.code, 3);
    EXPECT_EQ(o.out, "");
    EXPECT_NE(o.err.find("score: " + hyp_ + " has 3 lines but " + shorter + " has 2"),
              std::string::npos)
        << o.err;
    EXPECT_EQ(fovea({"score", hyp_, ref_, "--system", shorter}).code, 3);
    EXPECT_EQ(fovea({"score", write("e", ""), write("f", "")}).code, 3);
    EXPECT_EQ(fovea({"score", hyp_, join_path(folder_, "none")}).code, 4);
}

TEST_F(ScoreVerb, RequirementsAreCheckedFirstAndMetLast) {
    EXPECT_EQ(fovea({"score", hyp_, ref_, "--require", "bleu=5", "--require", "exact=33"}).code, 0);
    const Outcome missed = fovea({"score", hyp_, ref_, "--require", "chrf=99"});
    EXPECT_EQ(missed.code, 5);
    EXPECT_NE(missed.out.find("chrF2|"), std::string::npos) << "the answer comes all the same";
    EXPECT_NE(missed.err.find("chrf2 is "), std::string::npos) << missed.err;
    // a wrong name or value is seen before the files are: they do not even exist
    for (const char* wrong : {"blue=30", "rouge=30", "bleu", "bleu=", "bleu=x", "bleu=nan"}) {
        const Outcome o = fovea({"score", "/no/hyp", "/no/ref", "--require", wrong});
        EXPECT_EQ(o.code, 2) << wrong << o.err;
    }
}

TEST_F(ScoreVerb, FlagsWithoutEffectAreUsageErrors) {
    for (const std::vector<std::string>& flags : {std::vector<std::string>{"--paired", "bootstrap"},
                                                  {"--resamples", "50"},
                                                  {"--metric", "chrf", "--tokenize", "zh"},
                                                  {"--stem"},
                                                  {"--metric", "meteor"},
                                                  {"--tokenize", "moses"}}) {
        std::vector<std::string> words{"score", "/no/hyp", "/no/ref"};
        words.insert(words.end(), flags.begin(), flags.end());
        EXPECT_EQ(fovea(words).code, 2) << flags[0];
    }
    EXPECT_EQ(fovea({"score", hyp_}).code, 2);
}

}  // namespace
}  // namespace fovea::test
