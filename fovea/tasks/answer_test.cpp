#include "fovea/tasks/answer.h"

#include <gtest/gtest.h>

#include <thread>

#include "fovea/base/threads.h"
#include "fovea/base/utf8.h"
#include "fovea/data/word_forms.h"
#include "fovea/io/test_folder.h"
#include "fovea/models/reader.h"
#include "fovea/tasks/answer_texts.h"
#include "fovea/text/train/vocabulary_recipe.h"

namespace fovea {
namespace {

const std::vector<AskedQuestion> asked = {
    {"Where does Änne live?", "Änne Kova lives in Oslo, where it rains. 北京 is far (very far)."},
    {"Who?", "rain"},
    {"What did Bo say about the weather of the north?",
     "We met Bo,  did we? Snow and ice all night long, said Mr. Ek of 北京 (yes), and so on, and "
     "on, "
     "until the morning came and Änne left for Oslo with the first train of the day."},
    {"Anything at all?", ""},
    {"Where does Änne live?", "Änne Kova lives in Oslo, where it rains. 北京 is far (very far)."},
};

AnswerModel drawn_answerer(const std::string& model, bool may_be_none = false,
                           int max_length = 24) {
    std::vector<std::string> texts;
    for (const AskedQuestion& q : asked) texts.push_back(q.question + " " + q.context);
    ModelFolder f;
    if (model == "reader") {
        f.tokenizer = f.target_tokenizer = std::make_shared<const Tokenizer>(train_vocabulary(
            texts, {.kind = VocabularyKind::words, .size = 60, .lowercase = true}));
        ReaderConfig c;
        c.apply_preset("tiny");
        c.hidden_size = c.word_width = 32;
        c.num_hidden_layers = 1;
        c.vocab_size = static_cast<int>(f.tokenizer->vocab_size());
        c.features = reading_features;
        c.max_position_embeddings = max_length;
        f.config = c.to_json();
    } else {
        const TextEncoderEntry& entry = text_encoder_named(model);
        f.tokenizer = f.target_tokenizer = std::make_shared<const Tokenizer>(
            train_vocabulary(texts, {.kind = VocabularyKind::bpe, .frame = entry.tokens}));
        EncoderChoice choice{.preset = "tiny", .layers = 2, .width = 32, .ffn = 48, .heads = 2};
        choice.vocabulary = static_cast<int>(f.tokenizer->vocab_size());
        choice.max_length = max_length;
        choice.pad_token = f.tokenizer->pad_id().value_or(0);
        f.config = entry.new_config(choice);
    }
    AnswerModel m = AnswerModel::create(std::move(f), may_be_none, 5);
    Rng rng(9);  // scores that differ from row to row
    for (const std::string& name : m.store->names())
        if (name.starts_with("qa_outputs.") || name == "start.weight" || name == "end.weight") {
            Tensor t = m.store->at(name);
            for (std::int64_t i = 0; i < t.size(); ++i)
                t.write()[i] = static_cast<float>(rng.normal());
        }
    return m;
}

std::vector<std::tuple<std::string, std::int64_t, double, double, double>> flat(
    const std::vector<AnsweredQuestion>& all) {
    std::vector<std::tuple<std::string, std::int64_t, double, double, double>> out;
    for (const AnsweredQuestion& a : all) {
        out.emplace_back("", a.windows, a.none_score, a.none_probability, a.none);
        for (const TextAnswer& t : a.best)
            out.emplace_back(t.text, t.start, t.score, t.probability, 0);
    }
    return out;
}

class Answerers : public testing::TestWithParam<const char*> {};

TEST_P(Answerers, AnAnswerDoesNotDependOnItsNeighboursOrThreads) {
    const AnswerModel m = drawn_answerer(GetParam());
    const auto together = answer(m, asked, {.n_best = 5});
    ASSERT_EQ(together.size(), asked.size());
    EXPECT_EQ(flat(together), flat(answer(m, asked, {.n_best = 5, .batch_tokens = 1})));
    std::vector<AnsweredQuestion> alone;
    for (const AskedQuestion& q : asked) alone.push_back(answer(m, {&q, 1}, {.n_best = 5})[0]);
    EXPECT_EQ(flat(together), flat(alone));
    std::vector<AnsweredQuestion> other;
    std::thread second([&] { other = answer(m, asked, {.n_best = 5}); });
    const auto again = answer(m, asked, {.n_best = 5});
    second.join();
    EXPECT_EQ(flat(together), flat(other));
    EXPECT_EQ(flat(together), flat(again));
}

TEST_P(Answerers, SpansAreCharactersOfTheContext) {
    const AnswerModel m = drawn_answerer(GetParam());
    const auto found = answer(m, asked, {.n_best = 20, .longest = 4});
    EXPECT_GT(found[2].windows, 1);  // longer than the model takes
    EXPECT_TRUE(found[3].best.empty());
    EXPECT_TRUE(found[3].none);  // there is nothing to take it from
    for (std::size_t i = 0; i < asked.size(); ++i) {
        const std::u32string context = decode_utf8(asked[i].context);
        for (std::size_t k = 0; k < found[i].best.size(); ++k) {
            const TextAnswer& a = found[i].best[k];
            ASSERT_LE(a.end, static_cast<std::int64_t>(context.size()));
            EXPECT_EQ(encode_utf8(context.substr(static_cast<std::size_t>(a.start),
                                                 static_cast<std::size_t>(a.end - a.start))),
                      a.text);
            EXPECT_FALSE(a.text.starts_with(" ") || a.text.ends_with(" ")) << a.text;
            if (k > 0) {
                EXPECT_LE(a.score, found[i].best[k - 1].score);
            }
        }
    }
}

TEST_P(Answerers, ASavedModelAnswersTheSame) {
    const TestFolder folder;
    AnswerModel m = drawn_answerer(GetParam(), true);
    m.none_bound = 0.25;
    m.save(folder / "model");
    const AnswerModel again = AnswerModel::open(ModelFolder::open(folder / "model"));
    EXPECT_TRUE(again.may_be_none);
    EXPECT_EQ(again.none_bound, 0.25);
    EXPECT_EQ(flat(answer(m, asked)), flat(answer(again, asked)));
}

TEST_P(Answerers, NoneIsSaidBeyondTheBound) {
    const AnswerModel m = drawn_answerer(GetParam(), true);
    for (const AskedQuestion& q : asked) {
        const AnsweredQuestion a = answer(m, {&q, 1})[0];
        if (a.windows == 0) continue;
        const double at = a.none_score;
        EXPECT_TRUE(answer(m, {&q, 1}, {.none_bound = at - 1e-6})[0].none);
        EXPECT_FALSE(answer(m, {&q, 1}, {.none_bound = at})[0].none);
        EXPECT_GT(a.none_probability, 0);
        EXPECT_LT(a.none_probability + a.best[0].probability, 1 + 1e-9);
    }
}

INSTANTIATE_TEST_SUITE_P(Models, Answerers,
                         testing::Values("reader", "bert", "roberta", "xlnet", "transformer"));

// Every token of a context is judged as a beginning by exactly one window, which holds it.
TEST(AnswerTexts, WindowsCoverEveryToken) {
    for (const std::string model : {"reader", "bert"})
        for (const int length : {16, 24, 60}) {
            const AnswerModel m = drawn_answerer(model, false, length);
            AnswerTexts texts(m);
            for (const AskedQuestion& q : asked)
                texts.add(q.question, std::make_shared<const std::string>(q.context));
            std::vector<std::vector<int>> judged(asked.size());
            for (std::size_t i = 0; i < asked.size(); ++i)
                judged[i].resize(texts.context_tokens(i).ids.size());
            for (const ReadingWindow& w : texts.windows()) {
                EXPECT_LE(w.tokens, length);
                EXPECT_GE(w.judged_from, w.from);
                EXPECT_LE(w.judged_to, w.from + w.count);
                for (std::int64_t t = w.judged_from; t < w.judged_to; ++t)
                    ++judged[w.question][static_cast<std::size_t>(t)];
            }
            for (const auto& tokens : judged)
                for (const int times : tokens) EXPECT_EQ(times, 1);
        }
}

TEST(AnswerTexts, WantedRowsAreThoseOfTheAnswer) {
    for (const std::string model : {"reader", "bert"}) {
        const AnswerModel m = drawn_answerer(model, false, 60);
        AnswerTexts texts(m);
        texts.add(asked[0].question, std::make_shared<const std::string>(asked[0].context));
        const ReadingWindow& w = texts.windows()[0];
        const AnswerText wanted{"北京 is far", 41};
        const auto [start, end] = texts.rows_of(w, &wanted);
        const auto& offsets = texts.context_tokens(0).offsets;
        const auto first = static_cast<std::size_t>(start - w.first + w.from),
                   last = static_cast<std::size_t>(end - w.first + w.from);
        const std::string text = asked[0].context.substr(
            static_cast<std::size_t>(offsets[first].begin),
            static_cast<std::size_t>(offsets[last].end - offsets[first].begin));
        EXPECT_NE(text.find("北京 is far"), std::string::npos) << model << ": " << text;
        EXPECT_LE(text.size(), wanted.text.size() + 1);
        const auto none = texts.rows_of(w, nullptr);
        EXPECT_EQ(none.first, w.none);
        EXPECT_EQ(none.second, w.none);
    }
}

TEST(WordForms, MatchesBetweenTheTexts) {
    WordForms forms;
    const auto ids = [&](std::initializer_list<const char*> words) {
        Ids all;
        for (const char* w : words) all.push_back(forms.add(w));
        return all;
    };
    const Ids question = ids({"Who", "owned", "Oslo", "?"});
    const Ids context = ids({"", "oslo", "was", "owning", "OSLO", ",", "4", "?"});
    std::vector<float> f;
    append_reading_features(forms, question, context, f);
    ASSERT_EQ(f.size(), (question.size() + context.size()) * reading_features);
    const auto of = [&](std::size_t row, int feature) {
        return f[(question.size() + row) * reading_features + static_cast<std::size_t>(feature)];
    };
    EXPECT_EQ(of(1, 0), 0);  // as written
    EXPECT_EQ(of(1, 1), 1);  // in lower case
    EXPECT_EQ(of(3, 1), 0);  // owning is not owned
    EXPECT_EQ(of(3, 2), 0);  // nor "ownin" "owned"
    EXPECT_EQ(of(7, 0), 1);
    EXPECT_EQ(of(7, 3), 0);  // its neighbour is another
    EXPECT_EQ(of(4, 4), 2.0f / 8);
    EXPECT_EQ(of(4, 6), 1);
    EXPECT_EQ(of(6, 7), 1);
    EXPECT_EQ(of(5, 8), 1);
    EXPECT_EQ(of(1, 9), 0);
    EXPECT_EQ(f[9], 1);                                                 // a word of the question
    for (int k = 0; k < reading_features; ++k) EXPECT_EQ(of(0, k), 0);  // stands for no word
}

}  // namespace
}  // namespace fovea
