#include "fovea/tasks/seq2seq_copy.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "fovea/base/files.h"
#include "fovea/base/rng.h"
#include "fovea/tasks/seq2seq_train.h"
#include "fovea/tasks/translate.h"
#include "fovea/text/train/vocabulary_recipe.h"

namespace fovea {
namespace {

// Training pairs whose names the vocabulary is too small to hold.
std::string names_file(const std::string& path) {
    std::string text;
    Rng rng(3);
    const auto name = [&] {
        std::string w;
        for (int i = 0; i < 3; ++i) w += "abcdef"[rng.bits() % 6];
        return w;
    };
    for (int i = 0; i < 400; ++i) {
        const std::string a = name(), b = name();
        text += "say " + a + " now\t" + a + "\n" + "first " + a + " then " + b + "\t" + b + " " +
                a + "\n";
    }
    write_file_atomically(path, text);
    return path;
}

Seq2SeqTraining copying(const std::string& train, const Json& config) {
    Seq2SeqTraining t;
    t.train = pair_files_of(train);
    t.split_dev = false;
    t.vocabulary = {.kind = VocabularyKind::words, .size = 40};
    t.another = config;
    t.smoothing = 0.0f;
    t.batches.max_tokens = 500;
    t.search.max_length = 12;
    t.run.out = train + ".run";
    t.run.steps = 140;
    t.run.schedule = {
        .kind = ScheduleKind::linear, .peak = 8e-3, .warmup = 15, .total = 140, .floor = 0.05};
    return t;
}

Json transformer_config() {
    TransformerConfig c;
    c.apply_preset("tiny");
    c.d_model = 48;
    c.encoder_layers = c.decoder_layers = 1;
    c.encoder_ffn_dim = c.decoder_ffn_dim = 64;
    c.dropout = 0;
    return c.to_json();
}

Json gru_config() {
    Seq2SeqChoice choice{.preset = "tiny", .copy = "mixed"};
    choice.width = 48;
    choice.dropout = 0.0f;
    return seq2seq_network_named("gru").new_config(choice);
}

// Names that no training text had come out as they went in, from a Transformer and a GRU alike.
TEST(Copying, WordsNeverSeenAreCopied) {
    const std::string train = names_file(testing::TempDir() + "/copy_names.tsv");
    Json transformer = transformer_config();
    transformer["copy"] = "mixed";
    Json covered = gru_config(), covered_transformer = transformer;
    covered["coverage"] = covered_transformer["coverage"] = 0.5;
    for (const Json& config : {gru_config(), transformer, covered, covered_transformer}) {
        SCOPED_TRACE(config["model_type"].get<std::string>());
        const Seq2SeqTraining t = copying(train, config);
        std::filesystem::remove_all(t.run.out);
        Seq2SeqTrainer trainer(t, [](const std::string&) {});
        trainer.run({});
        const Seq2SeqModel model = Seq2SeqModel::load(t.run.out + "/model");
        EXPECT_EQ(model.config["copy"], "mixed");
        EXPECT_EQ(model.config.value("coverage", 0.0), config.value("coverage", 0.0));
        const std::vector<std::string> texts{"say Wolfgang now", "first Anna then Xaver"};
        TranslateOptions o{.search = model.search};
        o.search.beam = 2;
        o.alignments = true;
        const Seq2SeqModel* const one[] = {&model};
        const auto together = translate(one, texts, o);
        EXPECT_EQ(together[0].n_best[0].text, "Wolfgang");
        EXPECT_EQ(together[1].n_best[0].text, "Xaver Anna");
        EXPECT_EQ(together[1].n_best[0].tokens[0], "Xaver");
        const auto alone = translate(one, std::span(texts).subspan(1), o);
        EXPECT_EQ(alone[0].n_best[0].hypothesis.token_scores,
                  together[1].n_best[0].hypothesis.token_scores);
        // What the steps found likely, one pass over the whole target finds likely too.
        const std::vector<std::string> said{"Wolfgang"}, from{texts[0]};
        const PairScore score = score_pairs(model, from, said)[0];
        ASSERT_EQ(score.token_scores.size(), together[0].n_best[0].hypothesis.token_scores.size());
        for (std::size_t i = 0; i < score.token_scores.size(); ++i)
            EXPECT_NEAR(score.token_scores[i], together[0].n_best[0].hypothesis.token_scores[i],
                        1e-4);
    }
}

// A model that can copy has a word for what the vocabulary lacks: all words are among the best
// forty of an untrained one, the unknown word never.
TEST(Copying, NeverSaysTheUnknownWord) {
    Seq2SeqTraining t = copying(names_file(testing::TempDir() + "/copy_unknown.tsv"), gru_config());
    std::filesystem::remove_all(t.run.out);
    t.run.steps = 1;
    Seq2SeqTrainer(t, [](const std::string&) {}).run({});
    const Seq2SeqModel model = Seq2SeqModel::load(t.run.out + "/model");
    TranslateOptions o{.search = model.search};
    o.search.beam = o.search.n_best = 30;
    o.search.max_length = 1;
    const Seq2SeqModel* const one[] = {&model};
    const std::vector<std::string> texts{"say Wolfgang now"};
    std::set<std::string> said;
    const auto answers = translate(one, texts, o);
    for (const auto& hypothesis : answers[0].n_best)
        said.insert(hypothesis.tokens.begin(), hypothesis.tokens.end());
    EXPECT_TRUE(said.contains("Wolfgang"));
    EXPECT_FALSE(said.contains("<unk>"));
}

TEST(CopyVocabulary, WordsOfASourceHaveNumbersBehindTheVocabulary) {
    const std::vector<std::string> texts{"the cat sat", "the cat ran", "the cat"};
    const Tokenizer words(train_vocabulary(texts, {.kind = VocabularyKind::words, .size = 100}));
    const auto size = static_cast<std::int32_t>(words.vocab_size()), end = *words.eos_id();
    const CopyVocabulary copy{words, words, size, end};
    const CopiedText from = copy.source_of("the Wolfgang cat Xaver Wolfgang");
    EXPECT_EQ(from.words, (std::vector<std::string>{"Wolfgang", "Xaver"}));
    EXPECT_EQ(from.ids, (Ids{*words.token_to_id("the"), size, *words.token_to_id("cat"), size + 1,
                             size, end}));
    // A target's word that neither the vocabulary nor the source has stays unknown.
    const Ids labels = copy.labels_of("Xaver sat Yves", from.words);
    EXPECT_EQ(labels, (Ids{size + 1, *words.token_to_id("sat"), *words.unk_id(), end}));
    EXPECT_EQ(copy.text_of({size + 1, *words.token_to_id("sat"), size}, from.words),
              "Xaver sat Wolfgang");
}

TEST(Copying, HardAttentionHasNoWeightsToCopyBy) {
    Seq2SeqChoice choice{.attention = "hard", .copy = "mixed"};
    try {
        seq2seq_network_named("lstm").new_config(choice);
        ADD_FAILURE() << "no error";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::usage);
        EXPECT_NE(std::string(e.what()).find("--attention hard takes one"), std::string::npos);
    }
}

}  // namespace
}  // namespace fovea
