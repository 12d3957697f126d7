#include "fovea/tasks/slots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "fovea/base/threads.h"
#include "fovea/io/test_folder.h"
#include "fovea/text/train/vocabulary_recipe.h"

namespace fovea {
namespace {

const std::vector<std::string> requests = {"play some jazz", "", "stop",
                                           "book a table for  two at Chez Änne, please",
                                           "will it rain in Oslo tomorrow or the day after that?"};

SlotModel drawn_model(bool crf, int features, const std::string& encoder = "transformer") {
    ModelFolder f;
    f.labels = {"O", "B-what", "I-what", "B-where", "I-where"};
    const TextEncoderEntry& entry = text_encoder_named(encoder);
    f.tokenizer = f.target_tokenizer = std::make_shared<const Tokenizer>(
        train_vocabulary(requests, {.kind = VocabularyKind::characters, .frame = entry.tokens}));
    EncoderChoice choice{.preset = "tiny", .layers = 1, .width = 16, .ffn = 24, .heads = 2};
    choice.vocabulary = static_cast<int>(f.tokenizer->vocab_size());
    choice.max_length = 24;
    choice.pad_token = f.tokenizer->pad_id().value_or(0);
    f.config = entry.new_config(choice);
    SlotModel m = SlotModel::create(
        std::move(f),
        {.tags = {.crf = crf, .features = features}, .intents = {"Play", "Stop", "Book"}}, 5);
    Rng rng(9);  // weights far from zero, so that tags differ from word to word
    for (const std::string& name : m.store->names())
        if (name.starts_with("classifier.") || name.starts_with("crf.") ||
            name.starts_with("intent.") || name.starts_with("features.")) {
            Tensor t = m.store->at(name);
            for (std::int64_t i = 0; i < t.size(); ++i)
                t.write()[i] = static_cast<float>(rng.normal());
        }
    return m;
}

void expect_same(const SlotAnswer& a, const SlotAnswer& b) {
    EXPECT_EQ(a.intent, b.intent);
    EXPECT_EQ(a.probability, b.probability);
    EXPECT_EQ(a.intents, b.intents);
    ASSERT_EQ(a.slots.size(), b.slots.size());
    for (std::size_t i = 0; i < a.slots.size(); ++i) {
        EXPECT_EQ(a.slots[i].text, b.slots[i].text);
        EXPECT_EQ(a.slots[i].start, b.slots[i].start);
        EXPECT_EQ(a.slots[i].score, b.slots[i].score);
    }
}

TEST(Slots, AnAnswerDependsOnNothingButItsText) {
    for (const bool crf : {false, true})
        for (const int features : {0, 8}) {
            const SlotModel m = drawn_model(crf, features);
            const auto together = fill_slots(m, requests);
            std::size_t slots = 0;
            for (std::size_t i = 0; i < requests.size(); ++i) {
                expect_same(fill_slots(m, {&requests[i], 1})[0], together[i]);
                slots += together[i].slots.size();
            }
            EXPECT_GT(slots, 2u);
            EXPECT_EQ(together[1].intent, "");
            EXPECT_GT(together[4].windows, 1);
            const auto narrow = fill_slots(m, requests, 8);
            for (std::size_t i = 0; i < requests.size(); ++i) expect_same(narrow[i], together[i]);
        }
}

TEST(Slots, SpansAreThoseOfTheText) {
    const SlotModel m = drawn_model(true, 8);
    const std::string& text = requests[3];
    const std::vector<SlotAnswer> answers = fill_slots(m, {&text, 1});
    for (const TextEntity& e : answers[0].slots) {
        const TextCharacters characters(text);
        EXPECT_EQ(characters.between(e.start, e.end), e.text);
        EXPECT_GT(e.score, 0);
    }
}

TEST(Slots, AFolderGivesTheSameModel) {
    for (const char* encoder : {"transformer", "bert"}) {
        const TestFolder folder;
        const SlotModel m = drawn_model(true, encoder == std::string("bert") ? 0 : 8, encoder);
        m.save(folder / "m");
        const SlotModel again = SlotModel::open(ModelFolder::open(folder / "m"));
        EXPECT_EQ(again.intents, m.intents);
        EXPECT_EQ(again.folder.task, "slots");
        const auto before = fill_slots(m, requests), after = fill_slots(again, requests);
        for (std::size_t i = 0; i < requests.size(); ++i) expect_same(before[i], after[i]);
    }
}

// New heads on the body of another model: the body's tensors are those of the folder.
TEST(Slots, TakesTheEncoderOfAnotherModel) {
    const TestFolder folder;
    const SlotModel m = drawn_model(true, 8);
    m.save(folder / "m");
    ModelFolder from = ModelFolder::open(folder / "m");
    from.labels = {"O", "B-x", "I-x"};
    ModelFolder::NewHead report;
    const SlotModel made = SlotModel::create_from(from, {.intents = {"A", "B"}}, 3, report);
    EXPECT_EQ(made.intents.size(), 2u);
    EXPECT_FALSE(made.network->tags.features);
    for (const std::string& name : made.store->names())
        if (name.starts_with("model.encoder.")) {
            EXPECT_EQ(made.store->at(name).values(), m.store->at(name).values()) << name;
        }
    EXPECT_NE(std::find(report.made.begin(), report.made.end(), "intent.weight"),
              report.made.end());
}

TEST(Slots, CountsSlotsIntentsAndWholeSentences) {
    const SlotModel m = drawn_model(false, 0);
    SlotText t;
    t.words = {"play", "some", "jazz"};
    t.tags = {"O", "O", "O"};
    t.intent = "nobody's";
    const MetricScore wrong = slot_score(m, {&t, 1});
    EXPECT_EQ(wrong.figures["intent_accuracy"], 0.0);
    EXPECT_EQ(wrong.figures["sentence_accuracy"], 0.0);
    // what the model says is right, then
    std::vector<std::string> outputs;
    slot_score(m, {&t, 1}, &outputs);
    t.intent = outputs[0].substr(0, outputs[0].find('\t'));
    std::string tags = outputs[0].substr(outputs[0].find('\t') + 1);
    t.tags.clear();
    for (std::size_t from = 0; from < tags.size();) {
        const std::size_t end = std::min(tags.find(' ', from), tags.size());
        t.tags.push_back(tags.substr(from, end - from));
        from = end + 1;
    }
    const MetricScore right = slot_score(m, {&t, 1});
    EXPECT_EQ(right.figures["intent_accuracy"], 100.0);
    EXPECT_EQ(right.figures["sentence_accuracy"], 100.0);
    EXPECT_LT(right.figures["loss"].get<double>(), wrong.figures["loss"].get<double>() + 10);
}

}  // namespace
}  // namespace fovea
