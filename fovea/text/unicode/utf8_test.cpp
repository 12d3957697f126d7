#include "fovea/text/unicode/utf8.h"

#include <gtest/gtest.h>

#include "fovea/base/rng.h"

namespace fovea::text {
namespace {

TEST(Utf8, ReadsWhatItWrites) {
    for (const char32_t c : {U'\0', U'a', U'\x7F', U'\x80', U'é', U'\x7FF', U'\x800', U'日',
                             U'\xFFFF', U'\x10000', U'😀', U'\x10FFFF'}) {
        std::string s;
        append_char(s, c);
        EXPECT_EQ(static_cast<int>(s.size()), utf8_size(s[0]));
        EXPECT_EQ(read_char(s.data()).code, c);
        EXPECT_TRUE(is_valid_utf8(s));
    }
}

// One U+FFFD for each maximal part of a broken sequence: the rows of Unicode's table 3-8 and more.
TEST(Utf8, RepairsAsUnicodeRecommends) {
    const std::string r = "\xEF\xBF\xBD";
    EXPECT_EQ(valid_utf8("a\xF1\x80\x80\xE1\x80\xC2z"), "a" + r + r + r + "z");
    EXPECT_EQ(valid_utf8("\xC0\xAF"), r + r);                  // overlong '/'
    EXPECT_EQ(valid_utf8("\xE0\x80\xAF"), r + r + r);          // overlong, three bytes
    EXPECT_EQ(valid_utf8("\xED\xA0\x80"), r + r + r);          // a lone surrogate
    EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80"), r + r + r + r);  // beyond U+10FFFF
    EXPECT_EQ(valid_utf8("\xE6\x97"), r);                      // cut off
    EXPECT_EQ(valid_utf8(std::string("a\0b", 3)), std::string("a\0b", 3));
    EXPECT_EQ(valid_utf8("日本"), "日本");
}

TEST(Utf8, RepairAlwaysGivesValidText) {
    Rng rng(7);
    for (int n = 0; n < 2000; ++n) {
        std::string s;
        for (std::int64_t i = rng.below(40); i > 0; --i)
            s += static_cast<char>(rng.below(3) == 0 ? rng.below(256) : 0x80 + rng.below(128));
        const std::string fixed = valid_utf8(s);
        ASSERT_TRUE(is_valid_utf8(fixed));
        if (is_valid_utf8(s)) {
            ASSERT_EQ(fixed, s);
        }
    }
}

TEST(Utf8, FindsWhereWholeCharactersEnd) {
    EXPECT_EQ(whole_chars(""), 0u);
    EXPECT_EQ(whole_chars("ab"), 2u);
    EXPECT_EQ(whole_chars("a\xE6"), 1u);
    EXPECT_EQ(whole_chars("a\xE6\x97"), 1u);
    EXPECT_EQ(whole_chars("a\xE6\x97\xA5"), 4u);
    EXPECT_EQ(whole_chars("\xF0\x9F\x98"), 0u);
    EXPECT_EQ(whole_chars("\x80\x80\x80\x80"), 4u);  // broken for good: nothing to wait for
}

TEST(Utf8, Counts) {
    EXPECT_EQ(count_chars("aé日😀"), 4u);
    EXPECT_TRUE(is_ascii(std::string(100, 'x')));
    std::string s(100, 'x');
    s[63] = '\xC3';
    EXPECT_FALSE(is_ascii(s));
    s = std::string(33, 'x') + "\xC3";
    EXPECT_FALSE(is_ascii(s));
}

}  // namespace
}  // namespace fovea::text
