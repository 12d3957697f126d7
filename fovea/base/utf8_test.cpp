#include "fovea/base/utf8.h"

#include <gtest/gtest.h>

#include "fovea/base/rng.h"

namespace fovea {
namespace {

TEST(Utf8, ReadsWhatItWrites) {
    for (const char32_t c : {U'\0', U'a', U'\x7F', U'\x80', U'é', U'\x7FF', U'\x800', U'日',
                             U'\xFFFF', U'\x10000', U'😀', U'\x10FFFF'}) {
        std::string s;
        append_utf8(s, c);
        EXPECT_EQ(static_cast<int>(s.size()), utf8_size(s[0]));
        EXPECT_EQ(read_char(s.data()).code, c);
        EXPECT_TRUE(is_utf8(s));
    }
}

// One U+FFFD for each maximal part of a broken sequence: the rows of Unicode's table 3-8 and more.
TEST(Utf8, RepairsAsUnicodeRecommends) {
    const std::string r = "\xEF\xBF\xBD";
    EXPECT_EQ(repair_utf8("a\xF1\x80\x80\xE1\x80\xC2z"), "a" + r + r + r + "z");
    EXPECT_EQ(repair_utf8("\xC0\xAF"), r + r);                  // overlong '/'
    EXPECT_EQ(repair_utf8("\xE0\x80\xAF"), r + r + r);          // overlong, three bytes
    EXPECT_EQ(repair_utf8("\xED\xA0\x80"), r + r + r);          // a lone surrogate
    EXPECT_EQ(repair_utf8("\xF4\x90\x80\x80"), r + r + r + r);  // beyond U+10FFFF
    EXPECT_EQ(repair_utf8("\xE6\x97"), r);                      // cut off
    EXPECT_EQ(repair_utf8(std::string("a\0b", 3)), std::string("a\0b", 3));
    EXPECT_EQ(repair_utf8("日本"), "日本");
}

TEST(Utf8, RepairAlwaysGivesValidText) {
    Rng rng(7);
    for (int n = 0; n < 2000; ++n) {
        std::string s;
        for (std::int64_t i = rng.below(40); i > 0; --i)
            s += static_cast<char>(rng.below(3) == 0 ? rng.below(256) : 0x80 + rng.below(128));
        const std::string fixed = repair_utf8(s);
        ASSERT_TRUE(is_utf8(fixed));
        if (is_utf8(s)) {
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

// Metrics and trainers count a broken byte as one character each, unlike the repair above.
TEST(Utf8, DecodesBrokenBytesOneByOne) {
    EXPECT_EQ(decode_utf8("a\xE6\x97z\xC3"), U"a\uFFFD\uFFFDz\uFFFD");
    EXPECT_EQ(decode_utf8("\xED\xA0\x80"), U"\uFFFD\uFFFD\uFFFD");
    EXPECT_EQ(decode_utf8("aé日😀"), U"aé日😀");
    EXPECT_EQ(encode_utf8(U"aé日😀"), "aé日😀");
    EXPECT_EQ(encode_utf8(U'日'), "日");
}

TEST(Utf8, FindsTheFirstBrokenCharacter) {
    EXPECT_EQ(utf8_prefix(""), 0u);
    EXPECT_EQ(utf8_prefix("aé日"), 6u);
    EXPECT_EQ(utf8_prefix("aé\xE6\x97"), 3u);
    EXPECT_EQ(utf8_prefix("\xFFx"), 0u);
}

TEST(Utf8, GuessesWhatIsNotUtf8) {
    using namespace std::string_view_literals;
    EXPECT_EQ(guess_encoding("Der Caf\xE9-Besitzer gr\xFC\xDFt"), "ISO-8859-1");
    EXPECT_EQ(guess_encoding("\x93quoted\x94 text"), "WINDOWS-1252");
    EXPECT_EQ(guess_encoding("\xFF\xFEh\0i\0"sv), "UTF-16");
    EXPECT_EQ(guess_encoding("h\0e\0l\0l\0o\0"sv), "UTF-16LE");
    EXPECT_EQ(guess_encoding("\0h\0e\0l\0l\0o"sv), "UTF-16BE");
    EXPECT_EQ(guess_encoding("\x7F"
                             "ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0>\0"sv),
              "binary");
    EXPECT_EQ(guess_encoding("\xEF\xF0\xE8\xE2\xE5\xF2 \xEC\xE8\xF0"), "");  // Windows-1251
    EXPECT_EQ(guess_encoding("größer, schöner, wei\xC3!"), "UTF-8");
    EXPECT_FALSE(looks_binary("one stray \0 in a line of some length\tand a tab"sv));
}

TEST(Utf8, HintsHowToConvert) {
    EXPECT_EQ(encoding_hint("caf\xE9", "a.txt"),
              "it looks like Latin-1 (ISO-8859-1); convert it: "
              "iconv -f ISO-8859-1 -t UTF-8 a.txt > NEW");
    EXPECT_NE(encoding_hint("\xFF\xFE", "-").find("iconv -f UTF-16 -t UTF-8 FILE"),
              std::string::npos);
    EXPECT_NE(encoding_hint(std::string(64, '\1'), "a").find("binary"), std::string::npos);
}

TEST(Utf8, ColumnsAreCodePoints) {
    EXPECT_EQ(display_width(""), 0);
    EXPECT_EQ(display_width("ab▕█日"), 5);
    EXPECT_EQ(first_columns("ab▕█日", 3), "ab▕");
    EXPECT_EQ(first_columns("ab▕█日", 5), "ab▕█日");
    EXPECT_EQ(first_columns("ab", 9), "ab");
    EXPECT_EQ(first_columns("ab", 0), "");
    EXPECT_EQ(first_columns("ab", -1), "");
}

}  // namespace
}  // namespace fovea
