#include "fovea/text/steps/scanners.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fovea/base/rng.h"
#include "fovea/base/utf8.h"
#include "fovea/text/steps/pattern.h"

namespace fovea::text {
namespace {

constexpr const char* gpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr const char* llama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* qwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

std::vector<std::string> pieces(const Matcher& m, const std::string& text) {
    std::vector<ByteRange> matches;
    m.find(text, matches);
    std::vector<std::string> out;
    for (const ByteRange& r : matches) out.push_back(text.substr(r.begin, r.end - r.begin));
    return out;
}

std::string random_text(Rng& rng) {
    static const char32_t letters[] = {
        U'a',  U'B',  U's',  U'S',  U't',      U'r',      U'e',      U'v',     U'l',
        U'L',  U'd',  U'é',  U'日', U'ſ',      U'1',      U'2',      U'½',     U'٣',
        U'\'', U'\'', U'\'', U'.',  U'!',      U'_',      U'😀',      U' ',     U' ',
        U' ',  U'\n', U'\r', U'\t', U'\u00A0', U'\u3000', U'\u0301', U'\u200D'};
    std::string s;
    for (std::int64_t i = rng.below(25); i >= 0; --i)
        append_utf8(s, letters[rng.below(std::size(letters))]);
    return s;
}

// The scanner against PCRE2 on the same expression. (A group around it hides it from the table of
// known ones.)
void agrees(const char* regex, SplitScanner scanner) {
    const Matcher fast({regex, true}, "test"),
        slow({std::string("(?:") + regex + ")", true}, "test");
    ASSERT_EQ(fast.scanner(), scanner);
    ASSERT_EQ(slow.scanner(), SplitScanner::none);
    Rng rng(5);
    for (int n = 0; n < 20000; ++n) {
        const std::string text = random_text(rng);
        ASSERT_EQ(pieces(fast, text), pieces(slow, text)) << text;
    }
}

TEST(Scanners, Gpt2AgreesWithItsExpression) { agrees(gpt2, SplitScanner::gpt2); }
TEST(Scanners, Llama3AgreesWithItsExpression) { agrees(llama3, SplitScanner::llama3); }
TEST(Scanners, Qwen2AgreesWithItsExpression) { agrees(qwen2, SplitScanner::qwen2); }

TEST(Scanners, CutsAsGpt2Does) {
    const Matcher m({gpt2, true}, "test");
    EXPECT_EQ(
        pieces(m, "Hello  world it's 12!\n\n x"),
        (std::vector<std::string>{"Hello", " ", " world", " it", "'s", " 12", "!", "\n\n", " x"}));
}

}  // namespace
}  // namespace fovea::text
