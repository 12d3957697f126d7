// The whole way through the real binary: train, interrupt, kill, resume, evaluate, translate.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/base/rng.h"
#include "fovea/data/dates.h"

namespace fovea {
namespace {

std::string folder() {
    static const std::string path = [] {
        std::string name = testing::TempDir() + "/fovea_seq2seq_XXXXXX";
        return std::string(::mkdtemp(name.data()));
    }();
    return path;
}

std::string dates_file(const std::string& name, std::int64_t count, bool held_out) {
    std::string text;
    for (const TextPair& p : written_dates({.count = count, .held_out = held_out}))
        text += p.source + "\t" + p.target + "\n";
    const std::string path = folder() + "/" + name;
    write_file_atomically(path, text);
    return path;
}

struct Ran {
    int code;
    std::string out, err;
};

Ran fovea(const std::string& arguments, const std::string& input = "") {
    const std::string base = folder() + "/io";
    write_file_atomically(base + ".in", input);
    const int status = std::system((std::string(FOVEA_BINARY) + " " + arguments + " < " + base +
                                    ".in > " + base + ".out 2> " + base + ".err")
                                       .c_str());
    return {WEXITSTATUS(status), read_file(base + ".out"), read_file(base + ".err")};
}

std::string train_flags(const std::string& run, int steps) {
    static const std::string train = dates_file("train.tsv", 400, false);
    return "train --train " + train + " --out " + folder() + "/" + run + " --steps " +
           std::to_string(steps) +
           " --vocab characters --preset tiny --d-model 32 --ffn 48 --heads 2 --encoder-layers 1 "
           "--decoder-layers 1"
           " --max-tokens 300 --save-every 5 --warmup 5 --lr 3e-3 --seed 4";
}

std::string weights(const std::string& run) {
    return read_file(folder() + "/" + run + "/model/model.safetensors");
}
std::string log_of(const std::string& run) {
    return read_file(folder() + "/" + run + "/metrics.jsonl");
}

TEST(Seq2SeqCli, TrainEvaluateTranslate) {
    const Ran trained = fovea(train_flags("a", 30));
    ASSERT_EQ(trained.code, 0) << trained.err;
    EXPECT_NE(trained.err.find("saved"), std::string::npos) << trained.err;
    const std::string test = dates_file("test.tsv", 20, true), model = folder() + "/a/model";
    const Ran eval = fovea("eval " + model + " --test " + test + " --json --beam 2");
    ASSERT_EQ(eval.code, 0) << eval.err;
    const Json j = parse_json(eval.out, "eval");
    EXPECT_EQ(j["metric"], "BLEU");
    EXPECT_NE(j["signature"].get<std::string>().find("tok:13a"), std::string::npos);
    EXPECT_EQ(fovea("eval " + model + " --test " + test + " --require bleu=101").code, 5);

    const Ran two = fovea("translate " + model, "5 May 1999\n1. Mai 1950\n");
    ASSERT_EQ(two.code, 0) << two.err;
    const std::string first = two.out.substr(0, two.out.find('\n'));
    EXPECT_EQ(fovea("translate " + model, "5 May 1999\n").out,
              first + "\n");  // alone as in a batch
    const Ran n_best = fovea(
        "translate " + model + " --beam 3 --n-best 3 --format jsonl --alignments", "5 May 1999\n");
    EXPECT_EQ(parse_json(n_best.out, "n-best")["n_best"].size(), 3u) << n_best.err;
    EXPECT_EQ(fovea("summarise " + model, "x\n").code, 2);  // another task
    for (const char* precision : {"bf16", "int8"})
        EXPECT_EQ(fovea("translate " + model + " --precision " + precision, "5 May 1999\n").code, 0)
            << precision;
    const Ran score = fovea("translate " + model + " --score " + test, "x\n");
    EXPECT_EQ(score.code, 3);  // 20 targets for one source

    const Ran average = fovea("average " + folder() + "/a --last 3 --out " + folder() + "/mean");
    ASSERT_EQ(average.code, 0) << average.err;
    EXPECT_EQ(fovea("translate " + folder() + "/mean", "5 May 1999\n").code, 0);
}

TEST(Seq2SeqCli, AModelSavedAndLoadedIsTheSameModel) {
    const Ran trained = fovea(train_flags("same", 3));
    ASSERT_EQ(trained.code, 0) << trained.err;
    const Ran a = fovea("translate " + folder() + "/same/model --format jsonl", "5 May 1999\n");
    const Ran b =
        fovea("--threads 1 translate " + folder() + "/same/model --format jsonl", "5 May 1999\n");
    EXPECT_EQ(a.out, b.out);
}

TEST(Seq2SeqCli, KilledAndResumedIsBitForBitTheUninterruptedRun) {
    ASSERT_EQ(fovea(train_flags("whole", 40)).code, 0);
    const char* cycles_text = std::getenv("FOVEA_KILL_CYCLES");
    const int cycles = cycles_text ? std::atoi(cycles_text) : 4;
    Rng rng(11);
    for (int c = 0; c < cycles; ++c) {
        std::filesystem::remove_all(folder() + "/parts");
        for (int sitting = 0; sitting < 6; ++sitting) {
            const pid_t child = ::fork();
            if (child == 0) {
                const std::string command = std::string("exec ") + FOVEA_BINARY + " " +
                                            train_flags("parts", 40) +
                                            " --resume -q > /dev/null 2>&1";
                ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
                ::_exit(127);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(50 + rng.below(500)));
            ::kill(child, SIGKILL);
            ::waitpid(child, nullptr, 0);
        }
        const Ran last = fovea(train_flags("parts", 40) + " --resume");
        ASSERT_EQ(last.code, 0) << last.err;
        EXPECT_TRUE(weights("whole") == weights("parts")) << "cycle " << c;
        EXPECT_EQ(log_of("whole"), log_of("parts")) << "cycle " << c;
    }
}

TEST(Seq2SeqCli, InterruptSavesAndSaysHowToGoOn) {
    const pid_t child = ::fork();
    if (child == 0) {
        const std::string command = std::string("exec ") + FOVEA_BINARY + " " +
                                    train_flags("int", 100000) + " > " + folder() + "/int.out 2>&1";
        ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
        ::_exit(127);
    }
    for (int i = 0; i < 600 && !file_exists(folder() + "/int/step-0000000005"); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ::kill(child, SIGINT);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 130);
    EXPECT_NE(read_file(folder() + "/int.out").find("--resume"), std::string::npos);
}

TEST(Seq2SeqCli, MistakesAreOneClearErrorEach) {
    const std::string bad = folder() + "/bad.tsv";
    write_file_atomically(bad, "one\ttwo\nonly one column\n");
    struct Case {
        std::string arguments;
        int code;
        const char* says;
    };
    for (const Case& c :
         {Case{"train --out x", 2, "no data"}, Case{"train --train " + bad, 2, "--out"},
          Case{"train --train " + bad + " --out " + folder() + "/x", 3, ":2: 1 column"},
          Case{"train --train /no/such.tsv --out " + folder() + "/x", 4, "/no/such.tsv"},
          Case{"train --preset huge", 2, "huge"}, Case{"train --batchsize 3", 2, "batchsize"},
          Case{"translate /no/model", 4, "/no/model"},
          Case{"eval /no/model --test x.tsv", 4, "/no/model"},
          Case{"average /no/run --out y", 4, "/no/run"}}) {
        const Ran r = fovea(c.arguments);
        EXPECT_EQ(r.code, c.code) << c.arguments << "\n" << r.err;
        EXPECT_NE(r.err.find(c.says), std::string::npos) << c.arguments << "\n" << r.err;
        EXPECT_NE(r.err.find("error:"), std::string::npos) << r.err;
        EXPECT_TRUE(r.out.empty()) << r.out;
    }
}

}  // namespace
}  // namespace fovea
