// Requests and models that a search cannot serve.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "fovea/base/error.h"
#include "fovea/infer/ensemble_stepper.h"
#include "fovea/infer/test_transformer.h"

namespace fovea {
namespace {

TEST(Search, MembersOfAnEnsembleHaveOneVocabulary) {
    const Tiny a, b(3, PositionCode::sinusoidal, 40);
    const auto [ids, segments] = packed({sources[1]});
    std::vector<std::unique_ptr<Stepper>> members;
    members.push_back(std::make_unique<TransformerStepper>(*a.model, ids, segments));
    members.push_back(std::make_unique<TransformerStepper>(*b.model, ids, segments));
    EnsembleStepper both(std::move(members));
    EXPECT_THROW(search(both, {}, std::vector<DecodeRequest>(1)), Error);
}

TEST(Search, WrongRequestsAreErrorsAndNeverReadBeyondTheScores) {
    const Tiny tiny;
    const auto kind_of = [&](const std::vector<Ids>& texts, const DecodeRequest& r, std::size_t n) {
        const auto [ids, segments] = packed(texts);
        TransformerStepper stepper(*tiny.model, ids, segments);
        try {
            search(stepper, {}, std::vector<DecodeRequest>(n, r));
        } catch (const Error& e) {
            return e.kind();
        }
        return ErrorKind::busy;
    };
    EXPECT_EQ(kind_of(sources, {}, 3), ErrorKind::failed);  // four sources
    EXPECT_EQ(kind_of(sources, {.prefix = {41}}, 4), ErrorKind::usage);
    EXPECT_EQ(kind_of(sources, {.prefix = {-1}}, 4), ErrorKind::usage);
    EXPECT_EQ(kind_of(sources, {.constraints = {{3}, {4, 41}}}, 4), ErrorKind::usage);
    EXPECT_EQ(kind_of(sources, {}, 4), ErrorKind::busy);  // that was right
}

TEST(Search, ScoresThatAreNotNumbersAreAnErrorThatSaysSo) {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
        for (const bool sample : {false, true}) {
            Tiny tiny;
            Tensor norm = tiny.store.at("model.decoder.layers.1.final_layer_norm.weight");
            norm.write()[3] = bad;
            try {
                decode(tiny, sources, {.beam = 2, .sample = sample});
                FAIL() << "no error";
            } catch (const Error& e) {
                EXPECT_NE(std::string(e.what()).find("not numbers"), std::string::npos) << e.what();
                EXPECT_NE(e.hint().find("weights"), std::string::npos);
            }
        }
}

TEST(Search, WhereEveryTokenIsForbiddenTheTextIsCutThere) {
    const Tiny tiny(3, PositionCode::sinusoidal, 6);
    for (const bool sample : {false, true}) {
        const auto found =
            decode(tiny, {{5, 4, 1}},
                   {.max_length = 30, .min_length = 30, .sample = sample, .no_repeat_ngram = 1});
        ASSERT_EQ(found[0].size(), 1u);
        EXPECT_EQ(found[0][0].tokens.size(), 5u);  // each once, but no end before 30
        EXPECT_FALSE(found[0][0].finished);
    }
}

}  // namespace
}  // namespace fovea
