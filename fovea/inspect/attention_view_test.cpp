#include "fovea/inspect/attention_view.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "fovea/text/train/vocabulary_recipe.h"

namespace fovea {
namespace {

AttentionView two_words() {
    AttentionView v;
    v.source_text = "the </script><b>cat";
    v.target_text = "die Katze";
    v.source_tokens = {"the", "</script><b>cat", "</s>"};
    v.target_tokens = {"<start>", "die"};
    AttentionMap self{.name = "decoder masked self-attention, layer 1",
                      .kind = "decoder",
                      .weight = {{{1, 0}, {0.5f, 0.5f}}, {{1, 0}, {0.96f, 0.04f}}},
                      .keys_are_source = false,
                      .queries_are_source = false};
    AttentionMap cross{.name = "decoder cross-attention, layer 1",
                       .kind = "cross",
                       .weight = {{{0.7f, 0.2f, 0.1f}, {0, 1, 0}}},
                       .queries_are_source = false};
    v.maps = {self, cross};
    return v;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

TEST(AttentionPicture, MeansOfHeadsAndTheMask) {
    const AttentionView v = two_words();
    const auto lines = lines_of(terminal_picture(v, v.maps[0], 80));
    // A title, seven letters of "<start>" from top to bottom, two rows.
    ASSERT_EQ(lines.size(), 1u + 7u + 2u);
    EXPECT_EQ(lines[0], "decoder masked self-attention, layer 1 (mean of 2 heads)");
    EXPECT_EQ(lines[1], "         <");
    EXPECT_EQ(lines[5], "         r d");
    EXPECT_EQ(lines[7], "         > e");
    EXPECT_EQ(lines[8], "<start> ▕██  ▏");  // the second column is hidden
    EXPECT_EQ(lines[9], "    die ▕██▒▒▏");  // means 0.73 and 0.27
}

TEST(AttentionPicture, ANarrowTerminalSaysWhatItLeavesOut) {
    AttentionView v = two_words();
    v.source_tokens.assign(40, "x");
    v.maps[1].weight = {{std::vector<float>(40, 0.025f), std::vector<float>(40, 0.025f)}};
    const auto lines = lines_of(terminal_picture(v, v.maps[1], 41));
    EXPECT_EQ(lines.back(), "(25 more keys: widen the terminal, or see the page)");
    EXPECT_NE(terminal_legend().find("██"), std::string::npos);
}

// Nothing a text holds can end the page's data block, and the numbers in it are the maps.
TEST(AttentionPage, HoldsTheMapsAndNothingBreaksOut) {
    const AttentionView v = two_words();
    const std::string page = html_page(v);
    const std::string open = "id=\"data\">";
    const std::size_t from = page.find(open) + open.size(), to = page.find("</script>", from);
    const Json data = parse_json(page.substr(from, to - from), "page");
    EXPECT_EQ(data["source"], v.source_text);
    EXPECT_EQ(data["maps"].size(), 2u);
    EXPECT_EQ(data["maps"][1]["keys"][1], "</script><b>cat");
    EXPECT_EQ(data["maps"][1]["weight"][0][1][1], 1.0);
    EXPECT_NEAR(data["maps"][0]["weight"][1][1][0].get<double>(), 0.96, 1e-9);
    for (const char* outside : {"http://", "https://", "src=", "@import"})
        EXPECT_EQ(page.find(outside), std::string::npos) << outside;
}

TEST(LookInside, MapsAreThoseOfTheModel) {
    const std::vector<std::string> texts = {"abc cab", "bca"};
    TransformerConfig c;
    const auto tokenizer = std::make_shared<const Tokenizer>(
        train_vocabulary(texts, {.kind = VocabularyKind::characters}));
    c.vocab_size = static_cast<int>(tokenizer->vocab_size());
    c.d_model = 16;
    c.encoder_layers = 2;
    c.decoder_layers = 1;
    c.encoder_attention_heads = c.decoder_attention_heads = 2;
    c.encoder_ffn_dim = c.decoder_ffn_dim = 16;
    Seq2SeqModel model = Seq2SeqModel::create(c, 3);
    model.source_tokenizer = model.target_tokenizer = tokenizer;
    const AttentionView v = look_inside(model, "abc", "cab b");
    ASSERT_EQ(v.maps.size(), 4u);  // two of the encoder, self and cross of the decoder
    EXPECT_EQ(v.target_tokens[0], "<start>");
    EXPECT_EQ(v.source_tokens.back(), "</s>");
    for (const AttentionMap& m : v.maps) {
        ASSERT_EQ(m.weight.size(), 2u);
        for (const auto& head : m.weight) {
            ASSERT_EQ(head.size(), v.queries(m).size());
            for (std::size_t q = 0; q < head.size(); ++q) {
                ASSERT_EQ(head[q].size(), v.keys(m).size());
                double sum = 0;
                for (std::size_t k = 0; k < head[q].size(); ++k) {
                    sum += head[q][k];
                    EXPECT_TRUE(m.sees(q, k) || head[q][k] == 0.0f);
                }
                EXPECT_NEAR(sum, 1, 1e-5);
            }
        }
    }
}

}  // namespace
}  // namespace fovea
