#include "fovea/tasks/pretrain_batch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/base/rng.h"
#include "fovea/tasks/pretrain_vocabulary.h"

namespace fovea {
namespace {

std::vector<std::string> texts() {
    Rng rng(3);
    const char* const words[] = {"rain", "snow", "sun", "wind", "falling", "shining", "blows"};
    std::vector<std::string> all;
    for (int d = 0; d < 30; ++d) {
        std::string text;
        for (int s = 0; s < 9; ++s) {
            text += "The";
            for (std::int64_t i = 3 + rng.below(5); i > 0; --i)
                text += std::string(" ") + words[rng.below(7)];
            text += ". ";
        }
        all.push_back(text);
    }
    return all;
}

std::shared_ptr<const Tokenizer> tokenizer_for(const char* model, const char* kind = "auto") {
    PretrainSettings s;
    s.vocabulary = kind;
    s.vocabulary_size = 320;
    return train_pretrain_vocabulary(pretrain_vocabulary(habit_of(model), s), [](const auto& take) {
        for (const std::string& t : texts()) take(t);
    });
}

struct Made {
    std::shared_ptr<const Tokenizer> tokenizer;
    TokenDocuments documents;
    std::optional<PretrainSequences> sequences;
};

std::unique_ptr<Made> made(const char* model, Objective objective, bool any_order = false,
                           std::int64_t memory = 0) {
    auto m = std::make_unique<Made>();
    m->tokenizer = tokenizer_for(model);
    const SequenceOptions options{.objective = objective,
                                  .length = 32,
                                  .masking = {.seed = 5},
                                  .seed = 5,
                                  .any_order = any_order,
                                  .memory = memory};
    TokenDocumentsMaker maker(*m->tokenizer, documents_for(options, *m->tokenizer));
    for (const std::string& t : texts()) maker.add(t, true);
    m->documents = maker.finish();
    m->sequences.emplace(m->documents, *m->tokenizer, options);
    m->sequences->begin(2);
    return m;
}

struct Shape {
    const char* model;
    Objective objective;
    bool any_order = false;
};
const Shape shapes[] = {{"bert", Objective::masked_and_next}, {"bert", Objective::masked},
                        {"roberta", Objective::masked},       {"gpt2", Objective::causal},
                        {"xlnet", Objective::permuted, true}, {"xlnet", Objective::causal, true}};

// Alone or among others, in any order: a sequence has the same tokens, masks and labels.
TEST(PretrainBatch, ASequenceIsTheSameInEveryBatch) {
    for (const Shape& shape : shapes) {
        const auto m = made(shape.model, shape.objective, shape.any_order);
        const PretrainSequences& s = *m->sequences;
        std::vector<std::int64_t> all;
        for (std::int64_t i = s.count() - 1; i >= 0; --i) all.push_back(i);
        const PretrainBatch whole = s.batch(all);
        std::size_t label = 0, order = 0;
        for (std::size_t k = 0; k < all.size(); ++k) {
            const PretrainBatch one = s.batch({&all[k], 1});
            const auto begin = whole.tokens.segments.begin(static_cast<std::int64_t>(k));
            const auto size = one.tokens.tokens.size();
            EXPECT_EQ(static_cast<std::int64_t>(size),
                      s.lengths()[static_cast<std::size_t>(all[k])]);
            EXPECT_LE(size, 32u);
            EXPECT_TRUE(std::equal(one.tokens.tokens.begin(), one.tokens.tokens.end(),
                                   whole.tokens.tokens.begin() + begin));
            EXPECT_TRUE(
                std::equal(one.tokens.types.begin(), one.tokens.types.end(),
                           whole.tokens.types.begin() + (whole.tokens.types.empty() ? 0 : begin)));
            EXPECT_EQ(one.tokens.segments.sample(0),
                      whole.tokens.segments.sample(static_cast<std::int64_t>(k)));
            EXPECT_GT(one.told[0], 0);
            EXPECT_TRUE(
                std::equal(one.order.begin(), one.order.end(), whole.order.begin() + order));
            order += one.order.size();
            for (std::size_t i = 0; i < one.chosen.labels.size(); ++i, ++label) {
                EXPECT_EQ(one.chosen.labels[i], whole.chosen.labels[label]);
                if (one.chosen.rows.empty()) continue;
                EXPECT_EQ(one.chosen.rows[i] + begin, whole.chosen.rows[label]);
            }
        }
        EXPECT_EQ(label, whole.chosen.labels.size());
    }
}

TEST(PretrainBatch, SpecialTokensAndTypesAreBerts) {
    const auto m = made("bert", Objective::masked_and_next);
    const Tokenizer& t = *m->tokenizer;
    const std::int64_t first[] = {0};
    const PretrainBatch b = m->sequences->batch(first);
    const Ids& ids = b.tokens.tokens;
    EXPECT_EQ(ids.front(), t.cls_id());
    EXPECT_EQ(ids.back(), t.sep_id());
    EXPECT_EQ(std::count(ids.begin(), ids.end(), *t.sep_id()), 2);
    const auto seam = std::find(ids.begin(), ids.end(), *t.sep_id()) - ids.begin();
    for (std::size_t i = 0; i < ids.size(); ++i)
        EXPECT_EQ(b.tokens.types[i], static_cast<std::int64_t>(i) > seam ? 1 : 0);
    ASSERT_EQ(b.next.size(), 1u);
    for (std::size_t i = 0; i < b.chosen.rows.size(); ++i) {
        const TokenId now = ids[static_cast<std::size_t>(b.chosen.rows[i])];
        EXPECT_TRUE(now == t.mask_id() || !t.is_special(now));
    }
}

TEST(PretrainBatch, CausalLabelsAreTheNextTokens) {
    const auto m = made("gpt2", Objective::causal);
    const std::int64_t two[] = {0, 1};
    const PretrainBatch b = m->sequences->batch(two);
    EXPECT_TRUE(b.chosen.rows.empty());
    ASSERT_EQ(b.tokens.tokens.size(), 64u);
    for (std::size_t i = 0; i + 1 < 64; ++i) EXPECT_EQ(b.chosen.labels[i], b.tokens.tokens[i + 1]);
    // Documents are joined by the end token.
    const auto all = m->documents.tokens();
    EXPECT_EQ(std::count(all.begin(), all.end(), *m->tokenizer->eos_id()), 29);
}

// Pairs of which the second says the same in capitals; one of them has no second text.
std::unique_ptr<Made> made_pairs(Objective objective, std::int64_t epoch = 2) {
    auto m = std::make_unique<Made>();
    m->tokenizer = tokenizer_for("bert");
    const SequenceOptions options{
        .objective = objective, .length = 32, .masking = {.seed = 5}, .seed = 5, .pairs = true};
    TokenDocumentsMaker maker(*m->tokenizer, documents_for(options, *m->tokenizer));
    for (const std::string& t : texts()) {
        const std::string first = t.substr(0, t.find('.')), second = "The " + first + " rain";
        const std::string_view both[] = {first, second};
        maker.add(both, true);
    }
    const std::string_view half[] = {"The sun", ""};
    maker.add(half, true);
    m->documents = maker.finish();
    m->sequences.emplace(m->documents, *m->tokenizer, options);
    m->sequences->begin(epoch);
    return m;
}

TEST(PretrainTranslations, LanguagesAndPositionsOfBothTexts) {
    const auto m = made_pairs(Objective::translated);
    ASSERT_EQ(m->sequences->count(), 30);
    const std::int64_t first[] = {0};
    const PretrainBatch b = m->sequences->batch(first);
    const Ids &types = b.tokens.types, &positions = b.tokens.positions;
    ASSERT_EQ(types.size(), b.tokens.tokens.size());
    ASSERT_EQ(positions.size(), types.size());
    const auto seam = std::find(types.begin(), types.end(), 1) - types.begin();
    EXPECT_EQ(b.tokens.tokens[static_cast<std::size_t>(seam) - 1], m->tokenizer->sep_id());
    for (std::size_t i = 0; i < types.size(); ++i) {
        const auto at = static_cast<std::int32_t>(i), s = static_cast<std::int32_t>(seam);
        EXPECT_EQ(types[i], at >= s ? 1 : 0);
        EXPECT_EQ(positions[i], at >= s ? at - s + 1 : at);
    }
}

// What is hidden, and where a text stands, is the same with its translation in view and without.
TEST(PretrainTranslations, MasksAreThoseOfTheTextsAlone) {
    const auto both = made_pairs(Objective::translated), alone = made_pairs(Objective::masked);
    ASSERT_EQ(alone->sequences->count(), 60);
    for (std::int64_t d = 0; d < 30; ++d) {
        const std::int64_t one[] = {d}, two[] = {2 * d, 2 * d + 1};
        const PretrainBatch t = both->sequences->batch(one), a = alone->sequences->batch(two);
        EXPECT_EQ(t.chosen.labels, a.chosen.labels);
        ASSERT_EQ(t.chosen.rows.size(), a.chosen.rows.size());
        for (std::size_t i = 0; i < t.chosen.rows.size(); ++i) {
            const auto r = static_cast<std::size_t>(t.chosen.rows[i]),
                       s = static_cast<std::size_t>(a.chosen.rows[i]);
            EXPECT_EQ(t.tokens.tokens[r], a.tokens.tokens[s]);
            EXPECT_EQ(t.tokens.types[r], a.tokens.types[s]);
            EXPECT_EQ(t.tokens.positions[r], a.tokens.positions[s]);
        }
    }
}

TEST(PretrainTranslations, HalfOfThePairsAreTogetherAndOthersInTheNextEpoch) {
    const auto one = made_pairs(Objective::masked_and_translated, 0),
               two = made_pairs(Objective::masked_and_translated, 1);
    EXPECT_GT(one->sequences->count(), 35);
    EXPECT_LT(one->sequences->count(), 55);
    EXPECT_NE(one->sequences->lengths(), two->sequences->lengths());
}

TEST(PretrainMemory, IsTheTextBeforeASequence) {
    for (const Objective objective : {Objective::permuted, Objective::causal}) {
        const auto m = made("xlnet", objective, true, 7);
        const std::int64_t some[] = {2, 0, 1};
        const PretrainBatch b = m->sequences->batch(some);
        EXPECT_EQ(b.left_to_right, objective == Objective::causal);
        EXPECT_EQ(b.before.segments.length(0), 7);
        EXPECT_EQ(b.before.segments.length(2), 7);
        if (objective == Objective::permuted) {  // nothing stands before the first
            EXPECT_EQ(b.before.segments.length(1), 0);
        }
        const auto all = m->documents.tokens();
        for (const std::int64_t s : {0, 2}) {  // memory and sequence are one run of the text
            Ids run(b.before.tokens.begin() + b.before.segments.begin(s),
                    b.before.tokens.begin() + b.before.segments.end(s));
            const auto from = b.tokens.tokens.begin() + b.tokens.segments.begin(s);
            run.insert(run.end(), from, from + 9);
            EXPECT_NE(std::search(all.begin(), all.end(), run.begin(), run.end()), all.end());
        }
    }
}

TEST(PretrainVocabulary, EveryKindKeepsTheModelsSpecialTokensAndItsText) {
    const std::string text = "The sun shining. The rain falling.";
    for (const char* kind : {"wordpiece", "bpe", "unigram", "words", "characters"})
        for (const char* model : {"bert", "roberta", "gpt2", "xlnet"}) {
            const auto t = tokenizer_for(model, kind);
            const bool masks = std::string(model) != "gpt2";
            EXPECT_EQ(t->mask_id().has_value(), masks) << model << " " << kind;
            EXPECT_TRUE(masks || t->token_to_id("<|endoftext|>") == 0) << kind;
            const SequenceFrame frame = single_frame(*t);
            EXPECT_EQ(frame.added(), masks ? 2 : 0) << model << " " << kind;
            const Tokenizer back = Tokenizer::from_json(t->to_json());
            EXPECT_EQ(back.encode_ids(text), t->encode_ids(text)) << model << " " << kind;
            const auto ids = t->encode_ids(text, false);
            // (GPT-2 calls its one special token the unknown one too.)
            EXPECT_EQ(std::count(ids.begin(), ids.end(), t->unk_id().value_or(-1)), 0)
                << model << " " << kind;
        }
    const auto characters = tokenizer_for("gpt2", "characters");
    EXPECT_EQ(characters->decode(characters->encode_ids("The  rain.")), "The  rain.");
}

}  // namespace
}  // namespace fovea
