#include "fovea/nn/attention_kind.h"

#include <gtest/gtest.h>

#include <set>

#include "fovea/base/error.h"

namespace fovea {
namespace {

AttentionKind kind_named(const std::string& word) {
    return parse_attention(word, "--attention")[0];
}

// Packed keys that a row sees.
std::set<std::int64_t> seen(const Sight& sight, std::int64_t row) {
    std::set<std::int64_t> keys;
    for (std::int64_t k = 0; k < sight.sees.keys(); ++k)
        if (sight.sees.sees(row, k)) keys.insert(k);
    return keys;
}

using Set = std::set<std::int64_t>;
const Segments two = Segments::of_lengths({5, 3});

TEST(AttentionKind, NamesAreReadAndWritten) {
    for (const char* text : {"global", "window:4", "expanded:4,2", "hybrid:4", "hybrid:4,3", "hard",
                             "window:64,window:64,global", "expanded:2,3,hybrid:1,2,hard,hybrid:9"})
        EXPECT_EQ(name_of(parse_attention(text, "--attention")), text);
    EXPECT_EQ(parse_attention("expanded:2,3,window:1", "x").size(), 2u);
    EXPECT_EQ(for_layers(parse_attention("window:2", "x"), 3, "x").size(), 3u);
    EXPECT_EQ(name_of(for_layers({}, 2, "x")), "global,global");
    EXPECT_TRUE(all_global(parse_attention("global,global", "x")));
    EXPECT_FALSE(all_global(parse_attention("global,hard", "x")));
}

TEST(AttentionKind, WrongWordsAreOneClearErrorEach) {
    struct Wrong {
        const char *text, *says;
    };
    for (const Wrong& w : {Wrong{"window:0", "\"0\" is not a whole number from 1"},
                           Wrong{"window", "behind a colon"}, Wrong{"window:2,3", "behind a colon"},
                           Wrong{"expanded:2", "behind a colon"}, Wrong{"expanded:2,0", "\"0\""},
                           Wrong{"sideways", "no mechanism \"sideways\""},
                           Wrong{"local-p:2", "no mechanism \"local-p\""},
                           Wrong{"hard:1", "takes no numbers"}, Wrong{"window:-1", "\"-1\""},
                           Wrong{"window:2x", "\"2x\""}, Wrong{"", "no mechanism \"\""},
                           Wrong{"window:2,", "no mechanism \"\""}, Wrong{"hybrid:1,0", "\"0\""}}) {
        try {
            parse_attention(w.text, "--attention");
            FAIL() << w.text;
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::usage);
            EXPECT_NE(std::string(e.what()).find(w.says), std::string::npos) << e.what();
        }
    }
    EXPECT_THROW(for_layers(parse_attention("hard,global", "x"), 3, "x"), Error);
}

TEST(AttentionKind, WhatAnEncoderSees) {
    EXPECT_EQ(seen(own_sight(kind_named("global"), two), 6), (Set{5, 6, 7}));
    EXPECT_EQ(seen(own_sight(kind_named("window:1"), two), 3), (Set{2, 3, 4}));
    EXPECT_EQ(seen(own_sight(kind_named("window:1"), two), 5), (Set{5, 6}));
    const Sight hybrid = own_sight(kind_named("hybrid:1"), two);
    EXPECT_EQ(seen(hybrid, 4), (Set{0, 3, 4}));        // the window and the first
    EXPECT_EQ(seen(hybrid, 0), (Set{0, 1, 2, 3, 4}));  // which sees all
    EXPECT_EQ(seen(own_sight(kind_named("hybrid:1,2"), two), 4), (Set{0, 1, 3, 4}));
    const Sight expanded = own_sight(kind_named("expanded:1,2"), two);
    ASSERT_TRUE(expanded.means);
    EXPECT_EQ(expanded.sees.keys(), expanded.means->keys());
    EXPECT_TRUE(own_sight(kind_named("hard"), two).one_place);
}

TEST(AttentionKind, WhatADecoderSees) {
    const Visibility all = past(two);
    EXPECT_EQ(seen(past_sight(kind_named("global"), all), 3), (Set{0, 1, 2, 3}));
    EXPECT_EQ(seen(past_sight(kind_named("window:1"), all), 3), (Set{2, 3}));
    EXPECT_EQ(seen(past_sight(kind_named("hybrid:1,2"), all), 4), (Set{0, 1, 3, 4}));
    EXPECT_EQ(seen(past_sight(kind_named("hybrid:1"), all), 5), (Set{5}));
    EXPECT_THROW(past_sight(kind_named("expanded:1,1"), all), Error);
    // A cache whose rows lie elsewhere: three old rows in two runs, then the new one.
    const std::vector<KeyList> lists{{{7, 2}, {1, 1}, {9, 1}}};
    const Visibility cached = past(lists, Segments::of_lengths({1}), 10);
    EXPECT_EQ(seen(past_sight(kind_named("window:1"), cached), 0), (Set{1, 9}));
    EXPECT_EQ(seen(past_sight(kind_named("hybrid:1"), cached), 0), (Set{1, 7, 9}));
}

TEST(AttentionKind, WhatIsSeenOfASource) {
    const AskingRows at = AskingRows::all(Segments::of_lengths({2, 6}));
    const auto sees = [&](const char* word, std::int64_t row, std::int64_t wait = 0) {
        return seen(
            source_sight(kind_named(word), at, two, means_of(kind_named(word), two), {wait}), row);
    };
    EXPECT_EQ(sees("global", 0), (Set{0, 1, 2, 3, 4}));
    EXPECT_EQ(sees("window:1", 1), (Set{0, 1, 2}));
    EXPECT_EQ(sees("window:1", 7), (Set{6, 7}));  // step 5 of a source of three: at its end
    EXPECT_EQ(sees("hybrid:1", 7), (Set{5, 6, 7}));
    // wait-k: row t has read t + k places, and no more.
    EXPECT_EQ(sees("global", 0, 2), (Set{0, 1}));
    EXPECT_EQ(sees("global", 1, 2), (Set{0, 1, 2}));
    EXPECT_EQ(sees("global", 7, 2), (Set{5, 6, 7}));
    EXPECT_EQ(sees("window:3", 0, 1), (Set{0}));
    EXPECT_EQ(sees("hard", 0, 1), (Set{0}));
}

TEST(AttentionKind, LayersOfOneKindShareWhatIsMade) {
    int made = 0;
    const std::vector<int> all = for_each_kind(parse_attention("window:2,global,window:2", "x"),
                                               [&](const AttentionKind&, std::size_t layer) {
                                                   ++made;
                                                   return static_cast<int>(layer);
                                               });
    EXPECT_EQ(all, (std::vector<int>{0, 1, 0}));
    EXPECT_EQ(made, 2);
}

}  // namespace
}  // namespace fovea
