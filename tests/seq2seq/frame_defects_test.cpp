// What a day of trying the program found, outside of training: each of these fails on the program
// of commit dd99edb.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fovea/io/model_weights.h"
#include "fovea/io/safetensors_writer.h"
#include "tests/seq2seq/run_fovea.h"

namespace fovea {
namespace {

const std::string& trained_run() {
    static const std::string run = [] {
        const Ran r = fovea(train_flags("frame", 5));
        EXPECT_EQ(r.code, 0) << r.err;
        return folder() + "/frame";
    }();
    return run;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// The model with one tensor changed.
std::string changed_model(const std::string& name,
                          const std::function<void(TensorToWrite&)>& change) {
    const std::string to = folder() + "/" + name, from = trained_run() + "/model";
    std::filesystem::copy(from, to);
    const ModelWeights weights(from);
    std::vector<TensorToWrite> all;
    for (const std::string& tensor : weights.names())
        all.push_back(TensorToWrite::of(tensor, weights.read(tensor)));
    change(all.front());
    write_safetensors(to + "/model.safetensors", std::move(all), {{"format", "pt"}});
    return to;
}

TEST(FrameDefects, ARunOrCheckpointFolderWorksOrSaysWhichToGive) {
    const Ran model = fovea("translate " + trained_run() + "/model", "5 May 1999\n");
    EXPECT_EQ(fovea("translate " + trained_run(), "5 May 1999\n").out, model.out);
    const Ran step = fovea("translate " + trained_run() + "/step-0000000005", "5 May 1999\n");
    EXPECT_EQ(step.code, 2);
    EXPECT_TRUE(has(step.err, "frame/model")) << step.err;
}

TEST(FrameDefects, WeightsThatAreNoNumbersAreAnError) {
    const std::string broken = changed_model("nan", [](TensorToWrite& t) {
        Tensor values = t.values;
        for (std::int64_t i = 0; i < values.size(); ++i)
            values.write()[i] = std::numeric_limits<float>::quiet_NaN();
    });
    const Ran r = fovea("translate " + broken, "5 May 1999\n");
    EXPECT_NE(r.code, 0);
    EXPECT_TRUE(has(r.err, "not numbers")) << r.err;
}

TEST(FrameDefects, IntegersCannotHoldWeights) {
    const std::string broken = changed_model("integers", [](TensorToWrite& t) {
        t.dtype = DType::I32;
        t.bytes.assign(static_cast<std::size_t>(t.values.size()) * 4, '\0');
        t.values = {};
    });
    const Ran r = fovea("translate " + broken, "5 May 1999\n");
    EXPECT_EQ(r.code, 3);
    EXPECT_TRUE(has(r.err, "cannot hold weights")) << r.err;
}

TEST(FrameDefects, AConstraintThatIsNotMetIsTold) {
    const std::string phrases = folder() + "/phrases.txt";
    write_file_atomically(phrases, "1234567890\n");
    const Ran r =
        fovea("translate " + trained_run() + " --beam 2 --max-length 3 --constraints " + phrases,
              "5 May 1999\n");
    EXPECT_EQ(r.code, 0);
    EXPECT_TRUE(has(r.err, "without a phrase of --constraints")) << r.err;
}

TEST(FrameDefects, EvalSaysHowItSearchedAndChecksBoundsFirst) {
    const std::string test = dates_file("frame_test.tsv", 20, true);
    const Ran r = fovea("eval " + trained_run() + " --test " + test + " --json --beam 3");
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(parse_json(r.out, "eval")["how"]["beam"], 3);
    const Ran text = fovea("eval " + trained_run() + " --test " + test);
    EXPECT_TRUE(has(text.out, "beam 5")) << text.out;  // the model's own default
    const Ran bound = fovea("eval " + trained_run() + " --test /no/such/file --require foo=30");
    EXPECT_EQ(bound.code, 2) << bound.err;  // told before the file is looked at
    EXPECT_TRUE(has(bound.err, "foo")) << bound.err;
}

TEST(FrameDefects, ReverseIsRemembered) {
    const Ran t = fovea(train_flags("swapped", 3) + " --reverse");
    ASSERT_EQ(t.code, 0) << t.err;
    const std::string test = dates_file("swapped_test.tsv", 5, true);
    const std::string eval =
        "eval " + folder() + "/swapped --test " + test + " --max-length 4 --json";
    const Json own = parse_json(fovea(eval).out, "eval");
    EXPECT_EQ(own["figures"], parse_json(fovea(eval + " --reverse").out, "eval")["figures"]);
    EXPECT_EQ(
        parse_json(read_file(folder() + "/swapped/model/fovea.json"), "about")["swapped_sides"],
        true);
}

TEST(FrameDefects, ATableWithIdsTrainsOnTheLanguages) {
    std::string csv = "id,english,german\n";
    for (int i = 0; i < 40; ++i)
        csv += std::to_string(100 + i) + ",the number " + std::to_string(i) + ",die Zahl " +
               std::to_string(i) + "\n";
    write_file_atomically(folder() + "/ids.csv", csv);
    const Ran r = fovea("train " + folder() + "/ids.csv --out " + folder() +
                        "/ids --preset tiny --vocab characters --steps 1");
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_TRUE(has(r.err, "english") && has(r.err, "german")) << r.err;
    EXPECT_TRUE(has(r.err, "40 training pairs")) << r.err;  // the header is no pair
}

TEST(FrameDefects, SeveralFilesAndStandardInput) {
    const std::string a = dates_file("part_a.tsv", 30, false),
                      b = dates_file("part_b.tsv", 20, true);
    const std::string more = " --preset tiny --vocab characters --steps 1 --dev none --out ";
    const Ran two = fovea("train " + a + " " + b + more + folder() + "/two");
    EXPECT_TRUE(has(two.err, "50 training pairs")) << two.err;
    const Ran input = fovea("train -" + more + folder() + "/input", read_file(a));
    EXPECT_TRUE(has(input.err, "30 training pairs")) << input.err;
    EXPECT_EQ(fovea("eval " + folder() + "/two --test - --max-length 3", read_file(b)).code, 0);
}

TEST(FrameDefects, ARunWithoutAFolderGetsOneOfItsOwn) {
    const std::string data = dates_file("own.tsv", 30, false), work = folder() + "/elsewhere";
    make_folders(work);
    for (int turn = 0; turn < 2; ++turn) {
        const test::Outcome o =
            test::run({"sh", "-c",
                       "cd " + work + " && " FOVEA_BINARY " train " + data +
                           " --preset tiny --vocab characters --steps 1 --dev none"});
        ASSERT_EQ(o.code, 0) << o.err;
    }
    const std::vector<std::string> runs = list_folder(work + "/runs");
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_TRUE(runs[0].ends_with("-1") && runs[1].ends_with("-2")) << runs[0];
}

TEST(FrameDefects, WordsOfOtherToolkitsAreUnderstood) {
    EXPECT_TRUE(has(fovea("train --learning-rate 3").err, "--lr"));
    EXPECT_TRUE(has(fovea("train --batch-size 3").err, "--max-tokens"));
    EXPECT_TRUE(has(fovea("evaluate").err, "eval"));
    EXPECT_TRUE(has(fovea("translate " + trained_run() + " Hello").err, "standard input"));
    EXPECT_TRUE(has(fovea("translate " + trained_run() + " --length-penalty 0.6", "x\n").err,
                    "--length-alpha"));
    EXPECT_EQ(fovea("frobnicate --help").code, 2);
    EXPECT_EQ(fovea("bench kernels --quick --only zzz").code, 2);
}

TEST(FrameDefects, TheModelsOwnBeamIsShownAsSuch) {
    const Ran help = fovea("translate --help");
    EXPECT_FALSE(has(help.out, "--beam INT  hypotheses kept at each step; 1 is greedy [1]"));
    EXPECT_TRUE(has(help.out, "the model's")) << help.out;
}

}  // namespace
}  // namespace fovea
