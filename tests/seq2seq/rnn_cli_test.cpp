// Recurrent encoder-decoders through the real binary: train, resume, translate, align, inspect.
#include "tests/seq2seq/run_fovea.h"

namespace fovea {
namespace {

std::string rnn_flags(const std::string& run, int steps, const std::string& model) {
    static const std::string train = dates_file("rnn_train.tsv", 200, false);
    return "train --train " + train + " --out " + folder() + "/" + run + " --steps " +
           std::to_string(steps) +
           " --vocab characters --preset tiny --d-model 24 --max-tokens 300 --save-every 4 "
           "--warmup 5 --lr 3e-3 --schedule inverse-sqrt --seed 4 --dev none --model " +
           model;
}

TEST(RnnCli, EveryMechanismTrainsSavesAndTranslates) {
    for (const char* model :
         {"gru --attention none", "lstm --attention global --score additive",
          "gru --attention hard --score dot", "gru --attention window:2 --no-input-feeding",
          "lstm --attention local-p:2 --encoder-layers 2", "gru --attention expanded:1,2 --heads 2",
          "gru --attention hybrid:1 --decoder-layers 2 --score two-term",
          "gru --attention hybrid:1,0.5 --score scaled --separate-vocab", "gru --copy only",
          "transformer --copy mixed --heads 2"}) {
        std::filesystem::remove_all(folder() + "/any");
        const Ran trained = fovea(rnn_flags("any", 3, model));
        ASSERT_EQ(trained.code, 0) << model << trained.err;
        const Ran said = fovea("translate " + folder() + "/any/model --beam 2 --max-length 12",
                               "5 May 1999\n1. Mai 1950\n");
        EXPECT_EQ(said.code, 0) << model << said.err;
        EXPECT_EQ(
            fovea("translate " + folder() + "/any/model --beam 2 --max-length 12", "5 May 1999\n")
                .out,
            said.out.substr(0, said.out.find('\n') + 1))
            << model << ": alone as in a batch";
    }
}

TEST(RnnCli, ResumedIsBitForBitTheUninterruptedRun) {
    ASSERT_EQ(fovea(rnn_flags("rnn_whole", 16, "lstm")).code, 0);
    ASSERT_EQ(fovea(rnn_flags("rnn_halved", 8, "lstm")).code, 0);
    const std::string run = folder() + "/rnn_halved";
    const Ran on = fovea("--threads 3 train --config " + run + "/config.toml --out " + run +
                         " --steps 16 --resume");
    ASSERT_EQ(on.code, 0) << on.err;
    EXPECT_TRUE(weights("rnn_whole") == weights("rnn_halved"));

    // The only checkpoint at the end, read and written again as a model of its own.
    const std::string again = folder() + "/rnn_again", model = folder() + "/rnn_whole/model";
    ASSERT_EQ(fovea("average " + folder() + "/rnn_whole --last 1 --out " + again).code, 0);
    EXPECT_EQ(read_file(again + "/model.safetensors"), weights("rnn_whole"));
    EXPECT_EQ(read_file(again + "/config.json"), read_file(model + "/config.json"));
}

TEST(RnnCli, EverythingTranslateHasWorksForIt) {
    ASSERT_EQ(fovea(rnn_flags("rnn_all", 20, "gru")).code, 0);
    const std::string model = folder() + "/rnn_all/model";
    const Ran n_best = fovea("translate " + model +
                                 " --beam 3 --n-best 3 --format jsonl --alignments "
                                 "--coverage-penalty 0.2 --max-length 12",
                             "5 May 1999\n");
    ASSERT_EQ(n_best.code, 0) << n_best.err;
    const Json found = parse_json(n_best.out, "n-best");
    EXPECT_EQ(found["n_best"].size(), 3u);
    EXPECT_NE(found["n_best"][0]["token_alignment"].get<std::string>().find('-'),
              std::string::npos);
    for (const char* precision : {"bf16", "int8"})
        EXPECT_EQ(
            fovea("translate " + model + " --max-length 8 --precision " + precision, "5 May 1999\n")
                .code,
            0)
            << precision;
    const std::string test = dates_file("rnn_test.tsv", 5, true);
    EXPECT_EQ(fovea("eval " + model + " --test " + test + " --beam 2 --max-length 12").code, 0);
    const Ran seen = fovea("inspect " + model + " --format json", "5 May 1999\n");
    EXPECT_EQ(seen.code, 0) << seen.err;
    // A Transformer of the same vocabulary and a recurrent model are an ensemble like any other.
    ASSERT_EQ(fovea(rnn_flags("rnn_friend", 3, "transformer")).code, 0);
    const Ran both = fovea(
        "translate " + model + " --ensemble " + folder() + "/rnn_friend/model --max-length 12",
        "5 May 1999\n");
    EXPECT_EQ(both.code, 0) << both.err;
    const Ran on =
        fovea("train --from " + model + " --train " + folder() +
              "/rnn_train.tsv --dev none --steps 2 --max-tokens 300 --out " + folder() + "/rnn_on");
    EXPECT_EQ(on.code, 0) << on.err;
}

TEST(RnnCli, BadWishesAreOneClearErrorEach) {
    struct Wish {
        const char *flags, *says;
    };
    for (const Wish& w :
         {Wish{"gru --attention window:0", "the window is \"0\""},
          Wish{"gru --attention sideways", "no mechanism \"sideways\""},
          Wish{"gru --attention local-p:2 --score additive", "--score additive"},
          Wish{"gru --attention hard --copy mixed", "--copy needs the weights of all places"},
          Wish{"gru --attention none --score dot", "--score has no effect with --attention none"},
          Wish{"gru --heads 5", "--heads 5 does not divide"},
          Wish{"gru --ffn 32", "--ffn has no effect with --model gru"},
          Wish{"transformer --score dot", "--score has no effect"}, Wish{"elman", "--model"}}) {
        const Ran ran = fovea(rnn_flags("bad", 2, w.flags));
        EXPECT_EQ(ran.code, 2) << w.flags << ran.err;
        EXPECT_NE(ran.err.find(w.says), std::string::npos) << w.flags << ": " << ran.err;
    }
    ASSERT_EQ(fovea(rnn_flags("blind", 2, "gru --attention none")).code, 0);
    const Ran aligned =
        fovea("translate " + folder() + "/blind/model --alignments --max-length 5", "x\n");
    EXPECT_EQ(aligned.code, 2);
    EXPECT_NE(aligned.err.find("has no attention to its source"), std::string::npos) << aligned.err;
}

}  // namespace
}  // namespace fovea
