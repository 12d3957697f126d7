// Random text of every kind of character, through a byte-level tokenizer and back; and the
// stream decoder over every kind of tokenizer.
#include <gtest/gtest.h>

#include "committed.h"
#include "fovea/base/rng.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

// Any Unicode scalar value: half of them from the first 256, the rest from everywhere.
std::string random_text(Rng& rng) {
    std::string s;
    for (std::int64_t k = rng.below(80); k > 0; --k) {
        const std::int64_t range = rng.below(6);
        std::int64_t c = rng.below(range < 3 ? 0x100 : range == 3 ? 0x3000 : 0x110000);
        if (c >= 0xD800 && c < 0xE000) c = 0xFFFD;
        append_utf8(s, static_cast<char32_t>(c));
    }
    return s;
}

TEST(RoundTrip, ByteLevelGivesBackAnyText) {
    const Tokenizer t = load_committed("gpt2.json");
    Rng rng(2026);
    for (int i = 0; i < 20000; ++i) {
        const std::string s = random_text(rng);
        ASSERT_EQ(t.decode(t.encode_ids(s, false)), s) << i;
    }
}

// Random ids, not only those of sensible texts: a stream's parts are whole characters, and together
// the text that decode() gives.
TEST(RoundTrip, StreamsGiveWholeCharactersAndTheDecodedText) {
    for (const char* name : committed_tokenizers) {
        SCOPED_TRACE(name);
        const Tokenizer t = load_committed(name);
        // Its clean-up takes back what it has said ("do" "n't"): only whole characters are
        // promised.
        const bool cleans_up = std::string(name).starts_with("bert");
        Rng rng(8);
        for (int i = 0; i < 300; ++i) {
            std::vector<TokenId> ids;
            if (i % 2 == 0) ids = t.encode_ids(random_text(rng));
            for (std::int64_t k = rng.below(40); k > 0; --k)
                ids.push_back(static_cast<TokenId>(rng.below(t.vocab_size())));
            StreamDecoder stream(t);
            std::string text;
            for (const TokenId id : ids) {
                const std::string part = stream.push(id);
                ASSERT_TRUE(is_utf8(part)) << i;
                text += part;
            }
            text += stream.finish();
            ASSERT_TRUE(is_utf8(text)) << i;
            if (!cleans_up) {
                ASSERT_EQ(text, t.decode(ids)) << i;
            }
        }
    }
}

TEST(RoundTrip, BatchesGiveWhatEachLineGivesAlone) {
    for (const char* name : committed_tokenizers) {
        SCOPED_TRACE(name);
        const Tokenizer t = load_committed(name);
        Rng rng(9);
        std::vector<std::string> lines;
        for (int i = 0; i < 300; ++i) lines.push_back(random_text(rng));
        const std::vector<Encoding> batch = t.encode_batch(lines);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const Encoding alone = t.encode(lines[i]);
            ASSERT_EQ(batch[i].ids, alone.ids);
            ASSERT_EQ(batch[i].tokens, alone.tokens);
            ASSERT_EQ(batch[i].offsets, alone.offsets);
            ASSERT_EQ(batch[i].word_ids, alone.word_ids);
            ASSERT_EQ(batch[i].type_ids, alone.type_ids);
            ASSERT_EQ(batch[i].special_mask, alone.special_mask);
        }
    }
}

}  // namespace
}  // namespace fovea
