// The whole way through the real binary: train, interrupt, kill, resume, evaluate, translate.
#include <gtest/gtest.h>
#include <signal.h>

#include "fovea/base/clock.h"
#include "fovea/base/rng.h"
#include "tests/seq2seq/run_fovea.h"

namespace fovea {
namespace {

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
    // The only checkpoint, read and written again as a model of its own.
    const std::string again = folder() + "/again";
    ASSERT_EQ(fovea("average " + folder() + "/same --last 1 --out " + again).code, 0);
    EXPECT_EQ(read_file(again + "/model.safetensors"), weights("same"));
    for (const char* file : {"config.json", "generation_config.json", "tokenizer.json"})
        EXPECT_EQ(read_file(join_path(again, file)),
                  read_file(join_path(folder() + "/same/model", file)))
            << file;
    const Ran a = fovea("translate " + folder() + "/same/model --format jsonl", "5 May 1999\n");
    EXPECT_EQ(fovea("translate " + again + " --format jsonl", "5 May 1999\n").out, a.out);
}

TEST(Seq2SeqCli, TranslationsDoNotDependOnTheThreads) {
    const std::string model = folder() + "/same/model";
    if (!file_exists(model)) {
        ASSERT_EQ(fovea(train_flags("same", 3)).code, 0);
    }
    const Ran a = fovea("--threads 3 translate " + model + " --format jsonl", "5 May 1999\n");
    EXPECT_EQ(fovea("--threads 1 translate " + model + " --format jsonl", "5 May 1999\n").out,
              a.out);
}

// Starts the program and kills it after so many seconds. True if it was still running.
bool killed_after(double seconds, const std::string& arguments) {
    const Stopwatch clock;
    const auto kill_in_time = [&](pid_t child, const std::string&) {
        if (clock.seconds() >= seconds) ::kill(child, SIGKILL);
    };
    return test::fovea(test::words_of(arguments), {.poll = kill_in_time}).code == 128 + SIGKILL;
}

// A run that is killed at random moments of the time it takes, and resumed each time, until a
// sitting reaches its end; so many times.
void kill_and_resume(int cycles, const std::string& more_flags) {
    // with evaluations between the checkpoints, so that best ones are saved out of turn
    const std::string dev = dates_file("kill_dev.tsv", 6, true) + " --eval-every 7 --max-length 12";
    const auto flags = [&](const std::string& run) {
        return train_flags(run, 60, dev) + more_flags;
    };
    std::filesystem::remove_all(folder() + "/whole");
    const Stopwatch clock;
    ASSERT_EQ(fovea(flags("whole")).code, 0);
    const double takes = clock.seconds();
    Rng rng(11);
    int kills = 0;
    // On a machine that grows faster meanwhile the kills may come too late: then there are more
    // runs.
    for (int c = 0; c < cycles || (kills < cycles && c < 8 * cycles); ++c) {
        std::filesystem::remove_all(folder() + "/parts");
        for (int sitting = 0; sitting < 12; ++sitting) {
            if (!killed_after(rng.uniform(0, takes), flags("parts") + " --resume -q")) break;
            ++kills;
        }
        const Ran last = fovea(flags("parts") + " --resume");
        ASSERT_EQ(last.code, 0) << last.err;
        ASSERT_TRUE(weights("whole") == weights("parts")) << "cycle " << c;
        ASSERT_EQ(log_of("whole"), log_of("parts")) << "cycle " << c;
    }
    EXPECT_GE(kills, cycles) << "the kills came too late to meet a run";
    std::printf("%d runs, killed %d times in all\n", cycles, kills);
}

TEST(Seq2SeqCli, KilledAndResumedIsBitForBitTheUninterruptedRun) { kill_and_resume(4, ""); }

TEST(Seq2SeqCli, KilledAndResumedWithAccumulationBf16AndAnAverage) {
    kill_and_resume(2, " --accumulate 3 --precision bf16 --ema 0.9");
}

// FOVEA_KILL_CYCLES sets another number, for a night of it.
TEST(Seq2SeqCliSlow, FiftyKillAndResumeCycles) {
    const char* cycles = std::getenv("FOVEA_KILL_CYCLES");
    kill_and_resume(cycles ? std::atoi(cycles) : 50, "");
}

// The printed command is the whole way back: data, flags and seed are in the run's config.toml.
TEST(Seq2SeqCli, TheRecipeOfARunResumesIt) {
    ASSERT_EQ(fovea(train_flags("straight", 24)).code, 0);
    ASSERT_EQ(fovea(train_flags("halved", 12)).code, 0);
    const std::string run = folder() + "/halved";
    const Ran on =
        fovea("train --config " + run + "/config.toml --out " + run + " --steps 24 --resume");
    ASSERT_EQ(on.code, 0) << on.err;
    EXPECT_TRUE(weights("straight") == weights("halved"));
    EXPECT_EQ(log_of("straight"), log_of("halved"));
    const Ran other = fovea("train --config " + run + "/config.toml --out " + run +
                            " --steps 30 --resume --seed 5");
    EXPECT_EQ(other.code, 3) << other.err;
    EXPECT_NE(other.err.find("--seed"), std::string::npos) << other.err;
}

TEST(Seq2SeqCli, EveryPositionCodeTrainsSavesAndLoads) {
    for (const char* code : {"relative", "rotary", "learned", "unit", "none"}) {
        const Ran r = fovea(train_flags(code, 3) + " --positions " + code + " --max-relative 5");
        ASSERT_EQ(r.code, 0) << code << r.err;
        const std::string model = folder() + "/" + code + "/model";
        const Json config = read_json(model + "/config.json");
        EXPECT_EQ(config["model_type"], "fovea_transformer");
        EXPECT_EQ(config["position_embedding_type"], code);
        const Ran t = fovea("translate " + model + " --beam 3", "5 May 1999\n1 May 1950\n");
        EXPECT_EQ(t.code, 0) << code << t.err;
    }
}

TEST(Seq2SeqCli, ALimitedRunDrawsItsPairsBySeed) {
    const std::string data = dates_file("sorted.tsv", 400, false);
    const auto examples = [&](const std::string& more) {
        const Ran r = fovea("train --train " + data +
                            " --preset tiny --vocab characters --limit 30 --dry-run --dump " +
                            folder() + "/drawn" + more);
        EXPECT_EQ(r.code, 0) << r.err;
        return read_file(folder() + "/drawn/examples.jsonl");
    };
    const std::string a = examples(" --seed 4");
    EXPECT_EQ(std::count(a.begin(), a.end(), '\n'), 30);
    EXPECT_EQ(a, examples(" --seed 4"));
    EXPECT_NE(a, examples(" --seed 9"));
    write_file_atomically(folder() + "/seed.toml", "[train]\nseed = 4\n");
    EXPECT_EQ(a, examples(" --config " + folder() + "/seed.toml"));
}

TEST(Seq2SeqCli, InterruptSavesAndSaysHowToGoOn) {
    const Stopwatch clock;
    bool sent = false;
    const auto interrupt = [&](pid_t child, const std::string&) {
        if (sent || (clock.seconds() < 30 && !file_exists(folder() + "/int/step-0000000005")))
            return;
        sent = true;
        ::kill(child, SIGINT);
    };
    const Ran r = test::fovea(test::words_of(train_flags("int", 100000)), {.poll = interrupt});
    EXPECT_EQ(r.code, 130);
    EXPECT_NE(r.err.find("--resume"), std::string::npos) << r.err;
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
         {Case{"train --out x", 2, "no data"}, Case{"train --train " + bad, 3, ":2: 1 column"},
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
