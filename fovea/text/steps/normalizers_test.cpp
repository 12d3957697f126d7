#include "fovea/text/steps/normalizers.h"

#include <gtest/gtest.h>

#include "fovea/text/spm/sentencepiece_charsmap.h"

namespace fovea::text {
namespace {

struct Result {
    std::string text;
    std::vector<TextSpan> from;  // of each byte
};

Result run(const std::vector<NormalizerStep>& steps, std::string_view s, bool track = true) {
    NormalizedText text;
    NormalizerScratch scratch;
    text.assign(s, 0, track);
    NormalizerChain(steps).apply(text, scratch);
    Result r{text.text(), {}};
    if (track)
        for (std::size_t i = 0; i < r.text.size(); ++i) r.from.push_back(text.origin(i, i + 1));
    return r;
}

std::string text_of_steps(const std::vector<NormalizerStep>& steps, std::string_view s) {
    const std::string tracked = run(steps, s).text;
    EXPECT_EQ(run(steps, s, false).text, tracked);  // tracking changes nothing
    return tracked;
}

namespace n = normalizer;

TEST(Normalizers, DoWhatTheirNamesSay) {
    EXPECT_EQ(text_of_steps({n::Bert{}}, "Héllo\tWÖRLD\u200B中x"), "hello world 中 x");
    EXPECT_EQ(text_of_steps({n::Bert{true, true, std::nullopt, false}}, "Héllo"), "Héllo");
    EXPECT_EQ(text_of_steps({n::Bert{true, false, true, false}}, "Héllo中"), "Hello中");
    EXPECT_EQ(text_of_steps({n::Nfkc{}}, "ﬁ①"), "fi1");
    EXPECT_EQ(text_of_steps({n::Nfd{}, n::StripAccents{}}, "éà"), "ea");
    EXPECT_EQ(text_of_steps({n::Lowercase{}}, "ÀİẞΣ"), "ài\u0307ßσ");
    EXPECT_EQ(text_of_steps({n::Strip{}}, " \u3000é x \n"), "é x");
    EXPECT_EQ(text_of_steps({n::Strip{true, false}}, " a "), "a ");
    EXPECT_EQ(text_of_steps({n::Strip{}}, "  "), "");
    EXPECT_EQ(text_of_steps({n::Prepend{"▁"}}, "a"), "▁a");
    EXPECT_EQ(text_of_steps({n::Prepend{"▁"}}, ""), "");
    EXPECT_EQ(text_of_steps({n::Replace{{" {2,}", true}, " "}}, "a   b  c"), "a b c");
    EXPECT_EQ(text_of_steps({n::Replace{{"a", false}, ""}}, "banana"), "bnn");
    EXPECT_EQ(text_of_steps({n::Nmt{}}, "a\x01\t\u200Bb"), "a  b");
    EXPECT_EQ(text_of_steps({n::ByteLevel{}}, "é "), "Ã©Ġ");
}

// The origins that tokenizers 0.23 gives (printed by it for these texts).
TEST(Normalizers, KeepOrigins) {
    using Spans = std::vector<TextSpan>;
    EXPECT_EQ(run({n::Nfd{}}, "é").from, (Spans{{0, 2}, {0, 2}, {0, 2}}));
    EXPECT_EQ(run({n::Nfc{}}, "e\u0301x").from, (Spans{{0, 1}, {0, 1}, {3, 4}}));
    EXPECT_EQ(run({n::Bert{}}, "a中").from,
              (Spans{{0, 1}, {1, 4}, {1, 4}, {1, 4}, {1, 4}, {1, 4}}));
    EXPECT_EQ(run({n::Strip{}}, "  ab ").from, (Spans{{2, 3}, {3, 4}}));
    EXPECT_EQ(run({n::Prepend{"_"}}, "éb").from, (Spans{{0, 2}, {0, 2}, {0, 2}, {2, 3}}));
    EXPECT_EQ(run({n::Replace{{"bc", false}, "xyz"}}, "abcd").from,
              (Spans{{0, 1}, {2, 3}, {2, 3}, {2, 3}, {3, 4}}));
    // marks change places, origins do not
    EXPECT_EQ(run({n::Nfd{}}, "a\u0301\u0323").from,
              (Spans{{0, 1}, {1, 3}, {1, 3}, {3, 5}, {3, 5}}));
}

TEST(Normalizers, PrependedTextHasTheOriginOfTheFirstCharacter) {
    NormalizedText t;
    t.assign("éb", 10, true);
    t.prepend("▁");
    EXPECT_TRUE(t.same());  // no array of origins for this common case
    EXPECT_EQ(t.origin(0, 3), (TextSpan{10, 12}));
    EXPECT_EQ(t.origin(0, 5), (TextSpan{10, 12}));
    EXPECT_EQ(t.origin(3, 6), (TextSpan{10, 13}));
    EXPECT_EQ(t.origin(5, 6), (TextSpan{12, 13}));
}

// A cluster of less than six bytes is replaced as a whole by what its shortest prefix maps to.
TEST(Normalizers, CharsmapWorksOnClusters) {
    const std::string map = build_charsmap({{"Ａ", "A"}, {"\t", " "}, {"\u0301", ""}});
    EXPECT_EQ(text_of_steps({n::Precompiled{map}}, "Ａ\u0301b\tc"), "Ab c");
    EXPECT_EQ(text_of_steps({n::Precompiled{map}}, "plain"), "plain");
    EXPECT_EQ(text_of_steps({n::Precompiled{}}, "Ａ"), "Ａ");
}

}  // namespace
}  // namespace fovea::text
