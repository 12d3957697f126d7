// The attention family in the Transformer, and the ways of training and decoding around it, through
// the real binary.
#include "tests/seq2seq/run_fovea.h"

namespace fovea {
namespace {

std::string family_flags(const std::string& run, int steps, const std::string& more) {
    static const std::string train = dates_file("family_train.tsv", 200, false);
    return "train --train " + train + " --out " + folder() + "/" + run + " --steps " +
           std::to_string(steps) +
           " --vocab characters --preset tiny --d-model 24 --heads 2 --encoder-layers 2 "
           "--decoder-layers 2 --max-tokens 300 --save-every 4 --warmup 5 --lr 3e-3 "
           "--schedule inverse-sqrt --seed 4 --dev none " +
           more;
}

std::string family_model(const std::string& run) { return folder() + "/" + run + "/model"; }

TEST(AttentionCli, EveryMechanismTrainsSavesAndTranslates) {
    for (const char* flags :
         {"--attention window:2", "--attention expanded:1,2 --cross-attention expanded:1,2",
          "--attention hybrid:2 --decoder-attention hybrid:2,3 --cross-attention hybrid:2",
          "--attention hard --cross-attention hard --decoder-attention hard --ffn 16",
          "--attention window:2,global --cross-attention global,window:4 --positions rotary",
          "--wait-k 2 --attention window:3", "--copy mixed --coverage 1",
          "--model gru --copy mixed --coverage 0.5", "--model lstm --copy only --coverage 1",
          "--fixed-lag 2", "--model gru --fixed-lag 3", "--copy mixed --fixed-lag 2",
          "--language-loss 0.5", "--reverse-share 0.5",
          "--model gru --reverse-share 0.3 --separate-vocab"}) {
        SCOPED_TRACE(flags);
        std::filesystem::remove_all(folder() + "/kind");
        const Ran trained = fovea(family_flags("kind", 3, flags));
        ASSERT_EQ(trained.code, 0) << trained.err;
        const std::string search =
            "translate " + family_model("kind") + " --beam 2 --max-length 12";
        const Ran said = fovea(search, "5 May 1999\n1. Mai 1950\n");
        EXPECT_EQ(said.code, 0) << said.err;
        EXPECT_EQ(fovea(search, "5 May 1999\n").out, said.out.substr(0, said.out.find('\n') + 1))
            << "alone as in a batch";
        const Ran seen = fovea("inspect " + family_model("kind") + " --text x --format json");
        EXPECT_EQ(seen.code, 0) << seen.err;
    }
}

TEST(AttentionCli, ResumedIsBitForBitTheUninterruptedRun) {
    const std::string how =
        "--attention hybrid:2 --decoder-attention window:3 --fixed-lag 2 --reverse-share 0.4";
    ASSERT_EQ(fovea(family_flags("kind_whole", 16, how)).code, 0);
    ASSERT_EQ(fovea(family_flags("kind_halved", 8, how)).code, 0);
    const std::string run = folder() + "/kind_halved";
    const Ran on = fovea("--threads 3 train --config " + run + "/config.toml --out " + run +
                         " --steps 16 --resume");
    ASSERT_EQ(on.code, 0) << on.err;
    EXPECT_TRUE(weights("kind_whole") == weights("kind_halved"));
    const std::string again = folder() + "/kind_again", model = family_model("kind_whole");
    ASSERT_EQ(fovea("average " + folder() + "/kind_whole --last 1 --out " + again).code, 0);
    EXPECT_EQ(read_file(again + "/model.safetensors"), weights("kind_whole"));
    EXPECT_EQ(read_file(again + "/config.json"), read_file(model + "/config.json"));
    const Json config = read_json(model + "/config.json");
    EXPECT_EQ(config["encoder_self_attention"], "hybrid:2");
    EXPECT_EQ(config["decoder_self_attention"], "window:3");
    EXPECT_FALSE(config.contains("cross_attention"));
}

TEST(AttentionCli, BadWishesAreOneClearErrorEach) {
    struct Wish {
        const char *flags, *says;
    };
    for (const Wish& w :
         {Wish{"--attention window:0", "\"0\" is not a whole number from 1"},
          Wish{"--attention sideways", "no mechanism \"sideways\""},
          Wish{"--attention none", "no mechanism \"none\""},
          Wish{"--attention window:1,window:1,global", "3 words for 2 layers"},
          Wish{"--decoder-attention expanded:2,2", "looks both ways"},
          Wish{"--attention expanded:2,2 --positions relative", "stand at no place"},
          Wish{"--attention expanded:2,2 --wait-k 3", "looks ahead"},
          Wish{"--attention hard --copy mixed", "--copy needs the weights of all places"},
          Wish{"--cross-attention hard --copy only", "--copy needs the weights of all places"},
          Wish{"--wait-k 3 --copy mixed", "--wait-k has not read it"},
          Wish{"--model gru --wait-k 3", "--wait-k has no effect with --model gru"},
          Wish{"--model gru --cross-attention global", "--cross-attention has no effect"},
          Wish{"--model gru --attention sideways", "no mechanism \"sideways\""},
          Wish{"--coverage 1", "--coverage has no effect without --copy"},
          Wish{"--model gru --copy mixed --coverage 1 --fixed-lag 2", "begins in the middle"},
          Wish{"--copy only --language-loss 1", "--language-loss has none"},
          Wish{"--lag-share 0.3", "--lag-share has no effect without --fixed-lag"},
          Wish{"--fixed-lag -1", "fixed-lag"}, Wish{"--reverse-share 1.5", "reverse-share"}}) {
        const Ran ran = fovea(family_flags("bad", 2, w.flags));
        EXPECT_EQ(ran.code, 2) << w.flags << ran.err;
        EXPECT_NE(ran.err.find(w.says), std::string::npos) << w.flags << ": " << ran.err;
    }
    ASSERT_EQ(fovea(family_flags("kind_plain", 2, "")).code, 0);
    const std::string translate = "translate " + family_model("kind_plain") + " ";
    for (const Wish& w :
         {Wish{"--wait-k 3", "reads its whole source"},
          Wish{"--rerank r2l", "has not learned to read from right to left"},
          Wish{"--rerank both", "rerank"}, Wish{"--fixed-lag 2 --beam 1", "no effect"},
          Wish{"--stream --format jsonl", "only text"}}) {
        const Ran ran = fovea(translate + w.flags, "5 May 1999\n");
        EXPECT_EQ(ran.code, 2) << w.flags << ran.err;
        EXPECT_NE(ran.err.find(w.says), std::string::npos) << w.flags << ": " << ran.err;
    }
}

// A document of 4,000 tokens is read to its end: its last word changes what is said of it.
TEST(AttentionCli, SummariseReadsLongDocuments) {
    std::string pairs, text;
    for (int i = 0; i < 40; ++i)
        pairs += "the meeting is on day " + std::to_string(i) + " at noon\tday " +
                 std::to_string(i) + "\n";
    write_file_atomically(folder() + "/documents.tsv", pairs);
    for (int i = 0; i < 4000; ++i) text += (i ? " day " : "day ") + std::to_string(i % 10);
    for (const char* attention : {"window:8", "expanded:8,4", "hybrid:8"}) {
        SCOPED_TRACE(attention);
        std::filesystem::remove_all(folder() + "/long");
        const Ran trained = fovea(
            "train --task summarise --train " + folder() + "/documents.tsv --out " + folder() +
            "/long --steps 3 --vocab words --preset tiny --d-model 16 --heads 2 --encoder-layers 2 "
            "--decoder-layers 1 --dev none --attention " +
            attention);
        ASSERT_EQ(trained.code, 0) << trained.err;
        EXPECT_EQ(read_json(family_model("long") + "/fovea.json")["max_source_length"], 4096);
        const std::string say =
            "summarise " + family_model("long") + " --max-length 4 --format jsonl --scores ";
        const Ran cut = fovea(say, text + "\n");  // 8,000 words
        ASSERT_EQ(cut.code, 0) << cut.err;
        EXPECT_EQ(parse_json(cut.out, "cut")["source_tokens"].size(), 4096u);
        EXPECT_TRUE(parse_json(cut.out, "cut").contains("source_cut"));
        const Ran whole = fovea(say + "--max-source 9000", text + "\n");
        ASSERT_EQ(whole.code, 0) << whole.err;
        const Json first = parse_json(whole.out, "whole");
        EXPECT_EQ(first["source_tokens"].size(), 8001u);
        EXPECT_FALSE(first.contains("source_cut"));
        const Ran other = fovea(say + "--max-source 9000", text + " noon\n");
        EXPECT_NE(parse_json(other.out, "other")["n_best"][0]["token_scores"],
                  first["n_best"][0]["token_scores"]);
    }
    // Learned positions end where the table does.
    std::filesystem::remove_all(folder() + "/long");
    ASSERT_EQ(
        fovea("train --task summarise --train " + folder() + "/documents.tsv --out " + folder() +
              "/long --steps 2 --vocab words --preset tiny --d-model 16 --heads 2 "
              "--encoder-layers 1 --decoder-layers 1 --dev none --positions learned")
            .code,
        0);
    const Ran far = fovea("summarise " + family_model("long") + " --max-source 9000", "day 1\n");
    EXPECT_EQ(far.code, 2);
    EXPECT_NE(far.err.find("learned positions for 1024 tokens"), std::string::npos) << far.err;
}

TEST(AttentionCli, FixedLagStreamsWhatIsCertain) {
    ASSERT_EQ(fovea(family_flags("lagging", 20, "--fixed-lag 2")).code, 0);
    const std::string input = "5 May 1999\n\n1. Mai 1950\n",
                      translate = "translate " + family_model("lagging") + " --max-length 12 ";
    for (const char* how : {"--beam 3 --fixed-lag 1", "--beam 4", "--beam 1", "--beam 2 --n-best 2",
                            "--beam 2 --alignments"}) {
        const Ran plain = fovea(translate + how, input),
                  streamed = fovea(translate + how + " --stream", input);
        EXPECT_EQ(streamed.code, 0) << streamed.err;
        EXPECT_EQ(streamed.out, plain.out) << how;
    }
    // A lag as long as the text is none.
    EXPECT_EQ(fovea(translate + "--beam 4 --fixed-lag 12", input).out,
              fovea(translate + "--beam 4", input).out);
}

TEST(AttentionCli, WaitKTellsItsLagBesideTheScore) {
    ASSERT_EQ(fovea(family_flags("waiting", 6, "--wait-k 3")).code, 0);
    const std::string test = dates_file("waiting_test.tsv", 5, true),
                      eval = "eval " + family_model("waiting") + " --test " + test +
                             " --max-length 12 --json ";
    const auto figures = [&](const std::string& more) {
        const Ran ran = fovea(eval + more);
        EXPECT_EQ(ran.code, 0) << ran.err;
        return parse_json(ran.out, "eval");
    };
    const std::string three = to_text(figures("")), nine = to_text(figures("--wait-k 9"));
    EXPECT_NE(three.find("average_lagging"), std::string::npos) << three;
    EXPECT_NE(three, nine);
}

TEST(AttentionCli, BothWaysAreRankedByAgreement) {
    ASSERT_EQ(fovea(family_flags("both_ways", 40, "--reverse-share 0.5")).code, 0);
    const std::string translate = "translate " + family_model("both_ways") + " --max-length 12 ";
    const Ran ranked =
        fovea(translate + "--beam 3 --rerank r2l --n-best 2 --format jsonl", "5 May 1999\n");
    ASSERT_EQ(ranked.code, 0) << ranked.err;
    const Json best = parse_json(ranked.out, "ranked")["n_best"];
    ASSERT_EQ(best.size(), 2u);
    EXPECT_GE(best[0]["score"].get<double>(), best[1]["score"].get<double>());
    const Ran alone = fovea(translate + "--beam 3 --rerank r2l", "1. Mai 1950\n"),
              together = fovea(translate + "--beam 3 --rerank r2l", "5 May 1999\n1. Mai 1950\n");
    EXPECT_EQ(together.out.substr(together.out.find('\n') + 1), alone.out);
    const std::string test = dates_file("both_test.tsv", 5, true);
    EXPECT_EQ(fovea("eval " + family_model("both_ways") + " --test " + test +
                    " --beam 2 --rerank r2l --max-length 12")
                  .code,
              0);
    const Ran sampled = fovea(translate + "--rerank r2l --sample", "5 May 1999\n");
    EXPECT_EQ(sampled.code, 2) << sampled.err;
}

}  // namespace
}  // namespace fovea
