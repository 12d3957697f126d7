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

std::unique_ptr<Made> made(const char* model, Objective objective, bool any_order = false) {
    auto m = std::make_unique<Made>();
    m->tokenizer = tokenizer_for(model);
    TokenDocumentsMaker maker(*m->tokenizer, documents_for(objective, *m->tokenizer, 32));
    for (const std::string& t : texts()) maker.add(t, true);
    m->documents = maker.finish();
    m->sequences.emplace(m->documents, *m->tokenizer,
                         SequenceOptions{.objective = objective,
                                         .length = 32,
                                         .masking = {.seed = 5},
                                         .seed = 5,
                                         .any_order = any_order});
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
