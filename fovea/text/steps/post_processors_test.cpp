#include "fovea/text/steps/post_processors.h"

#include <gtest/gtest.h>

#include <numeric>

#include "fovea/base/error.h"

namespace fovea::text {
namespace {

Encoding numbers(int n, int which = 0) {
    Encoding e;
    const auto size = static_cast<std::size_t>(n);
    e.ids.resize(size);
    std::iota(e.ids.begin(), e.ids.end(), 100 * (which + 1));
    e.tokens.assign(size, "t");
    e.offsets.assign(size, {0, 1});
    e.type_ids.assign(size, which);
    e.word_ids.assign(size, 0);
    e.sequence_ids.assign(size, which);
    e.special_mask.assign(size, 0);
    return e;
}
using Ids = std::vector<TokenId>;

TEST(Truncation, CutsIntoPartsThatOverlap) {
    Encoding e = numbers(7);
    truncate(e, 3, 1, Direction::right);
    EXPECT_EQ(e.ids, (Ids{100, 101, 102}));
    ASSERT_EQ(e.overflowing.size(), 2u);
    EXPECT_EQ(e.overflowing[0].ids, (Ids{102, 103, 104}));
    EXPECT_EQ(e.overflowing[1].ids, (Ids{104, 105, 106}));

    e = numbers(5);
    truncate(e, 2, 0, Direction::left);
    EXPECT_EQ(e.ids, (Ids{103, 104}));
    ASSERT_EQ(e.overflowing.size(), 2u);
    EXPECT_EQ(e.overflowing[0].ids, (Ids{101, 102}));
    EXPECT_EQ(e.overflowing[1].ids, (Ids{100}));

    e = numbers(3);
    truncate(e, 3, 0, Direction::right);
    EXPECT_TRUE(e.overflowing.empty());
    truncate(e, 0, 0, Direction::right);
    EXPECT_EQ(e.size(), 0u);
    EXPECT_EQ(e.overflowing[0].size(), 3u);
    e = numbers(3);
    EXPECT_THROW(truncate(e, 2, 2, Direction::right), Error);
}

// The table of tokenizers' own test: lengths 0, 2, 4 and 8 cut to 7 tokens.
TEST(Truncation, LongestFirst) {
    const int cases[][4] = {{0, 8, 0, 7}, {2, 4, 2, 4}, {2, 8, 2, 5}, {4, 4, 3, 4},
                            {4, 8, 3, 4}, {8, 2, 5, 2}, {8, 4, 4, 3}, {8, 8, 3, 4}};
    for (const auto& c : cases) {
        std::vector<Encoding> both = {numbers(c[0]), numbers(c[1], 1)};
        truncate(both, {.max_length = 7});
        EXPECT_EQ(both[0].size(), static_cast<std::size_t>(c[2]));
        EXPECT_EQ(both[1].size(), static_cast<std::size_t>(c[3]));
    }
}

TEST(Truncation, OnlyOne) {
    std::vector<Encoding> both = {numbers(5), numbers(4, 1)};
    truncate(both, {.max_length = 6, .strategy = TruncationStrategy::only_second});
    EXPECT_EQ(both[0].size(), 5u);
    EXPECT_EQ(both[1].size(), 1u);
    both = {numbers(5), numbers(4, 1)};
    EXPECT_THROW(truncate(both, {.max_length = 3, .strategy = TruncationStrategy::only_second}),
                 Error);
    std::vector<Encoding> one = {numbers(5)};
    EXPECT_THROW(truncate(one, {.max_length = 3, .strategy = TruncationStrategy::only_second}),
                 Error);
}

TEST(PostProcessors, IdsOutsideTheVocabularyAreRefused) {
    using Piece = postprocessor::TemplatePiece;
    const PostProcessorChain bert({postprocessor::Bert{{"[SEP]", 2}, {"[CLS]", 1}}});
    EXPECT_NO_THROW(bert.check_ids(3));
    EXPECT_THROW(bert.check_ids(2), Error);
    const PostProcessorChain negative({postprocessor::Roberta{{"</s>", 2}, {"<s>", -1}}});
    EXPECT_THROW(negative.check_ids(3), Error);
    postprocessor::Template t;
    t.single = {{Piece::Kind::sequence_a, "", 0}};
    t.pair = {{Piece::Kind::sequence_a, "", 0}, {Piece::Kind::special, "<s>", 0}};
    t.special_tokens = {{"<s>", {1, 5}, {"<s>", "<s>"}}, {"<never used>", {99}, {"?"}}};
    EXPECT_NO_THROW(PostProcessorChain({t}).check_ids(6));
    try {
        PostProcessorChain({t}).check_ids(5);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::bad_input);
        EXPECT_NE(std::string(e.what()).find("\"<s>\" as id 5"), std::string::npos) << e.what();
    }
}

TEST(PostProcessors, Bert) {
    const PostProcessorChain p({postprocessor::Bert{{"[SEP]", 2}, {"[CLS]", 1}}});
    EXPECT_EQ(p.tokens_added(false), 2);
    EXPECT_EQ(p.tokens_added(true), 3);
    const Encoding one = p.process({numbers(2)}, true);
    EXPECT_EQ(one.ids, (Ids{1, 100, 101, 2}));
    EXPECT_EQ(one.special_mask, (std::vector<std::uint8_t>{1, 0, 0, 1}));
    EXPECT_EQ(one.word_ids, (std::vector<std::int32_t>{-1, 0, 0, -1}));
    const Encoding two = p.process({numbers(1), numbers(1, 1)}, true);
    EXPECT_EQ(two.ids, (Ids{1, 100, 2, 200, 2}));
    EXPECT_EQ(two.type_ids, (std::vector<std::int32_t>{0, 0, 0, 1, 1}));
    EXPECT_EQ(two.sequence_ids, (std::vector<std::int32_t>{-1, 0, -1, 1, -1}));
    EXPECT_EQ(p.process({numbers(1), numbers(1, 1)}, false).ids, (Ids{100, 200}));
}

TEST(PostProcessors, PartsCutOffGetTheirSpecialTokensToo) {
    const PostProcessorChain p({postprocessor::Bert{{"[SEP]", 2}, {"[CLS]", 1}}});
    std::vector<Encoding> both = {numbers(2), numbers(5, 1)};
    truncate(both, {.max_length = 4, .strategy = TruncationStrategy::only_second});
    const Encoding e = p.process(std::move(both), true);
    EXPECT_EQ(e.ids, (Ids{1, 100, 101, 2, 200, 201, 2}));
    ASSERT_EQ(e.overflowing.size(), 2u);
    EXPECT_EQ(e.overflowing[0].ids, (Ids{1, 100, 101, 2, 202, 203, 2}));
    EXPECT_EQ(e.overflowing[1].ids, (Ids{1, 100, 101, 2, 204, 2}));
}

TEST(PostProcessors, Roberta) {
    const PostProcessorChain p({postprocessor::Roberta{{"</s>", 2}, {"<s>", 0}, true, true}});
    const Encoding two = p.process({numbers(1), numbers(1, 1)}, true);
    EXPECT_EQ(two.ids, (Ids{0, 100, 2, 2, 200, 2}));
    EXPECT_EQ(two.type_ids, (std::vector<std::int32_t>(6, 0)));
}

TEST(PostProcessors, TemplateMayNameATokenOfSeveralIds) {
    using postprocessor::TemplatePiece;
    postprocessor::Template t;
    t.single = {{TemplatePiece::Kind::sequence_a, {}, 3}, {TemplatePiece::Kind::special, "x", 2}};
    t.pair = {{TemplatePiece::Kind::sequence_b, {}, 1}, {TemplatePiece::Kind::sequence_a, {}, 0}};
    t.special_tokens = {{"x", {7, 8}, {"seven", "eight"}}};
    const PostProcessorChain p({t});
    EXPECT_EQ(p.tokens_added(false), 2);
    const Encoding one = p.process({numbers(1)}, true);
    EXPECT_EQ(one.ids, (Ids{100, 7, 8}));
    EXPECT_EQ(one.type_ids, (std::vector<std::int32_t>{3, 2, 2}));
    EXPECT_EQ(p.process({numbers(1), numbers(1, 1)}, true).ids, (Ids{200, 100}));
    std::vector<TokenId> before, after;
    EXPECT_TRUE(p.around(before, after));
    EXPECT_TRUE(before.empty());
    EXPECT_EQ(after, (Ids{7, 8}));
}

TEST(PostProcessors, TrimTakesSpacesOutOfOffsets) {
    Encoding e = numbers(3);
    e.tokens = {"Ġhi", "Ġthere", "ĠĠ"};
    e.offsets = {{0, 3}, {3, 9}, {9, 11}};
    Encoding a = e;
    trim_offsets(a, false);
    EXPECT_EQ(a.offsets, (std::vector<TextSpan>{{1, 3}, {4, 9}, {11, 11}}));
    trim_offsets(e, true);  // the first space was put there: it takes no room
    EXPECT_EQ(e.offsets, (std::vector<TextSpan>{{0, 3}, {4, 9}, {11, 11}}));
}

}  // namespace
}  // namespace fovea::text
