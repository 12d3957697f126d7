#include <gtest/gtest.h>

#include "fovea/base/utf8.h"
#include "fovea/text/test_specs.h"
#include "fovea/text/tokenizer.h"

namespace fovea {
namespace {

std::string stream(const Tokenizer& t, const std::vector<TokenId>& ids, bool skip_special) {
    StreamDecoder d(t, skip_special);
    std::string out;
    for (const TokenId id : ids) {
        const std::string piece = d.push(id);
        EXPECT_TRUE(is_utf8(piece));
        out += piece;
    }
    return out + d.finish();
}

TEST(StreamDecoder, NeverEmitsHalfACharacter) {
    const Tokenizer t(text::tiny_gpt2());
    const std::vector<TokenId> ids = t.encode_ids("日😀");
    ASSERT_EQ(ids.size(), 7u);  // one per byte
    StreamDecoder d(t);
    std::vector<std::string> pieces;
    for (const TokenId id : ids) pieces.push_back(d.push(id));
    EXPECT_EQ(pieces, (std::vector<std::string>{"", "", "日", "", "", "", "😀"}));
    EXPECT_EQ(d.finish(), "");
}

TEST(StreamDecoder, AddsUpToTheWholeText) {
    Rng rng(5);
    for (const TokenizerSpec& spec : {text::tiny_gpt2(), text::tiny_unigram()}) {
        const Tokenizer t(spec);
        for (int n = 0; n < 500; ++n) {
            std::string s;
            for (std::int64_t k = rng.below(50); k > 0; --k) {
                static const char32_t letters[] = {U'a', U'b', U'c', U' ',  U't',
                                                   U'h', U'e', U'é', U'中', U'😀'};
                append_utf8(s, letters[rng.below(std::size(letters))]);
            }
            const std::vector<TokenId> ids = t.encode_ids(s);
            ASSERT_EQ(stream(t, ids, true), t.decode(ids)) << s;
        }
    }
}

TEST(StreamDecoder, BrokenBytesComeOutInTheEnd) {
    const Tokenizer t(text::tiny_gpt2());
    const TokenId half = *t.token_to_id("Ã");
    StreamDecoder d(t);
    EXPECT_EQ(d.push(half), "");
    EXPECT_EQ(d.finish(), "\uFFFD");
    EXPECT_EQ(d.push(*t.token_to_id("a")), "a");  // starts anew
    // and not only in the end, where more and more of them come
    std::string out;
    for (int i = 0; i < 200; ++i) out += d.push(half);
    EXPECT_FALSE(out.empty());
}

// However many broken characters come before it, one that is only unfinished waits for its bytes.
TEST(StreamDecoder, AnUnfinishedCharacterWaitsBehindAnyNumberOfBrokenOnes) {
    const Tokenizer t(text::tiny_gpt2());
    const TokenId first = *t.token_to_id("Ã"), second = *t.token_to_id("©");  // the bytes of é
    for (int broken = 0; broken < 70; ++broken) {
        std::vector<TokenId> ids(static_cast<std::size_t>(broken) + 1, first);
        ids.push_back(second);
        ids.push_back(first);
        ASSERT_EQ(stream(t, ids, true), t.decode(ids)) << broken;
        StreamDecoder d(t);
        std::string before;  // what is certain comes at once
        for (int i = 0; i <= broken; ++i) before += d.push(first);
        ASSERT_EQ(before.size(), 3u * static_cast<std::size_t>(broken));
        ASSERT_EQ(d.push(second), "é");
    }
}

}  // namespace
}  // namespace fovea
