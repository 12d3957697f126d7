// The witness: bits that must not change while the house is rebuilt. Thirty updates of `tiny` and
// 200 translations, with every setting given as a flag so that new defaults do not matter. The
// hashes are those of the program at commit dd99edb. They hold on every x86 level.
#include <gtest/gtest.h>

#include "fovea/io/hash.h"
#include "tests/seq2seq/run_fovea.h"

namespace fovea {
namespace {

std::string trained(const std::string& precision) {
    const std::string run = "witness_" + precision;
    if (file_exists(folder() + "/" + run + "/model")) return run;
    const Ran r =
        fovea("train --task translate --train " + dates_file("witness.tsv", 600, false) +
              " --out " + folder() + "/" + run + " --precision " + precision +
              " --preset tiny --vocab characters --vocab-size 500 --positions sinusoidal "
              "--activation relu"
              " --steps 30 --seed 4 --schedule inverse-sqrt --lr 0.003 --warmup 10 --smoothing 0.1"
              " --dropout 0.1 --attention-dropout 0 --activation-dropout 0 --clip 1 --accumulate 1"
              " --adam-beta1 0.9 --adam-beta2 0.98 --adam-eps 1e-9 --weight-decay 0 --ema 0"
              " --max-tokens 512 --max-source 256 --max-target 256 --save-every 30"
              " --keep 3 --dev none --threads 2 -q");
    EXPECT_EQ(r.code, 0) << r.err;
    return run;
}

TEST(Witness, ThirtyUpdatesGiveTheOldBits) {
    EXPECT_EQ(hash_of(weights(trained("f32"))), "bbe03a199e863c3c856ad560d1215447");
    EXPECT_EQ(hash_of(weights(trained("bf16"))), "a08e5ef5fea70dd66af76bab516caf9f");
}

TEST(Witness, TranslationsGiveTheOldBits) {
    const std::string model = folder() + "/" + trained("f32") + "/model";
    std::string lines;
    for (const TextPair& p : written_dates({.count = 200, .held_out = true}))
        lines += p.source + "\n";
    struct Case {
        const char *precision, *beam, *hash;
    };
    for (const Case& c : {Case{"f32", "1", "b5c4f25af3305907f770c032dd57c9be"},
                          Case{"f32", "4", "6bee121e404f67ff834e993d77fd6bf8"},
                          Case{"bf16", "1", "86ad3ddb083a637221268ceecf89c447"},
                          Case{"bf16", "4", "0d639c29f7cfe436223957136ea365b4"},
                          Case{"int8", "1", "0396bcd89d81115d318cee1da7d1e5e1"},
                          Case{"int8", "4", "194740cb71a4a6535fd7aa2ccdd38990"}}) {
        const Ran r =
            fovea("translate " + model + " --precision " + c.precision + " --beam " + c.beam +
                      " --max-length 24 --max-length-factor 3 --length-penalty fairseq"
                      " --length-alpha 1 --scores --batch-tokens 2048 --threads 2 -q",
                  lines);
        ASSERT_EQ(r.code, 0) << r.err;
        EXPECT_EQ(hash_of(r.out), c.hash) << c.precision << " at beam " << c.beam;
    }
}

}  // namespace
}  // namespace fovea
