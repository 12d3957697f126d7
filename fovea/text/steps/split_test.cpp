#include <gtest/gtest.h>

#include "fovea/text/steps/pre_tokenizers.h"

namespace fovea::text {
namespace {

// "the-final--countdown" cut at "-".
std::vector<std::string> cut(SplitBehavior behavior, bool invert = false) {
    const std::string s = "the-final--countdown";
    std::vector<ByteRange> matches, out;
    Matcher({"-", false}, "test").find(s, matches);
    split_at(matches, {0, static_cast<std::uint32_t>(s.size())}, behavior, invert, out);
    std::vector<std::string> pieces;
    for (const ByteRange& r : out) pieces.push_back(s.substr(r.begin, r.end - r.begin));
    return pieces;
}
using Pieces = std::vector<std::string>;

TEST(Split, Behaviors) {
    EXPECT_EQ(cut(SplitBehavior::removed), (Pieces{"the", "final", "countdown"}));
    EXPECT_EQ(cut(SplitBehavior::isolated), (Pieces{"the", "-", "final", "-", "-", "countdown"}));
    EXPECT_EQ(cut(SplitBehavior::merged_with_previous),
              (Pieces{"the-", "final-", "-", "countdown"}));
    EXPECT_EQ(cut(SplitBehavior::merged_with_next), (Pieces{"the", "-final", "-", "-countdown"}));
    EXPECT_EQ(cut(SplitBehavior::contiguous), (Pieces{"the", "-", "final", "--", "countdown"}));
    EXPECT_EQ(cut(SplitBehavior::removed, true), (Pieces{"-", "-", "-"}));
}

std::vector<std::string> words(std::vector<PreTokenizerStep> steps, std::string_view s) {
    NormalizedText text;
    text.assign(s, 0, true);
    PreTokenizerScratch scratch;
    std::vector<ByteRange> ranges;
    PreTokenizerChain(steps).apply(text, ranges, scratch, false);
    std::vector<std::string> out;
    for (const ByteRange& r : ranges) out.push_back(text.text().substr(r.begin, r.end - r.begin));
    return out;
}

TEST(PreTokenizers, CutAsTokenizersDoes) {
    namespace p = pretokenizer;
    EXPECT_EQ(words({p::Bert{}}, "Hey, you're  日本!"),
              (Pieces{"Hey", ",", "you", "'", "re", "日本", "!"}));
    EXPECT_EQ(words({p::Whitespace{}}, "a_b--c d."), (Pieces{"a_b", "--", "c", "d", "."}));
    EXPECT_EQ(words({p::WhitespaceSplit{}}, "a-b\u3000c"), (Pieces{"a-b", "c"}));
    EXPECT_EQ(words({p::Metaspace{}}, "Hey  you"), (Pieces{"▁Hey", "▁", "▁you"}));
    EXPECT_EQ(words({p::Metaspace{"▁", PrependScheme::never, true}}, "Hey you"),
              (Pieces{"Hey", "▁you"}));
    EXPECT_EQ(words({p::Metaspace{"▁", PrependScheme::always, false}}, "a b"), (Pieces{"▁a▁b"}));
    EXPECT_EQ(words({p::Digits{true}}, "ab12"), (Pieces{"ab", "1", "2"}));
    EXPECT_EQ(words({p::Digits{false}}, "ab12"), (Pieces{"ab", "12"}));
    EXPECT_EQ(words({p::CharDelimiterSplit{"|"}}, "a||b"), (Pieces{"a", "b"}));
    EXPECT_EQ(words({p::ByteLevel{true, true, true}}, "é x"), (Pieces{"ĠÃ©", "Ġx"}));
    EXPECT_EQ(words({p::FixedLength{2}}, "日本語"), (Pieces{"日本", "語"}));
    EXPECT_EQ(words({p::UnicodeScripts{}}, "どこで生れ。Yes"), (Pieces{"どこで生れ", "。", "Yes"}));
    EXPECT_EQ(words({p::WhitespaceSplit{}, p::Metaspace{"▁", PrependScheme::first, true}}, "a b"),
              (Pieces{"▁a", "b"}));
    EXPECT_EQ(words({p::Punctuation{SplitBehavior::merged_with_previous}}, "a,b!"),
              (Pieces{"a,", "b!"}));
    EXPECT_TRUE(words({p::Bert{}}, "").empty());
}

}  // namespace
}  // namespace fovea::text
