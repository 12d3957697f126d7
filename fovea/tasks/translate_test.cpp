#include "fovea/tasks/translate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "fovea/base/error.h"
#include "fovea/base/threads.h"
#include "fovea/text/train/vocabulary_recipe.h"

namespace fovea {
namespace {

const std::vector<std::string> texts = {"abc",        "the quick brown fox", "",
                                        "jumps over", "a lazy dog",          "zebra crossing"};

Seq2SeqModel small_model(Precision precision, std::uint64_t seed = 3) {
    auto tokenizer = std::make_shared<const Tokenizer>(
        train_vocabulary(texts, {.kind = VocabularyKind::characters, .size = 100}));
    TransformerConfig c;
    c.vocab_size = static_cast<int>(tokenizer->vocab_size());
    c.d_model = 64;
    c.encoder_layers = c.decoder_layers = 2;
    c.encoder_attention_heads = c.decoder_attention_heads = 4;
    c.encoder_ffn_dim = c.decoder_ffn_dim = 128;
    c.pad_token_id = c.decoder_start_token_id = 0;
    c.eos_token_id = 1;
    Seq2SeqModel m = Seq2SeqModel::create(c, tokenizer, tokenizer, seed);
    m.precision = precision;
    Rng noise(seed + 1);  // larger weights than at birth, so that the distribution is not flat
    for (const std::string& name : m.store->names()) {
        Tensor t = m.store->at(name);
        float* p = t.write();
        for (std::int64_t i = 0; i < t.size(); ++i)
            p[i] += 0.15f * static_cast<float>(noise.normal());
    }
    return m;
}

TranslateOptions beams() {
    TranslateOptions o{.search = {.beam = 3, .n_best = 3, .max_length = 20}};
    o.batch_tokens = 30;  // several batches
    o.alignments = true;
    return o;
}

// Everything that a precision could touch: tokens, exact scores, alignments, scores of pairs.
std::string everything_of(const Seq2SeqModel& model) {
    std::string all;
    const auto add = [&](const std::vector<float>& values) {
        all.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    };
    const Seq2SeqModel* const one[] = {&model};
    for (const TranslatedText& t : translate(one, texts, beams()))
        for (const auto& c : t.n_best) {
            all += c.text + "\n";
            add(c.hypothesis.token_scores);
            for (const AlignedPair& p : c.alignment.tokens) all += text_of(p.source, "-", p.target);
        }
    for (const PairScore& p : score_pairs(model, texts, texts)) add(p.token_scores);
    return all;
}

TEST(Translate, ModelsOfTwoPrecisionsGiveTheirOwnBitsInterleavedAndFromTwoThreads) {
    const Seq2SeqModel plain = small_model(Precision::f32), rounded = small_model(Precision::bf16);
    const std::string f32 = everything_of(plain), bf16 = everything_of(rounded);
    ASSERT_NE(f32, bf16);
    for (int turn = 0; turn < 3; ++turn) {
        EXPECT_TRUE(everything_of(plain) == f32);
        EXPECT_TRUE(everything_of(rounded) == bf16);
    }
    {  // the caller's own scope is not the model's
        const PrecisionScope scope(Precision::bf16);
        EXPECT_TRUE(everything_of(plain) == f32);
        EXPECT_EQ(current_precision(), Precision::bf16);
    }
    for (const int threads : {1, 2, 4}) {
        set_thread_count(threads);
        std::string a, b, c, d;
        {
            std::jthread one([&] { a = everything_of(plain); });
            std::jthread two([&] { b = everything_of(rounded); });
            std::jthread three([&] { c = everything_of(plain); });  // one model, two threads
            d = everything_of(rounded);
        }
        EXPECT_TRUE(a == f32 && c == f32) << threads << " threads";
        EXPECT_TRUE(b == bf16 && d == bf16) << threads << " threads";
    }
    set_thread_count(0);
}

TEST(Translate, AnEnsembleMayMixPrecisions) {
    const Seq2SeqModel plain = small_model(Precision::f32), rounded = small_model(Precision::bf16);
    const auto first_scores = [&](std::vector<const Seq2SeqModel*> models) {
        const auto out = translate(models, texts, beams());
        return std::pair{out[1].n_best[0].hypothesis.tokens, out[1].n_best[0].hypothesis.sum};
    };
    const auto a = first_scores({&plain, &plain}), b = first_scores({&plain, &rounded}),
               c = first_scores({&rounded, &rounded});
    EXPECT_EQ(a, first_scores({&plain, &plain}));
    EXPECT_NE(a.second, b.second);
    EXPECT_NE(b.second, c.second);
}

TEST(Translate, ListsOfWrongLengthAreRefused) {
    const Seq2SeqModel model = small_model(Precision::f32);
    const Seq2SeqModel* const one[] = {&model};
    const auto refused = [&](const TranslateOptions& o) {
        try {
            translate(one, texts, o);
        } catch (const Error& e) {
            return e.kind() == ErrorKind::usage && !e.hint().empty();
        }
        return false;
    };
    TranslateOptions o{.search = {.max_length = 4}};
    o.prefixes = {"a", "b"};
    EXPECT_TRUE(refused(o));
    o.prefixes.assign(texts.size(), "a");
    EXPECT_FALSE(refused(o));
    o.first_text = 1;  // names random draws, and nothing else
    EXPECT_FALSE(refused(o));
    o.prefixes.push_back("one too many");
    EXPECT_TRUE(refused(o));
    o = {.search = {.max_length = 4}};
    o.constraints = {{"a"}, {}};
    EXPECT_TRUE(refused(o));
    o.constraints.assign(texts.size(), {"ab"});
    EXPECT_FALSE(refused(o));
}

TEST(Translate, LengthsAreLimitedByTheSource) {
    const Seq2SeqModel model = small_model(Precision::f32);
    const Seq2SeqModel* const one[] = {&model};
    TranslateOptions o{.search = {.max_length = 40, .max_length_factor = 2, .min_length = 1000}};
    const auto out = translate(one, texts, o);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (texts[i].empty()) continue;
        const std::size_t limit = 2 * model.encode_source(texts[i]).size() + 10;
        EXPECT_EQ(out[i].n_best[0].hypothesis.tokens.size(), std::min<std::size_t>(limit, 40));
    }
}

TEST(Translate, NotNumbersInTheWeightsAreAnError) {
    const Seq2SeqModel model = small_model(Precision::f32);
    Tensor t = model.store->at("model.encoder.layers.0.final_layer_norm.bias");
    t.write()[5] = std::numeric_limits<float>::quiet_NaN();
    const Seq2SeqModel* const one[] = {&model};
    EXPECT_THROW(translate(one, texts, beams()), Error);
}

}  // namespace
}  // namespace fovea
