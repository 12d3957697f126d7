#include "fovea/tensor/token_batch.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

TEST(TokenBatch, SequencesLieEndToEnd) {
    const std::vector<Ids> s = {{1, 2, 3}, {}, {4}};
    const TokenBatch all = pack(s);
    EXPECT_EQ(all.tokens, (Ids{1, 2, 3, 4}));
    EXPECT_EQ(all.segments, Segments::of_lengths({3, 0, 1}));
    EXPECT_EQ(all.segments.sample(2), 2u);
}

TEST(TokenBatch, ChosenSequencesKeepTheirNames) {
    const std::vector<Ids> s = {{1, 2}, {3}, {4, 5}};
    const std::vector<std::uint64_t> names = {10, 11, 12};
    const std::vector<std::int64_t> chosen = {2, 0};
    const TokenBatch b = pack(s, chosen, names);
    EXPECT_EQ(b.tokens, (Ids{4, 5, 1, 2}));
    EXPECT_EQ(b.segments.sample(0), 12u);
    EXPECT_EQ(b.segments.sample(1), 10u);
}

TEST(TokenBatch, WrongIndicesAndNamesAreErrors) {
    const std::vector<Ids> s = {{1}};
    const std::vector<std::int64_t> outside = {1};
    const std::vector<std::uint64_t> two = {1, 2};
    EXPECT_THROW(pack(s, outside, {}), Error);
    EXPECT_THROW(pack(s, two), Error);
}

}  // namespace
}  // namespace fovea
