// What a first look at the program found about runs, each through the real binary: the best model
// is kept and named, old runs do not shine through, budgets are followed.
#include <algorithm>

#include "tests/seq2seq/run_fovea.h"

namespace fovea {
namespace {

bool says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::vector<Json> lines_of_log(const std::string& run, bool evaluations) {
    std::vector<Json> found;
    LineReader lines(folder() + "/" + run + "/metrics.jsonl");
    for (std::string line; lines.next(line);) {
        Json j = parse_json(line, "metrics");
        if (j.contains("eval") == evaluations) found.push_back(j);
    }
    return found;
}

// The step that "saved RUN/model: step N" names; -1 where it names none.
std::int64_t saved_step(const std::string& err) {
    const std::size_t at = err.find("/model: step ");
    return at == std::string::npos ? -1 : std::stoll(err.substr(at + 13));
}

std::string file_of(const std::string& name, const std::string& text) {
    const std::string path = folder() + "/" + name;
    write_file_atomically(path, text);
    return path;
}

// "number 42" to its digits in Chinese: no spaces in the target.
std::string chinese(const std::string& name, int from, int to) {
    static const char* const digits[] = {"〇", "一", "二", "三", "四",
                                         "五", "六", "七", "八", "九"};
    std::string text;
    for (int n = from; n < to; ++n)
        text += "number " + std::to_string(n) + "\t数字是" + digits[n / 10 % 10] + digits[n % 10] +
                "。\n";
    return file_of(name, text);
}

std::string tiny(const std::string& data, const std::string& run, const std::string& more) {
    return "train --train " + data + " --out " + folder() + "/" + run +
           " --vocab characters --preset tiny --d-model 32 --ffn 48 --heads 2 --encoder-layers 1"
           " --decoder-layers 1 --max-tokens 300 --lr 3e-3 --seed 4 --max-length 12 " +
           more;
}

TEST(RunDefects, AChineseTargetKeepsTheModelThatLearnt) {
    const std::string train = chinese("zh.tsv", 10, 90), dev = chinese("zh_dev.tsv", 90, 99);
    const Ran r = fovea(tiny(train, "zh", "--dev " + dev + " --steps 40 --eval-every 10"));
    ASSERT_EQ(r.code, 0) << r.err;
    const std::vector<Json> evaluations = lines_of_log("zh", true);
    ASSERT_EQ(evaluations.size(), 4u);
    for (const Json& e : evaluations) EXPECT_GT(e.at("dev_loss").get<double>(), 0);
    const std::int64_t step = saved_step(r.err);
    EXPECT_GT(step, 10) << r.err;
    for (const Json& e : evaluations)
        if (e["value"] == evaluations[0]["value"] && e["step"] == step) {
            EXPECT_LT(e["dev_loss"], evaluations[0]["dev_loss"]);
        }
    EXPECT_EQ(read_json(folder() + "/zh/BEST")["step"], step);
    const Json about = read_json(folder() + "/zh/model/fovea.json");
    EXPECT_TRUE(says(about["dev"]["signature"].get<std::string>(), "tok:zh")) << about;
    EXPECT_TRUE(about["dev"].contains("loss"));
}

TEST(RunDefects, TargetsTooShortForBleuAreMeasuredByChrf) {
    std::string text;
    for (int i = 0; i < 60; ++i)
        text += std::to_string(i) + " plus two\t" + std::to_string(i + 2) + "\n";
    const std::string data = file_of("short.tsv", text);
    const Ran automatic = fovea(tiny(data, "short", "--dev " + data + " --steps 6 --eval-every 2"));
    ASSERT_EQ(automatic.code, 0) << automatic.err;
    EXPECT_TRUE(says(automatic.err, "metric: chrf")) << automatic.err;
    EXPECT_EQ(lines_of_log("short", true)[0]["eval"], "chrF2");

    const Ran bleu = fovea(
        tiny(data, "short_bleu", "--dev " + data + " --steps 8 --eval-every 2 --metric bleu"));
    ASSERT_EQ(bleu.code, 0) << bleu.err;
    EXPECT_TRUE(says(bleu.err, "0 at every evaluation")) << bleu.err;
    double best = 1e9;
    std::int64_t best_step = 0;
    for (const Json& e : lines_of_log("short_bleu", true))
        if (e["dev_loss"].get<double>() <= best) best = e["dev_loss"], best_step = e["step"];
    EXPECT_EQ(saved_step(bleu.err), best_step) << bleu.err;

    const Ran loss = fovea(tiny(data, "short_loss", "--dev " + data + " --steps 4 --metric loss"));
    ASSERT_EQ(loss.code, 0) << loss.err;
    EXPECT_TRUE(says(loss.err, "dev loss")) << loss.err;
    EXPECT_EQ(fovea(tiny(data, "x", "--metric rogue --steps 1")).code, 2);
}

TEST(RunDefects, ThereIsALastEvaluationAndTheModelIsNamed) {
    const std::string dev = dates_file("last_dev.tsv", 6, true);
    const Ran r = fovea(train_flags("last", 7, dev + " --eval-every 5 --max-length 12"));
    ASSERT_EQ(r.code, 0) << r.err;
    const std::vector<Json> evaluations = lines_of_log("last", true);
    ASSERT_EQ(evaluations.size(), 2u);
    EXPECT_EQ(evaluations[1]["step"], 7);
    EXPECT_EQ(evaluations[1]["epoch"], 1);
    EXPECT_EQ(lines_of_log("last", false)[0]["epoch"], 1);  // as on the screen
    const std::int64_t step = saved_step(r.err);
    EXPECT_TRUE(step == 5 || step == 7) << r.err;
    EXPECT_TRUE(says(r.err, "dev BLEU")) << r.err;

    const Ran within = fovea(train_flags("within", 4, dev + " --max-length 12"));
    ASSERT_EQ(within.code, 0) << within.err;  // no epoch ends in four updates
    EXPECT_EQ(lines_of_log("within", true).size(), 1u);
    EXPECT_EQ(saved_step(within.err), 4);
}

TEST(RunDefects, TheBestBetweenTwoCheckpointsIsOneItself) {
    const std::string dev = dates_file("between_dev.tsv", 6, true);
    const Ran r =
        fovea(train_flags("between", 8, dev + " --eval-every 3 --metric loss") + " --keep 1");
    ASSERT_EQ(r.code, 0) << r.err;
    const Json best = read_json(folder() + "/between/BEST");
    EXPECT_EQ(best["step"], saved_step(r.err));
    char name[32];
    std::snprintf(name, sizeof name, "step-%010d", best["step"].get<int>());
    EXPECT_TRUE(file_exists(folder() + "/between/" + name + "/MANIFEST.json")) << name;
}

TEST(RunDefects, WithoutADevFileSomePairsAreKeptBack) {
    const std::string many = dates_file("many.tsv", 400, false);
    const Ran split = fovea(tiny(many, "split", "--steps 2"));
    ASSERT_EQ(split.code, 0) << split.err;
    EXPECT_TRUE(says(split.err, "20 of the pairs kept back")) << split.err;
    EXPECT_EQ(lines_of_log("split", true).size(), 1u);
    const Ran none = fovea(tiny(many, "unsplit", "--steps 2 --dev none"));
    EXPECT_TRUE(says(none.err, "data: 400 training pairs")) << none.err;
    EXPECT_EQ(lines_of_log("unsplit", true).size(), 0u);
    const Ran few = fovea(tiny(dates_file("few.tsv", 100, false), "few", "--steps 2"));
    EXPECT_TRUE(says(few.err, "data: 100 training pairs")) << few.err;
    EXPECT_EQ(lines_of_log("few", true).size(), 0u);
}

TEST(RunDefects, ForceStartsClean) {
    ASSERT_EQ(fovea(train_flags("again", 20)).code, 0);
    const std::string run = folder() + "/again", old = weights("again");
    write_file_atomically(run + "/notes.txt", "mine");
    EXPECT_EQ(fovea(train_flags("again", 12)).code, 2);  // refused
    const Ran forced = fovea(train_flags("again", 12) + " --force --smoothing 0");
    ASSERT_EQ(forced.code, 0) << forced.err;
    EXPECT_NE(weights("again"), old);
    std::vector<std::string> names = list_folder(run);
    std::erase_if(names, [](const std::string& n) { return n.rfind("step-", 0) != 0; });
    EXPECT_EQ(names,
              (std::vector<std::string>{"step-0000000005", "step-0000000010", "step-0000000012"}));
    EXPECT_TRUE(file_exists(run + "/notes.txt"));
    EXPECT_EQ(lines_of_log("again", false).size(), 12u);
    const Ran average = fovea("average " + run + " --last 50 --out " + folder() + "/again_mean");
    EXPECT_EQ(average.code, 0) << average.err;
    EXPECT_TRUE(says(average.err, "only 3 checkpoints")) << average.err;

    write_file_atomically(run + "/model/notes.txt", "mine");
    const Ran strange = fovea(train_flags("again", 12) + " --force");
    EXPECT_EQ(strange.code, 2) << strange.err;
    EXPECT_TRUE(says(strange.err, "model/notes.txt")) << strange.err;
    EXPECT_TRUE(file_exists(run + "/step-0000000012/MANIFEST.json"));
}

TEST(RunDefects, AverageNeverMixesRuns) {
    ASSERT_EQ(fovea(train_flags("mix_a", 10)).code, 0);
    ASSERT_EQ(fovea(train_flags("mix_b", 15)).code, 0);
    std::filesystem::copy(folder() + "/mix_b/step-0000000015", folder() + "/mix_a/step-0000000015",
                          std::filesystem::copy_options::recursive);
    const Ran r = fovea("average " + folder() + "/mix_a --last 3 --out " + folder() + "/mixed");
    EXPECT_EQ(r.code, 3) << r.err;
    EXPECT_TRUE(says(r.err, "different runs")) << r.err;
    EXPECT_EQ(fovea("average " + folder() + "/mix_a --last 1 --out " + folder() + "/mixed").code,
              0);
}

TEST(RunDefects, AShortRunReachesItsFullRateAndComesDownAgain) {
    const std::string data = dates_file("plan.tsv", 400, false);
    int number = 0;
    for (const std::string budget : {"--minutes 0.1", "--epochs 1", "--steps 25"}) {
        for (const std::string kind : {"", " --schedule cosine"}) {
            const std::string run = "plan" + std::to_string(++number);
            const Ran r = fovea(tiny(data, run, "--dev none --save-every 100000 " + budget + kind));
            ASSERT_EQ(r.code, 0) << budget << r.err;
            double highest = 0, last = 1;
            for (const Json& step : lines_of_log(run, false)) {
                last = step["lr"];
                highest = std::max(highest, last);
            }
            EXPECT_DOUBLE_EQ(highest, 3e-3) << budget << kind;
            // A machine that others slow down after the measurement may run out of time.
            if (!says(r.err, "out of time")) {
                EXPECT_LT(last, 3e-4) << budget << kind;
            }
        }
    }
}

TEST(RunDefects, MinutesAreUpdatesThatAResumedRunKeeps) {
    const std::string data = dates_file("plan.tsv", 400, false), run = folder() + "/minutes";
    const Ran r = fovea(tiny(data, "minutes", "--dev none --minutes 0.02"));
    ASSERT_EQ(r.code, 0) << r.err;
    std::string config = read_file(run + "/config.toml");
    const std::size_t at = config.find("planned-updates = ");
    ASSERT_NE(at, std::string::npos) << config;
    const std::int64_t planned = std::stoll(config.substr(at + 18));
    EXPECT_GT(planned, 0);
    EXPECT_TRUE(says(r.err, "plan: " + std::to_string(planned) + " updates")) << r.err;
    const std::string newest = read_file(run + "/LATEST");
    EXPECT_EQ(read_json(run + "/" + newest.substr(0, 15) + "/state.json")["planned_updates"],
              planned);

    // Minutes to spare and a plan of 20 updates: it ends by the plan, in one sitting or in two.
    const std::size_t end = config.find('\n', at), minutes = config.find("minutes = 0.02");
    config.replace(at, end - at, "planned-updates = 20");
    config.replace(minutes, 14, "minutes = 30");
    config.replace(config.find("save-every = 0"), 14, "save-every = 8");
    const std::string recipe = file_of("minutes.toml", config);
    const auto out = [](const char* name) { return " --out " + folder() + "/" + name; };
    ASSERT_EQ(fovea("train --config " + recipe + out("by_plan")).code, 0);
    EXPECT_EQ(lines_of_log("by_plan", false).size(), 20u);
    ASSERT_EQ(fovea("train --config " + recipe + out("in_two")).code, 0);
    std::filesystem::remove_all(folder() + "/in_two/step-0000000020");
    const Ran second = fovea("train --resume" + out("in_two"));
    ASSERT_EQ(second.code, 0) << second.err;
    EXPECT_TRUE(weights("by_plan") == weights("in_two"));
    EXPECT_EQ(read_file(folder() + "/by_plan/metrics.jsonl"),
              read_file(folder() + "/in_two/metrics.jsonl"));
}

TEST(RunDefects, DefaultsAreShownAsTheyAre) {
    const std::string help = fovea("train --help-all").out;
    EXPECT_FALSE(says(help, "[-1]")) << help;
    for (const char* flag :
         {"--lr ", "--warmup ", "--steps ", "--minutes ", "--d-model ", "--heads "}) {
        const std::size_t at = help.find(flag);
        ASSERT_NE(at, std::string::npos) << flag;
        EXPECT_FALSE(says(help.substr(at, help.find("\n  --", at) - at), "[0]")) << flag;
    }
    EXPECT_TRUE(says(fovea("train --help").out, "--epochs"));
    const std::string data = dates_file("plan.tsv", 400, false);
    const Ran dry = fovea(tiny(data, "dry", "--dry-run --epochs 3"));
    ASSERT_EQ(dry.code, 0) << dry.err;
    EXPECT_TRUE(says(dry.out, " in all")) << dry.out;
    EXPECT_TRUE(says(dry.out, "learning rate 0.003 (linear, warm-up ")) << dry.out;
    ASSERT_EQ(fovea("train --train " + data + " --out " + folder() +
                    "/shown --preset tiny --vocab characters --steps 1 --dev none")
                  .code,
              0);
    const std::string config = read_file(folder() + "/shown/config.toml");
    for (const char* line : {"lr = 0.001\n", "dropout = 0.1\n", "d-model = 128\n", "heads = 4\n",
                             "max-tokens = 4096\n", "schedule = \"linear\"\n", "dev = \"none\"\n",
                             "smoothing = 0.1\n", "adam-beta2 = 0.98\n"})
        EXPECT_TRUE(says(config, line)) << line << config;
}

TEST(RunDefects, ALossThatExplodesIsNoGoodEnd) {
    for (const std::string rate : {"1", "1e6"}) {
        std::string flags = tiny(dates_file("plan.tsv", 400, false), "exploded" + rate,
                                 "--dev none --steps 80 --warmup 1 --clip 0 --schedule constant");
        flags.replace(flags.find("--lr 3e-3"), 9, "--lr " + rate);
        const Ran r = fovea(flags);
        EXPECT_EQ(r.code, 1) << r.err;
        EXPECT_TRUE(says(r.err, "loss has exploded") || says(r.err, "not finite")) << r.err;
        EXPECT_TRUE(says(r.err, "lower --lr")) << r.err;
        EXPECT_FALSE(says(r.err, "done after")) << r.err;
    }
}

TEST(RunDefects, ResumingNeedsNothingButTheFolderFromAnywhere) {
    ASSERT_EQ(fovea(train_flags("unbroken", 12)).code, 0);
    // Relative paths, from the test's folder.
    std::string flags = train_flags("there", 12);
    for (std::size_t at; (at = flags.find(folder() + "/")) != std::string::npos;)
        flags.erase(at, folder().size() + 1);
    ASSERT_EQ(test::fovea(test::words_of(flags + " -q"), {.folder = folder()}).code, 0);
    std::filesystem::remove_all(folder() + "/there/step-0000000012");
    const Ran on = fovea("train --out " + folder() + "/there --resume");
    ASSERT_EQ(on.code, 0) << on.err;
    EXPECT_TRUE(says(on.err, "step-0000000010, step 10")) << on.err;
    EXPECT_FALSE(says(on.err, "changed settings")) << on.err;
    EXPECT_TRUE(weights("unbroken") == weights("there"));

    const Ran changed =
        fovea("train --out " + folder() + "/there --resume --steps 14 --lr 1e-3 --clip 2");
    ASSERT_EQ(changed.code, 0) << changed.err;
    EXPECT_TRUE(says(changed.err, "lr 0.003 → 0.001")) << changed.err;
    EXPECT_TRUE(says(changed.err, "steps 12 → 14")) << changed.err;
    EXPECT_FALSE(says(changed.err, "smoothing")) << changed.err;
    const Ran nowhere = fovea("train --out " + folder() + "/nowhere --resume");
    EXPECT_EQ(nowhere.code, 4) << nowhere.err;
}

}  // namespace
}  // namespace fovea
