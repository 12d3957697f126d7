#include "fovea/infer/search_options.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

TEST(Search, BadOptionsAreUsageErrors) {
    EXPECT_THROW(SearchOptions{.beam = 0}.check(), Error);
    EXPECT_THROW((SearchOptions{.beam = 2, .n_best = 3}).check(), Error);
    EXPECT_THROW(SearchOptions{.temperature = 0}.check(), Error);
    EXPECT_THROW(length_penalty_of("magic"), Error);
}

TEST(LengthPenalties, TheToolkitsFormulas) {
    EXPECT_DOUBLE_EQ(ranked_score(-6, 4, LengthPenalty::none, 1), -6);
    EXPECT_DOUBLE_EQ(ranked_score(-6, 4, LengthPenalty::fairseq, 0.5), -3);
    EXPECT_DOUBLE_EQ(ranked_score(-6, 4, LengthPenalty::hf, 1), -1.5);
    EXPECT_DOUBLE_EQ(ranked_score(-6, 4, LengthPenalty::marian, 1, 0.1), -1.9);
    EXPECT_DOUBLE_EQ(ranked_score(-6, 7, LengthPenalty::onmt_wu, 1), -3);
}

}  // namespace
}  // namespace fovea
