#include "fovea/inspect/attention_view.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "fovea/base/error.h"
#include "fovea/inspect/map_name.h"
#include "fovea/io/test_folder.h"
#include "fovea/models/text_encoder.h"
#include "fovea/tasks/classify.h"
#include "fovea/tasks/seq2seq_model.h"
#include "fovea/text/train/vocabulary_recipe.h"

namespace fovea {
namespace {

AttentionView two_words() {
    const Segments source = Segments::of_lengths({3}), output = Segments::of_lengths({2});
    AttentionView v;
    v.input = "the </script><b>cat";
    v.output = "die Katze";
    v.sides["source"] = {"the", "</script><b>cat", "</s>"};
    v.sides["output"] = {"<start>", "die"};
    AttentionMap self{.name = "model.decoder.layers.0.self_attn",
                      .title = "decoder masked self-attention, layer 1",
                      .layer = 1,
                      .queries = "output",
                      .keys = "output",
                      .heads = {"1", "2"},
                      .weight = {{{1, 0}, {0.5f, 0.5f}}, {{1, 0}, {0.96f, 0.04f}}},
                      .sees = {past(output)}};
    AttentionMap cross{.name = "model.decoder.layers.0.encoder_attn",
                       .title = "decoder cross-attention, layer 1",
                       .layer = 1,
                       .queries = "output",
                       .keys = "source",
                       .heads = {"1"},
                       .weight = {{{0.7f, 0.2f, 0.1f}, {0, 1, 0}}},
                       .sees = {everything(output, source)}};
    v.maps = {self, cross};
    return v;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

TEST(MapNames, LayerStackAndFoldedPath) {
    const MapName cross = read_map_name("model.decoder.layers.1.encoder_attn");
    EXPECT_EQ(cross.layer, 2);
    EXPECT_EQ(cross.stack, "decoder");
    EXPECT_EQ(cross.block, "model.decoder.layers.1");
    EXPECT_EQ(cross.folded, "model.decoder.layers.*.encoder_attn");
    const MapName gpt = read_map_name("transformer.h.11.attn");
    EXPECT_EQ(gpt.layer, 12);
    EXPECT_EQ(gpt.stack, "transformer");
    EXPECT_EQ(read_map_name("model.layers.0.attn").stack, "");
    const MapName pooling = read_map_name("pooling");
    EXPECT_EQ(pooling.layer, 0);
    EXPECT_EQ(pooling.folded, "pooling");
    EXPECT_EQ(read_map_name("model.shared.weight").block, "model.shared");
    EXPECT_EQ(read_map_name("layers.99999999999999999999.x").layer, 0);  // no int holds it
}

TEST(AttentionPicture, MeansOfHeadsAndTheMask) {
    const AttentionView v = two_words();
    const auto lines = lines_of(terminal_picture(v, mean_of_heads(v.maps[0]), {}));
    // A title, seven letters of "<start>" from top to bottom, two rows.
    ASSERT_EQ(lines.size(), 1u + 7u + 2u);
    EXPECT_EQ(lines[0], "decoder masked self-attention, layer 1 (mean of 2 heads)");
    EXPECT_EQ(lines[1], "         <");
    EXPECT_EQ(lines[5], "         r d");
    EXPECT_EQ(lines[7], "         > e");
    EXPECT_EQ(lines[8], "<start> ▕██  ▏");  // the second column is hidden
    EXPECT_EQ(lines[9], "    die ▕██▒▒▏");  // means 0.73 and 0.27
    const auto second = lines_of(terminal_picture(v, v.maps[0], {.head = 1}));
    EXPECT_EQ(second[0], "decoder masked self-attention, layer 1 (head 2)");
    EXPECT_EQ(second[9], "    die ▕██░░▏");
}

TEST(AttentionPicture, ANarrowTerminalSaysWhatItLeavesOut) {
    AttentionView v = two_words();
    v.sides["source"].assign(40, "x");
    v.maps[1].weight = {{std::vector<float>(40, 0.025f), std::vector<float>(40, 0.025f)}};
    v.maps[1].sees = {everything(Segments::of_lengths({2}), Segments::of_lengths({40}))};
    const auto lines = lines_of(terminal_picture(v, v.maps[1], {.width = 41}));
    EXPECT_EQ(lines.back(), "(25 more keys: widen the terminal, or see the page)");
    EXPECT_NE(terminal_legend().find("██"), std::string::npos);
}

// A token can hold anything: a wide letter takes its two columns, a control code is drawn.
TEST(AttentionPicture, WideLettersAndControlCodes) {
    AttentionView v = two_words();
    v.sides["output"] = {"猫", "\x1b[2J\n"};
    const std::string picture = terminal_picture(v, v.maps[0], {});
    EXPECT_EQ(picture.find('\x1b'), std::string::npos);
    const auto lines = lines_of(picture);
    EXPECT_EQ(lines[lines.size() - 3], "       猫␊");
    EXPECT_EQ(lines[lines.size() - 2], "   猫 ▕██  ▏");
    EXPECT_EQ(lines[lines.size() - 1], "␛[2J␊ ▕▓▓▓▓▏");
}

// Nothing a text holds can end the page's data block, and the numbers in it are the maps.
TEST(AttentionPage, HoldsTheMapsAndNothingBreaksOut) {
    const AttentionView v = two_words();
    const std::string page = html_page(v);
    EXPECT_TRUE(is_own_page(page.substr(0, 1024)));
    EXPECT_FALSE(is_own_page("<!doctype html><p>mine"));
    const std::string open = "id=\"data\">";
    const std::size_t from = page.find(open) + open.size(), to = page.find("</script>", from);
    const Json data = parse_json(page.substr(from, to - from), "page");
    EXPECT_EQ(data["input"], v.input);
    EXPECT_EQ(data["output"], v.output);
    EXPECT_FALSE(data.contains("target"));
    EXPECT_EQ(data["maps"].size(), 2u);
    EXPECT_EQ(data["sides"]["source"][1], "</script><b>cat");
    EXPECT_EQ(data["maps"][1]["weights"][0][1][1], 1.0);
    EXPECT_NEAR(data["maps"][0]["weights"][1][1][0].get<double>(), 0.96, 1e-9);
    EXPECT_TRUE(data["maps"][0]["weights"][0][0][1].is_null());  // hidden
    for (const char* outside : {"http://", "https://", "src=", "@import"})
        EXPECT_EQ(page.find(outside), std::string::npos) << outside;
}

TEST(AttentionJson, FloatsComeBackAsTheyWere) {
    AttentionView v = two_words();
    const float hidden = -std::numeric_limits<float>::infinity();
    v.maps[0].scores = {{{0.1f, hidden}, {-3e-9f, 7.25f}}, {{1, hidden}, {0, 1.0f / 3}}};
    const Json j = parse_json(attention_json(v), "json");
    EXPECT_EQ(j["schema"], "fovea.attention");
    EXPECT_EQ(j["maps"][0]["heads"], (Json{1, 2}));
    EXPECT_EQ(j["maps"][0]["part"], "model.decoder.layers.*.self_attn");
    EXPECT_EQ(j["maps"][0]["weights"][0][0][1], 0.0);
    const Json& scores = j["maps"][0]["scores"];
    EXPECT_TRUE(scores[0][0][1].is_null());
    EXPECT_EQ(scores[0][1][0].get<float>(), -3e-9f);
    EXPECT_EQ(scores[1][1][1].get<float>(), 1.0f / 3);
    EXPECT_FALSE(j["maps"][1].contains("scores"));
    v.maps = {mean_of_heads(v.maps[0])};
    const Json mean = parse_json(attention_json(v), "json")["maps"][0];
    EXPECT_EQ(mean["heads"], (Json{"mean"}));
    EXPECT_FALSE(mean.contains("scores"));
    EXPECT_NEAR(mean["weights"][0][1][0].get<double>(), 0.73, 1e-6);
}

TEST(ChoosingMaps, ByPartLayerAndHead) {
    const auto chosen = [](const MapChoice& choice) {
        std::vector<AttentionMap> maps(5);
        const char* const names[] = {"encoder.layers.0.self_attn", "encoder.layers.1.self_attn",
                                     "encoder.layers.2.self_attn", "decoder.layers.0.self_attn",
                                     "pooling"};
        for (std::size_t i = 0; i < 5; ++i) {
            maps[i].name = names[i];
            maps[i].layer = read_map_name(names[i]).layer;
            maps[i].heads =
                i == 4 ? std::vector<std::string>{"1"} : std::vector<std::string>{"1", "2"};
            maps[i].sees.resize(1);
        }
        choose_maps(maps, choice);
        std::string out;
        for (const AttentionMap& m : maps) out += m.name + "/" + m.heads.back() + " ";
        return out;
    };
    EXPECT_EQ(chosen({.part = "layers.0"}),
              "encoder.layers.0.self_attn/2 decoder.layers.0.self_attn/2 ");
    EXPECT_EQ(chosen({.layer = "last"}),
              "encoder.layers.2.self_attn/2 decoder.layers.0.self_attn/2 pooling/1 ");
    EXPECT_EQ(chosen({.layer = "2"}), "encoder.layers.1.self_attn/2 ");
    EXPECT_EQ(chosen({.part = "enc", .layer = "1", .head = "1"}), "encoder.layers.0.self_attn/1 ");
    const auto hint = [&](const MapChoice& choice) -> std::string {
        try {
            chosen(choice);
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::usage);
            return e.hint();
        }
        return "no error";
    };
    EXPECT_NE(hint({.part = "cross"}).find("\n  pooling"), std::string::npos);
    EXPECT_EQ(hint({.layer = "4"}), "layers with a map: 1, 2, 3");
    EXPECT_EQ(hint({.part = "pooling", .layer = "1"}),
              "these maps belong to no layer: leave --layer out");
    EXPECT_EQ(hint({.head = "3"}), "heads from 1 to 2, mean or all");
    for (const char* bad : {"0", "-1", "1x", "first", "", "99999999999999999999"})
        EXPECT_EQ(hint({.layer = bad}), "a number from 1, last or all") << bad;
}

std::shared_ptr<const Tokenizer> letters() {
    const std::vector<std::string> texts = {"abc cab", "bca"};
    return std::make_shared<const Tokenizer>(
        train_vocabulary(texts, {.kind = VocabularyKind::characters}));
}

std::unique_ptr<Predictor> opened_model(const std::string& path) {
    const std::vector<ModelFolder> folders{ModelFolder::open(path)};
    auto predictor = find_task(folders[0].task)->predictor();
    Settings settings;
    predictor->describe(settings);
    predictor->open(folders, {});
    return predictor;
}

// Rows sum to 1, hidden weights are 0, and the softmax of the scores is the weights.
void expect_true_maps(const AttentionView& v) {
    for (const AttentionMap& m : v.maps) {
        ASSERT_EQ(m.weight.size(), m.heads.size());
        ASSERT_EQ(m.scores.size(), m.heads.size());
        for (std::size_t h = 0; h < m.weight.size(); ++h) {
            ASSERT_EQ(m.weight[h].size(), v.queries(m).size());
            for (std::size_t q = 0; q < m.weight[h].size(); ++q) {
                ASSERT_EQ(m.weight[h][q].size(), v.keys(m).size());
                double sum = 0, exps = 0;
                for (const float s : m.scores[h][q]) exps += std::exp(double{s});
                for (std::size_t k = 0; k < m.weight[h][q].size(); ++k) {
                    sum += m.weight[h][q][k];
                    EXPECT_EQ(std::isinf(m.scores[h][q][k]), !m.visible(q, k, h));
                    EXPECT_NEAR(m.weight[h][q][k], std::exp(double{m.scores[h][q][k]}) / exps,
                                1e-5);
                }
                EXPECT_NEAR(sum, 1, 1e-5);
            }
        }
    }
}

TEST(LookInside, MapsOfATranslatorByName) {
    TransformerConfig c;
    const auto tokenizer = letters();
    c.vocab_size = static_cast<int>(tokenizer->vocab_size());
    c.d_model = 16;
    c.encoder_layers = 2;
    c.decoder_layers = 1;
    c.encoder_attention_heads = c.decoder_attention_heads = 2;
    c.encoder_ffn_dim = c.decoder_ffn_dim = 16;
    c.eos_token_id = tokenizer->eos_id().value();
    const TestFolder folder;
    Seq2SeqModel model = Seq2SeqModel::create(c, tokenizer, tokenizer, 3);
    model.search.max_length = 8;
    model.save(folder / "model", false);
    const auto predictor = opened_model(folder / "model");
    const AttentionView v =
        look_inside(*predictor, {{"text", "abc"}, {"target", "cab b"}}, {.scores = true});
    ASSERT_EQ(v.maps.size(), 4u);  // two of the encoder, self and cross of the decoder
    EXPECT_EQ(v.maps[1].name, "model.encoder.layers.1.self_attn");
    EXPECT_EQ(v.maps[1].title, "encoder self-attention, layer 2");
    EXPECT_EQ(v.maps[2].title, "decoder masked self-attention, layer 1");
    EXPECT_EQ(v.maps[3].name, "model.decoder.layers.0.encoder_attn");
    EXPECT_EQ(v.maps[3].title, "decoder cross-attention, layer 1");
    EXPECT_TRUE(v.has_target());
    EXPECT_EQ(v.queries(v.maps[3]).size(), 7u);  // the start, a space before, five letters
    EXPECT_EQ(v.queries(v.maps[3])[0], "<start>");
    EXPECT_EQ(v.keys(v.maps[3]).back(), "</s>");
    EXPECT_FALSE(v.maps[2].visible(0, 1));
    EXPECT_TRUE(v.maps[2].visible(1, 0));
    EXPECT_TRUE(v.maps[3].visible(0, 3));
    expect_true_maps(v);

    // Its own output: the search is not among the maps.
    const AttentionView own = look_inside(*predictor, {{"text", "abc"}});
    EXPECT_EQ(own.maps.size(), 4u);
    EXPECT_FALSE(own.has_target());
    EXPECT_EQ(own.maps[3].queries, "output");
    // The encoder does not see the target.
    EXPECT_EQ(own.maps[1].weight, v.maps[1].weight);
}

TEST(LookInside, MapsOfAClassifierByName) {
    ModelFolder f;
    f.tokenizer = f.target_tokenizer = letters();
    f.labels = {"no", "perhaps", "yes"};
    EncoderChoice choice;
    choice.layers = 2;
    choice.width = 16;
    choice.ffn = 16;
    choice.heads = 2;
    choice.vocabulary = static_cast<int>(f.tokenizer->vocab_size());
    choice.end_token = f.tokenizer->eos_id().value_or(0);
    f.config = text_encoder_named("transformer").new_config(choice);
    const TestFolder folder;
    ClassifyModel::create(f, Pool::queries, 5).save(folder / "model", false);
    const auto predictor = opened_model(folder / "model");
    const AttentionView v = look_inside(*predictor, {{"text", "abc"}}, {.scores = true});
    ASSERT_EQ(v.maps.size(), 3u);
    EXPECT_EQ(v.maps[0].title, "encoder self-attention, layer 1");
    EXPECT_EQ(v.maps[2].name, "pooling");
    EXPECT_EQ(v.maps[2].title, "pooling attention");
    EXPECT_EQ(v.maps[2].layer, 0);
    EXPECT_EQ(v.queries(v.maps[2]), f.labels);
    EXPECT_EQ(v.maps[2].weight[0].size(), 3u);
    expect_true_maps(v);
}

}  // namespace
}  // namespace fovea
