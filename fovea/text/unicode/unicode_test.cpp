#include "fovea/text/unicode/unicode.h"

#include <gtest/gtest.h>

#include <string>

#include "fovea/base/utf8.h"
#include "fovea/text/unicode/decomposition.h"

namespace fovea::text {
namespace {

std::string form(NormalForm f, std::string_view s) {
    std::vector<Change> changes;
    normalize(s, f, changes);
    std::string out;
    for (const Change& c : changes) append_utf8(out, c.code);
    return out;
}

TEST(Unicode, FlagsOfWellKnownCharacters) {
    EXPECT_TRUE(has(U'\u3000', is_space));
    EXPECT_FALSE(has(U'\u200B', is_space));  // zero width space is no white space
    EXPECT_TRUE(has(U'$', is_punctuation));  // ASCII symbols count for BERT
    EXPECT_TRUE(has(U'。', is_punctuation));
    EXPECT_FALSE(has(U'€', is_punctuation));
    EXPECT_TRUE(has(U'\u200D', is_control));
    EXPECT_FALSE(has(U'\t', is_control));
    EXPECT_TRUE(has(U'\0', is_control));
    EXPECT_TRUE(has(U'\uFFFD', is_control));
    EXPECT_TRUE(has(U'\u0301', is_nonspacing));
    EXPECT_TRUE(has(U'ß', is_letter));
    EXPECT_TRUE(has(U'½', is_number));
    EXPECT_TRUE(has(U'_', is_word));
    EXPECT_TRUE(has(U'中', is_chinese));
    EXPECT_FALSE(has(U'あ', is_chinese));
    EXPECT_EQ(char_flags(0x10FFFF) & (is_letter | is_space), 0);
}

TEST(Unicode, LowerCases) {
    char32_t out[2];
    EXPECT_EQ(to_lower(U'A', out), 1);
    EXPECT_EQ(out[0], U'a');
    EXPECT_EQ(to_lower(U'İ', out), 2);  // becomes i and a dot above
    EXPECT_EQ(out[0], U'i');
    EXPECT_EQ(out[1], U'\u0307');
    EXPECT_EQ(to_lower(U'ẞ', out), 1);
    EXPECT_EQ(out[0], U'ß');
    EXPECT_EQ(to_lower(U'\xA7CB', out), 1);  // Unicode 16, unknown to utf8proc 2.8
    EXPECT_EQ(out[0], char32_t{0x264});
    EXPECT_EQ(to_lower(U'Σ', out), 1);
    EXPECT_EQ(out[0], U'σ');  // no look at the context
}

TEST(Unicode, NormalForms) {
    EXPECT_EQ(form(NormalForm::nfd, "é"), "e\u0301");
    EXPECT_EQ(form(NormalForm::nfc, "e\u0301"), "é");
    EXPECT_EQ(form(NormalForm::nfc, "\u1E9B\u0323"), "\u1E9B\u0323");
    EXPECT_EQ(form(NormalForm::nfd, "\u1E9B\u0323"), "\u017F\u0323\u0307");  // marks sorted
    EXPECT_EQ(form(NormalForm::nfkc, "ﬁ①Å"), "fi1Å");
    EXPECT_EQ(form(NormalForm::nfc, "\u1100\u1161\u11A8"), "각");
    EXPECT_EQ(form(NormalForm::nfd, "각"), "\u1100\u1161\u11A8");
    EXPECT_EQ(form(NormalForm::nfkd, "㋿"), "㋿");  // younger than tokenizers' tables
    EXPECT_EQ(form(NormalForm::nfc, ""), "");
}

TEST(Unicode, ComposingUndoesDecomposing) {
    for (char32_t c = 0xC0; c < 0x2000; ++c) {
        std::string s;
        append_utf8(s, c);
        const std::string c1 = form(NormalForm::nfc, s);
        EXPECT_EQ(form(NormalForm::nfc, form(NormalForm::nfd, s)), c1)
            << static_cast<std::uint32_t>(c);
        EXPECT_EQ(form(NormalForm::nfc, c1), c1);
        if (is_normal(s, NormalForm::nfd)) {
            EXPECT_EQ(form(NormalForm::nfd, s), s) << static_cast<std::uint32_t>(c);
        }
        if (is_normal(s, NormalForm::nfkc)) {
            EXPECT_EQ(form(NormalForm::nfkc, s), s) << static_cast<std::uint32_t>(c);
        }
    }
}

TEST(Unicode, ScriptsAndGraphemes) {
    EXPECT_EQ(script_of(U'a'), script_of(U'Z'));
    EXPECT_NE(script_of(U'a'), script_of(U'я'));
    EXPECT_EQ(script_of(0x378), 0);  // unassigned
    std::int32_t state = 0;
    EXPECT_FALSE(grapheme_break(U'e', U'\u0301', state));
    EXPECT_TRUE(grapheme_break(U'\u0301', U'x', state));
    state = 0;
    EXPECT_FALSE(grapheme_break(U'\r', U'\n', state));
}

}  // namespace
}  // namespace fovea::text
