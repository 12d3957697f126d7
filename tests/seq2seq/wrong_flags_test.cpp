// Wrong values and flags without effect are usage errors before anything starts, and the message
// names the flag.
#include "tests/seq2seq/run_fovea.h"

namespace fovea {
namespace {

TEST(WrongFlags, EveryWrongValueIsAUsageErrorThatNamesTheFlag) {
    const std::string data = dates_file("wrong.tsv", 20, false), out = folder() + "/wrong_run";
    for (const std::string flags : {"--steps -5",
                                    "--steps 0",
                                    "--epochs -1",
                                    "--minutes -1",
                                    "--minutes nan",
                                    "--lr nan",
                                    "--lr -1",
                                    "--lr 0",
                                    "--lr inf",
                                    "--warmup -2",
                                    "--d-model -4",
                                    "--d-model 0",
                                    "--heads 3",
                                    "--heads 0",
                                    "--ffn -1",
                                    "--encoder-layers 0",
                                    "--decoder-layers -1",
                                    "--clip -1",
                                    "--clip nan",
                                    "--adam-beta1 2",
                                    "--adam-beta2 1",
                                    "--adam-eps 0",
                                    "--weight-decay -1",
                                    "--dropout 1.5",
                                    "--dropout -0.1",
                                    "--attention-dropout 1",
                                    "--smoothing 2",
                                    "--smoothing -1",
                                    "--keep 0",
                                    "--accumulate 0",
                                    "--vocab-size -1",
                                    "--max-tokens 0",
                                    "--max-pairs -1",
                                    "--max-source -1",
                                    "--limit -1",
                                    "--dev-limit -1",
                                    "--skip-bad -1",
                                    "--ema 1",
                                    "--eval-every -1",
                                    "--save-every -1",
                                    "--patience -1",
                                    "--beam 0",
                                    "--max-length 0",
                                    "--temperature 0.5",
                                    "--top-k 3",
                                    "--top-p 0.5",
                                    "--lead -1",
                                    "--max-relative 0",
                                    "--patience 2 --dev none",
                                    "--metric bleu --dev none",
                                    "--from x --d-model 32",
                                    "--from x --heads 2",
                                    "--from x --vocab words",
                                    "--tokenizer t --vocab-size 100",
                                    "--target-tokenizer t",
                                    "--dump x"}) {
        const std::string flag = flags.substr(0, flags.find(' '));
        const Ran r = fovea("train --train " + data + " --out " + out + " " + flags +
                            (flag == "--from" ? "" : " --preset tiny"));
        // with --from the second flag is the wrong one
        const std::string named = flag == "--from"        ? flags.substr(9, flags.find(' ', 9) - 9)
                                  : flag == "--tokenizer" ? "--vocab-size"
                                                          : flag;
        EXPECT_EQ(r.code, 2) << flags << "\n" << r.err;
        EXPECT_NE(r.err.find(named), std::string::npos) << flags << "\n" << r.err;
        EXPECT_FALSE(file_exists(out)) << flags;
        for (const char* internal : {"linear_cross_entropy", "keep_last", "d_model", "schedule:"})
            EXPECT_EQ(r.err.find(internal), std::string::npos) << r.err;
    }
}

TEST(WrongFlags, BoundsAreReadableAndAFlagGivenTwiceIsToldPlainly) {
    for (const char* arguments : {"average run --last 0 --out x", "demo --steps 0"}) {
        const Ran r = fovea(arguments);
        EXPECT_EQ(r.code, 2) << r.err;
        EXPECT_LT(r.err.size(), 200u) << r.err;
    }
    const Ran twice = fovea("train --lr 1 --lr 2");
    EXPECT_EQ(twice.code, 2);
    EXPECT_NE(twice.err.find("--lr is given 2 times"), std::string::npos) << twice.err;
}

}  // namespace
}  // namespace fovea
