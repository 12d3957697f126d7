#include "fovea/tasks/tag.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <thread>

#include "fovea/autograd/tape.h"
#include "fovea/base/files.h"
#include "fovea/base/threads.h"
#include "fovea/base/utf8.h"
#include "fovea/data/word_features.h"
#include "fovea/data/word_spans.h"
#include "fovea/io/test_folder.h"
#include "fovea/text/train/vocabulary_recipe.h"

namespace fovea {
namespace {

const std::vector<std::string> lines = {"Änne Kova lives in Oslo.", "", "rain",
                                        "We met Bo,  did we?",
                                        "snow and ice all night long, said Mr. Ek of 北京 (yes)"};
const std::vector<std::string> tag_labels = {"O", "B-per", "I-per", "B-loc", "I-loc"};

ModelFolder tagger_folder(const std::string& model, int max_length) {
    ModelFolder f;
    f.labels = tag_labels;
    if (model == "features") {
        f.tokenizer = f.target_tokenizer = std::make_shared<const Tokenizer>(
            train_vocabulary(lines, {.kind = VocabularyKind::characters}));
        FeatureEmbeddingConfig c;
        c.buckets = 500, c.width = 16, c.features = word_feature_count;
        f.config = c.to_json();
        return f;
    }
    const TextEncoderEntry& entry = text_encoder_named(model);
    f.tokenizer = f.target_tokenizer = std::make_shared<const Tokenizer>(
        train_vocabulary(lines, {.kind = VocabularyKind::characters, .frame = entry.tokens}));
    EncoderChoice choice{.preset = "tiny", .layers = 2, .width = 32, .ffn = 48, .heads = 2};
    choice.vocabulary = static_cast<int>(f.tokenizer->vocab_size());
    choice.max_length = max_length;
    choice.pad_token = f.tokenizer->pad_id().value_or(0);
    f.config = entry.new_config(choice);
    return f;
}

// Weights far from zero, so that tags differ from word to word.
TagModel drawn_tagger(const std::string& model, bool crf, int max_length = 16) {
    TagModel m = TagModel::create(tagger_folder(model, max_length), {.crf = crf}, 5);
    Rng rng(9);
    for (const std::string& name : m.store->names())
        if (name.starts_with("classifier.") || name.starts_with("crf.") ||
            name.starts_with("features.")) {
            Tensor t = m.store->at(name);
            for (std::int64_t i = 0; i < t.size(); ++i)
                t.write()[i] = static_cast<float>(rng.normal());
        }
    return m;
}

struct Flat {
    std::vector<std::string> tags;
    std::vector<float> probabilities;
    bool operator==(const Flat&) const = default;
};

Flat all_tags(const TagModel& m, std::int64_t batch_tokens) {
    Flat all;
    for (const TaggedText& t : tag(m, lines, batch_tokens))
        for (const WordTag& w : t.words) {
            all.tags.push_back(w.tag);
            all.probabilities.push_back(w.probability);
        }
    return all;
}

class Taggers : public testing::TestWithParam<std::pair<const char*, bool>> {};

TEST_P(Taggers, ATextsAnswerDoesNotDependOnItsNeighboursOrThreads) {
    const TagModel m = drawn_tagger(GetParam().first, GetParam().second);
    const Flat alone = all_tags(m, 1);
    ASSERT_EQ(alone.tags.size(), 31u);
    for (const int threads : {1, 3}) {
        set_thread_count(threads);
        EXPECT_TRUE(all_tags(m, 1000) == alone);  // bit for bit
    }
    set_thread_count(0);
    Flat a, b;
    {
        std::jthread one([&] { a = all_tags(m, 1000); });
        b = all_tags(m, 7);
    }
    EXPECT_TRUE(a == alone);
    EXPECT_TRUE(b == alone);
}

TEST_P(Taggers, TagsKeepTheirOrderAndSpansAreOfTheText) {
    const TagModel m = drawn_tagger(GetParam().first, GetParam().second);
    const auto found = tag(m, lines);
    int entities = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::u32string text = decode_utf8(lines[i]);
        std::string before = "O";
        for (const WordTag& w : found[i].words) {
            if (w.tag.starts_with("I-")) {
                EXPECT_EQ(before.substr(1), w.tag.substr(1));
            }
            before = w.tag;
            EXPECT_LT(w.start, w.end);
            EXPECT_TRUE(w.probability > 0 && w.probability <= 1);
        }
        for (const TextEntity& e : found[i].entities) {
            ++entities;
            EXPECT_EQ(encode_utf8(text.substr(static_cast<std::size_t>(e.start),
                                              static_cast<std::size_t>(e.end - e.start))),
                      e.text);
            EXPECT_TRUE(e.label == "per" || e.label == "loc");
        }
    }
    EXPECT_GT(entities, 2);
    EXPECT_TRUE(found[1].words.empty());
    EXPECT_EQ(found[0].words[1].start, 5);  // behind "Änne ", which has six bytes
}

TEST_P(Taggers, SavedAndLoadedTheyGiveTheSameBits) {
    const TestFolder folder;
    const TagModel m = drawn_tagger(GetParam().first, GetParam().second);
    m.save(folder / "m");
    const TagModel back = TagModel::open(ModelFolder::open(folder / "m"));
    EXPECT_EQ(back.folder.labels, m.folder.labels);
    EXPECT_EQ(back.folder.task, "tag");
    EXPECT_EQ(back.network->crf.has_value(), GetParam().second);
    EXPECT_TRUE(all_tags(back, 100) == all_tags(m, 100));
    EXPECT_THROW(m.save(folder / "m"), Error);  // holds a model already
}

TEST_P(Taggers, TheLossFalls) {
    TagModel m =
        TagModel::create(tagger_folder(GetParam().first, 16), {.crf = GetParam().second}, 5);
    if (m.network->features) {
        Tensor known = m.network->features->known;
        std::fill_n(known.write(), known.size(), 1.0f);
    }
    const std::vector<std::string> words = {"We", "met", "Bo", "Ek", "in", "Oslo"};
    const Ids tags = {0, 0, 1, 2, 0, 3};
    const EncodedWords e[] = {m.encode(words)};
    const std::int64_t one = 0;
    const auto loss = [&] { return m.network->loss(pack_words(e, {&one, 1}), tags); };
    float first = 0, last = 0;
    for (int step = 0; step < 120; ++step) {
        Tape tape;
        const Tensor l = loss();
        (step == 0 ? first : last) = l.item();
        const Gradients g = tape.gradients(l);
        for (const std::string& name : m.store->names()) {
            Tensor t = m.store->at(name);
            const Tensor d = g[t];
            for (std::int64_t i = 0; i < t.size(); ++i) t.write()[i] -= 0.2f * d.data()[i];
        }
    }
    EXPECT_NEAR(first, std::log(5.0), 0.9);
    EXPECT_LT(last, 0.7f * first);
}

INSTANTIATE_TEST_SUITE_P(All, Taggers,
                         testing::Values(std::pair{"transformer", true},
                                         std::pair{"transformer", false}, std::pair{"bert", true},
                                         std::pair{"bert", false}, std::pair{"roberta", true},
                                         std::pair{"gpt2", true}, std::pair{"xlnet", false},
                                         std::pair{"features", true}, std::pair{"features", false}),
                         [](const auto& p) {
                             return std::string(p.param.first) + (p.param.second ? "Crf" : "");
                         });

TEST(Tag, FeaturesThatTrainingDidNotKnowAreOneOfTheirPlace) {
    const TagModel m = TagModel::create(tagger_folder("features", 16), {}, 5);
    const FeatureEmbedding& f = *m.network->features;
    Tensor table = f.table, known = f.known;
    for (std::int64_t i = 0; i < table.rows(); ++i)
        table.write()[i * table.cols()] = i < 500 ? 1 : 2;
    const Ids ids(word_feature_count, 7);
    const Segments one = Segments::of_lengths({1});
    const float unknown = f(ids, one).data()[0];
    known.write()[7] = 1;
    EXPECT_NEAR(unknown, 2 * f(ids, one).data()[0], 1e-5);
}

TEST(Tag, AWordIsReadAtItsFirstPiece) {
    const TagModel m = drawn_tagger("bert", true, 64);
    const std::string text = "We met Bo,";
    const EncodedWords e = m.encode(text, word_spans(text));
    ASSERT_EQ(e.windows.size(), 1u);
    const auto piece = [&](std::size_t word) {
        return *m.folder.tokenizer->id_to_token(
            e.windows[0][static_cast<std::size_t>(e.rows[word])]);
    };
    ASSERT_EQ(e.rows.size(), 4u);
    EXPECT_EQ(piece(0), "▁");  // put before the text: it counts as of the first letter
    EXPECT_EQ(piece(1), "m");
    EXPECT_EQ(piece(2), "B");
    EXPECT_EQ(piece(3), ",");
    EXPECT_EQ(e.rows[0], 1);  // behind [CLS], at the mark of a beginning
}

// Every word has a row of a window that holds its piece, with room on both sides where the text
// has it.
TEST(Tag, LongTextsAreReadInWindowsThatOverlap) {
    const TagModel m = drawn_tagger("bert", true, 12);
    const TagModel wide = drawn_tagger("bert", true, 400);
    std::string text;
    for (int i = 0; i < 30; ++i)
        text += std::string(i ? " " : "") + static_cast<char>('a' + i % 26);
    const auto spans = word_spans(text);
    const EncodedWords e = m.encode(text, spans), whole = wide.encode(text, spans);
    ASSERT_EQ(whole.windows.size(), 1u);
    ASSERT_GT(e.windows.size(), 8u);
    Ids all;
    for (const Ids& w : e.windows) {
        EXPECT_EQ(w.size(), 12u);
        EXPECT_EQ(w.front(), whole.windows[0].front());
        EXPECT_EQ(w.back(), whole.windows[0].back());
        all.insert(all.end(), w.begin(), w.end());
    }
    EXPECT_EQ(static_cast<std::int64_t>(all.size()), e.tokens);
    for (std::size_t i = 0; i < spans.size(); ++i) {
        EXPECT_EQ(all[static_cast<std::size_t>(e.rows[i])],
                  whole.windows[0][static_cast<std::size_t>(whole.rows[i])]);
        if (i < 6 || i + 6 > spans.size()) continue;
        EXPECT_GE(e.rows[i] % 12, 3) << i;
        EXPECT_LE(e.rows[i] % 12, 8) << i;
    }
    EXPECT_GT(tag(m, lines)[4].windows, 1);
}

TEST(Tag, WordsThatTheTokenizerDropsHaveARowToo) {
    const TagModel m = drawn_tagger("bert", true, 16);
    const std::vector<std::string> words = {"\u200b", "a", "\u200b"};
    const EncodedWords e = m.encode(words);
    ASSERT_EQ(e.rows.size(), 3u);
    for (const std::int32_t row : e.rows) EXPECT_TRUE(row >= 0 && row < e.tokens);
    const std::vector<std::vector<std::string>> all = {words};
    EXPECT_EQ(tag_sentences(m, all).tags[0].size(), 3u);
}

// A folder of another task gives its body; its head is left, and config.json names ours.
TEST(Tag, TakesTheBodyOfAPretrainedFolder) {
    for (const char* model : {"bert", "roberta", "gpt2", "xlnet"}) {
        SCOPED_TRACE(model);
        const TestFolder folder;
        ModelFolder f = tagger_folder(model, 24);
        f.labels = {"a", "b", "c"};
        f.task = "pretrain";
        name_architecture(f.config, Head::words);
        ParameterStore store;
        Rng rng(3);
        text_encoder_named(model).make(f.config, "config", {Head::words, 0}, Params(store, rng));
        f.save(folder / "old", store, text_encoder_named(model).rules(), false);

        ModelFolder old = ModelFolder::open(folder / "old");
        old.labels = tag_labels;
        ModelFolder::NewHead report;
        const TagModel m = TagModel::create_from(std::move(old), {}, 7, report);
        EXPECT_EQ(report.made.size(), 5u);  // classifier and crf
        int kept = 0;
        for (const std::string& name : store.names())
            if (m.store->has(name)) {
                ++kept;
                EXPECT_EQ(m.store->at(name).values(), store.at(name).values()) << name;
            }
        EXPECT_GT(kept, 20);
        m.save(folder / "new");
        const ModelFolder saved = ModelFolder::open(folder / "new");
        EXPECT_EQ(head_named_in(saved.config), Head::tags);
        EXPECT_TRUE(all_tags(TagModel::open(saved), 50) == all_tags(m, 50));
    }
}

// As Hugging Face leaves it: nothing but config.json says what it is, and tags follow each other as
// they like.
TEST(Tag, OpensFoldersOfOtherToolkits) {
    for (const char* model : {"bert", "roberta", "gpt2", "xlnet"}) {
        SCOPED_TRACE(model);
        const TestFolder folder;
        drawn_tagger(model, false).save(folder / "m");
        std::filesystem::remove(folder / "m/fovea.json");
        Json config = read_json(folder / "m/config.json");
        config.erase("crf");
        config.erase("bio");
        write_file_atomically(folder / "m/config.json", to_text(config));
        const ModelFolder f = ModelFolder::open(folder / "m");
        EXPECT_EQ(f.task, "");
        EXPECT_EQ(task_of_config(f), "tag");
        const TagModel m = TagModel::open(f);
        EXPECT_TRUE(m.network->order.pairs.empty());
        EXPECT_FALSE(m.network->crf);
        EXPECT_EQ(all_tags(m, 100).tags.size(), 31u);
    }
}

TEST(Tag, AFolderThatDoesNotFitIsOneError) {
    const TestFolder folder;
    drawn_tagger("features", true).save(folder / "m");
    const auto error = [&](const std::string& key, const Json& value) -> std::string {
        const Json kept = read_json(folder / "m/config.json");
        Json config = kept;
        config[key] = value;
        write_file_atomically(folder / "m/config.json", to_text(config));
        std::string what = "no error";
        try {
            TagModel::open(ModelFolder::open(folder / "m"));
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::bad_input) << e.what();
            what = e.what();
        }
        write_file_atomically(folder / "m/config.json", to_text(kept));
        return what;
    };
    EXPECT_NE(error("buckets", 1 << 30).find("buckets"), std::string::npos);
    EXPECT_NE(error("buckets", 400).find("features.weight is [520, 16]"), std::string::npos);
    EXPECT_NE(error("hidden_size", "many").find("hidden_size"), std::string::npos);
    EXPECT_NE(error("crf", false).find("not used: crf.transitions"), std::string::npos);
    EXPECT_NE(error("crf", 3).find("crf"), std::string::npos);
    EXPECT_NE(error("id2label", Json{{"0", "O"}}).find("crf.transitions"), std::string::npos);
}

TEST(TagText, RulesFillInWhereNothingWasLearned) {
    const std::string text = "Änne paid 12 on 3 May 2024, twice";
    TaggedText t;
    t.entities = {{.start = 10, .end = 12, .label = "sum", .text = "12", .score = 0.5}};
    add_by_rule(text, {}, t);
    ASSERT_EQ(t.entities.size(), 2u);  // the learned one stays
    EXPECT_EQ(t.entities[0].label, "sum");
    EXPECT_EQ(t.entities[1].label, "date");
    EXPECT_EQ(t.entities[1].text, "3 May 2024");
    EXPECT_EQ(t.entities[1].start, 16);
    EXPECT_EQ(t.entities[1].end, 26);
    EXPECT_TRUE(t.entities[1].by_rule);
    TaggedText plain;
    add_by_rule(text, {.dates = false}, plain);
    ASSERT_EQ(plain.entities.size(), 1u);
    EXPECT_EQ(plain.entities[0].text, "12");
}

}  // namespace
}  // namespace fovea
