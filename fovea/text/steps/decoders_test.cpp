#include "fovea/text/steps/decoders.h"

#include <gtest/gtest.h>

#include "fovea/base/utf8.h"

namespace fovea::text {
namespace {

namespace d = decoder;

std::string decode(std::vector<DecoderStep> steps, std::vector<std::string> tokens) {
    return DecoderChain(std::optional(std::move(steps))).decode(std::move(tokens));
}

TEST(Decoders, DoAsTokenizersDoes) {
    EXPECT_EQ(decode({d::WordPiece{}}, {"##uelo", "Ara", "##új", "##o", "No", "##guera"}),
              "##uelo Araújo Noguera");
    EXPECT_EQ(decode({d::WordPiece{}}, {"do", "n't", ".", "i", "'m"}), "don't. i'm");
    EXPECT_EQ(decode({d::WordPiece{"##", false}}, {"a", "."}), "a .");
    EXPECT_EQ(decode({d::ByteLevel{}}, {"Hello", "Ġmy", "ĠÃ", "©", "中"}), "Hello my é中");
    EXPECT_EQ(decode({d::ByteLevel{}}, {"Ã"}), "\uFFFD");  // half a character
    EXPECT_EQ(decode({d::Metaspace{}}, {"▁Hey", "▁friend!"}), "Hey friend!");
    EXPECT_EQ(decode({d::Metaspace{"▁", PrependScheme::never, true}}, {"▁Hey"}), " Hey");
    EXPECT_EQ(decode({d::Bpe{}}, {"a", "b</w>", "c</w>"}), "ab c");
    EXPECT_EQ(decode({d::ByteFallback{}}, {"<0xE5>", "<0x8f>", "<0xab>", "a"}), "叫a");
    EXPECT_EQ(decode({d::ByteFallback{}}, {"<0xE5>", "<0x8f>", "a"}), "\uFFFD\uFFFDa");
    EXPECT_EQ(decode({d::ByteFallback{}}, {"<0xZZ>", "<0x1>"}), "<0xZZ><0x1>");
    EXPECT_EQ(decode({d::Strip{"H", 1, 0}}, {"Hey", " friend!", "HHH"}), "ey friend!HH");
    EXPECT_EQ(decode({d::Strip{"y", 0, 2}}, {"Heyyy", "yy"}), "Hey");
    EXPECT_EQ(decode({d::Replace{{"▁", false}, " "}, d::Fuse{}, d::Strip{" ", 1, 0}}, {"▁a", "▁b"}),
              "a b");
    EXPECT_EQ(decode({d::Ctc{}}, {"<pad>", "h", "h", "<pad>", "i", "|", "|", "<pad>", "|", "x"}),
              "hi  x");
    EXPECT_EQ(decode({}, {"a", "b"}), "ab");
    EXPECT_EQ(DecoderChain(std::nullopt).decode({"a", "b"}), "a b");
    EXPECT_EQ(decode({d::WordPiece{}}, {}), "");
}

}  // namespace
}  // namespace fovea::text
