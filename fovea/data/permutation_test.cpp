#include "fovea/data/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "fovea/base/error.h"

namespace fovea {
namespace {

Ids text_of_length(std::size_t n) {
    Ids tokens;
    for (std::size_t i = 0; i < n; ++i) tokens.push_back(static_cast<std::int32_t>(10 + i % 50));
    return tokens;
}

Ids targets_of(const PermutationExample& e) {
    return {e.order.end() - static_cast<std::ptrdiff_t>(e.predicted), e.order.end()};
}

TEST(Permutation, OrderHoldsEveryPositionOnce) {
    for (std::size_t n = 0; n < 80; ++n) {
        const PermutationExample e = draw_permutation(text_of_length(n), 1, 2, n);
        Ids sorted = e.order;
        std::sort(sorted.begin(), sorted.end());
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(sorted[i], static_cast<std::int32_t>(i));
        ASSERT_EQ(sorted.size(), n);
        ASSERT_TRUE(std::is_sorted(e.order.begin(), e.order.end() - e.predicted));
        ASSERT_GE(e.predicted, n > 0 ? 1 : 0);
    }
}

TEST(Permutation, OneTokenInSixInSpansOfUpToFive) {
    std::int64_t tokens = 0, targets = 0;
    std::map<std::int64_t, int> runs;
    for (std::uint64_t document = 0; document < 400; ++document) {
        const PermutationExample e = draw_permutation(text_of_length(510), 7, 0, document);
        Ids t = targets_of(e);
        tokens += 510;
        targets += e.predicted;
        std::sort(t.begin(), t.end());
        for (std::size_t i = 0; i < t.size();) {
            std::size_t end = i + 1;
            while (end < t.size() && t[end] == t[end - 1] + 1) ++end;
            ++runs[static_cast<std::int64_t>(end - i)];
            i = end;
        }
    }
    EXPECT_NEAR(static_cast<double>(targets) / static_cast<double>(tokens), 1.0 / 6, 0.003);
    // Lengths are drawn evenly; now and then two spans touch, at the border of two contexts.
    int all = 0;
    for (const auto& [length, count] : runs) all += count;
    for (std::int64_t length = 1; length <= 5; ++length)
        EXPECT_NEAR(static_cast<double>(runs[length]) / all, 0.2, 0.02) << length;
}

TEST(Permutation, EveryPlaceIsPredictedAboutAsOften) {
    std::vector<int> times(60);
    const int documents = 6000;
    for (std::uint64_t d = 0; d < documents; ++d)
        for (const std::int32_t t : targets_of(draw_permutation(text_of_length(60), 3, 0, d)))
            ++times[static_cast<std::size_t>(t)];
    // In the middle; the first few are rarer, for a span of several has fewer ways to reach them.
    for (std::size_t i = 6; i < 60; ++i)
        EXPECT_NEAR(times[i] / double{documents}, 1.0 / 6, 0.05) << i;
}

TEST(Permutation, TargetsComeInAnyOrder) {
    int ascending = 0, pairs = 0;
    for (std::uint64_t d = 0; d < 200; ++d) {
        const Ids t = targets_of(draw_permutation(text_of_length(200), 3, 0, d));
        for (std::size_t i = 1; i < t.size(); ++i, ++pairs) ascending += t[i] > t[i - 1];
    }
    EXPECT_NEAR(static_cast<double>(ascending) / pairs, 0.5, 0.03);
}

TEST(Permutation, DependsOnSeedEpochAndDocumentAlone) {
    const Ids tokens = text_of_length(300);
    const PermutationExample e = draw_permutation(tokens, 1, 2, 3);
    EXPECT_EQ(draw_permutation(tokens, 1, 2, 3).order, e.order);
    EXPECT_NE(draw_permutation(tokens, 9, 2, 3).order, e.order);
    EXPECT_NE(draw_permutation(tokens, 1, 9, 3).order, e.order);
    EXPECT_NE(draw_permutation(tokens, 1, 2, 9).order, e.order);
    Ids others = tokens;  // which tokens they are does not matter
    std::reverse(others.begin(), others.end());
    EXPECT_EQ(draw_permutation(others, 1, 2, 3).order, e.order);
}

TEST(Permutation, SpecialTokensAreNoTargets) {
    Ids tokens = text_of_length(40);
    tokens[20] = 4;
    tokens[39] = 3;
    for (std::uint64_t d = 0; d < 200; ++d)
        for (const std::int32_t t :
             targets_of(draw_permutation(tokens, 1, 0, d, {.never = {3, 4}}))) {
            EXPECT_NE(t, 20);
            EXPECT_NE(t, 39);
        }
    EXPECT_EQ(draw_permutation({3, 4, 3}, 1, 0, 0, {.never = {3, 4}}).predicted, 0);
    EXPECT_EQ(targets_of(draw_permutation({3, 9, 4}, 1, 0, 0, {.never = {3, 4}})), Ids{1});
    EXPECT_THROW(draw_permutation(tokens, 1, 0, 0, {.longest_span = 0}), Error);
}

}  // namespace
}  // namespace fovea
