#include "fovea/tasks/embed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "fovea/base/threads.h"
#include "fovea/io/test_folder.h"
#include "fovea/tasks/test_classifier.h"
#include "fovea/tasks/vectors.h"
#include "fovea/tasks/vectors_text.h"

namespace fovea {
namespace {

bool equal_bits(const float* a, const float* b, std::int64_t n) {
    return std::memcmp(a, b, static_cast<std::size_t>(n) * sizeof(float)) == 0;
}

EmbedModel saved_and_opened(std::optional<Pool> pool = {}) {
    const TestFolder folder;
    small_classifier().save(folder / "model");
    return EmbedModel::open(ModelFolder::open(folder / "model"), pool);
}

TEST(Embed, ATextsVectorDoesNotDependOnItsNeighbours) {
    for (const Pool pool : {Pool::first, Pool::mean, Pool::max}) {
        const EmbedModel m = saved_and_opened(pool);
        const Tensor together = sentence_vectors(m, texts);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const Tensor alone = sentence_vectors(m, {&texts[i], 1});
            EXPECT_TRUE(equal_bits(alone.data(),
                                   together.data() + static_cast<std::int64_t>(i) * m.width(),
                                   m.width()));
            double length = 0;
            for (const float x : alone.span()) length += static_cast<double>(x) * x;
            EXPECT_NEAR(length, 1, 1e-5);
        }
    }
}

TEST(Embed, LongTextsAreReadInWindowsWithAWord) {
    const EmbedModel m = saved_and_opened();  // takes 12 tokens
    const std::vector<std::string> both{"snow ice", "snow and ice all night long and rain"};
    std::vector<std::string> notes;
    const Tensor v = sentence_vectors(m, both, {.normalised = false, .notes = &notes});
    EXPECT_EQ(notes[0], "");
    EXPECT_NE(notes[1].find("read in windows"), std::string::npos);
    const std::vector<Ids> windows = m.encode(both[1]);
    ASSERT_GT(windows.size(), 2u);
    for (const Ids& w : windows) EXPECT_LE(w.size(), 12u);
    // The mean over windows, by their tokens.
    double tokens = 0;
    std::vector<double> want(static_cast<std::size_t>(m.width()));
    for (const Ids& w : windows) {
        const std::vector<Ids> one{w};
        const Tensor row = m.pooled(pack(one));
        for (std::size_t j = 0; j < want.size(); ++j)
            want[j] += static_cast<double>(w.size()) * row.data()[j];
        tokens += static_cast<double>(w.size());
    }
    for (std::size_t j = 0; j < want.size(); ++j)
        EXPECT_NEAR(v.at(1, static_cast<std::int64_t>(j)), want[j] / tokens, 1e-5);
}

TEST(Embed, NearestTextsAndPairs) {
    const Tensor candidates = Tensor::of({3, 2}, {1, 0, 0, 2, 3, 3});
    const Tensor queries = Tensor::of({2, 2}, {0, 1, 1, 0.9f});
    const auto found = nearest_texts(queries, candidates, 2);
    EXPECT_EQ(found[0][0].text, 1);
    EXPECT_EQ(found[1][0].text, 2);
    EXPECT_NEAR(found[0][1].similarity, std::sqrt(0.5), 1e-5);
    const Tensor left = Tensor::of({3, 2}, {1, 0, 0, 1, 0.1f, 1});
    const MetricScore s = score_pairs(left, candidates);
    EXPECT_NEAR(s.value, 200.0 / 3, 1e-9);  // the third finds the second
    EXPECT_NEAR(s.figures.at("mrr").get<double>(), 100 * (1 + 1 + 0.5) / 3, 1e-9);
}

// Two topics that never share a line.
WordCorpus two_topics() {
    WordCorpus c;
    c.words = {"</s>", "cat", "dog", "fur", "paw", "car", "road", "wheel", "fuel"};
    c.lines = {0};
    Rng rng(5);
    std::vector<std::int64_t> counts(c.words.size());
    for (int line = 0; line < 300; ++line) {
        for (int i = 0; i < 8; ++i)
            c.tokens.push_back(static_cast<std::int32_t>(1 + 4 * (line % 2) + rng.below(4)));
        c.lines.push_back(static_cast<std::int64_t>(c.tokens.size()));
    }
    for (const std::int32_t t : c.tokens) ++counts[static_cast<std::size_t>(t)];
    counts[0] = 1;
    c.counts = counts;
    c.read = static_cast<std::int64_t>(c.tokens.size());
    return c;
}

WordVectorModel trained(bool skip_gram, int threads) {
    set_thread_count(threads);
    const WordCorpus corpus = two_topics();
    WordVectors v;
    v.words = corpus.words;
    v.counts = corpus.counts;
    v.subwords = {3, 4, 64};
    v.skip_gram = skip_gram;
    Rng rng(2);
    v.input = Tensor({static_cast<std::int64_t>(v.words.size()) + 64, 12});
    for (std::int64_t i = 0; i < v.input.size(); ++i)
        v.input.write()[i] = static_cast<float>(rng.uniform(-0.08, 0.08));
    v.output = Tensor::zeros({static_cast<std::int64_t>(v.words.size()), 12});
    v.index();
    std::vector<std::int64_t> begin{0}, lines;
    Ids rows;
    for (const std::string& word : v.words) {
        Ids own = v.rows_of(word);
        rows.insert(rows.end(), own.begin(), own.end());
        begin.push_back(static_cast<std::int64_t>(rows.size()));
    }
    NegativeSampling sampling(v.input, v.output, begin, rows, corpus.counts,
                              {.skip_gram = skip_gram});
    VectorsText text(corpus, {.window = 3, .sample = 0, .step_windows = 3});
    for (std::int64_t l = 0; l < corpus.line_count(); ++l) lines.push_back(l);
    for (int epoch = 0; epoch < 4; ++epoch) text.train(lines, epoch, 0.05f, sampling);
    set_thread_count(0);
    return WordVectorModel::of(std::move(v));
}

TEST(WordVectorTraining, FindsTopicsWithTheSameBitsForAnyThreads) {
    for (const bool skip_gram : {true, false}) {
        const WordVectorModel one = trained(skip_gram, 1), three = trained(skip_gram, 3);
        EXPECT_TRUE(equal_bits(one.vectors->input.data(), three.vectors->input.data(),
                               one.vectors->input.size()));
        const std::vector<std::string> queries{"cat", "wheel"};
        const auto found = nearest_words(one, queries, 3);
        for (const WordAnswer& w : found[0])
            EXPECT_TRUE(w.word == "dog" || w.word == "fur" || w.word == "paw")
                << w.word << skip_gram;
        for (const WordAnswer& w : found[1])
            EXPECT_TRUE(w.word == "car" || w.word == "road" || w.word == "fuel")
                << w.word << skip_gram;
    }
}

TEST(WordVectorTraining, FoldersAndFilesGiveTheSameVectors) {
    const WordVectorModel m = trained(true, 1);
    const TestFolder folder;
    m.save(folder / "model");
    const WordVectorModel back = WordVectorModel::load(folder / "model");
    EXPECT_EQ(back.vectors->words, m.vectors->words);
    EXPECT_EQ(back.vectors->counts, m.vectors->counts);
    EXPECT_EQ(back.vectors->input.values(), m.vectors->input.values());
    for (const auto& [name, format] : {std::pair{"w.vec", WordVectorFormat::text},
                                       {"w.bin", WordVectorFormat::word2vec},
                                       {"f.bin", WordVectorFormat::fasttext}}) {
        write_word_vectors(folder / name, back.file(format), format);
        const WordVectorModel file = WordVectorModel::load(folder / name);
        float a[12], b[12];
        EXPECT_TRUE(file.vectors->vector_of("wheel", a) && m.vectors->vector_of("wheel", b));
        EXPECT_TRUE(equal_bits(a, b, 12)) << name;
        EXPECT_EQ(file.vectors->vector_of("wheels", a), format == WordVectorFormat::fasttext);
    }
}

TEST(Embed, WordVectorsGiveSentences) {
    const TestFolder folder;
    trained(true, 1).save(folder / "model");
    const EmbedModel m = EmbedModel::open(ModelFolder::open(folder / "model"));
    const std::vector<std::string> lines{"cat dog", "car wheel", "fur paw", "?"};
    std::vector<std::string> notes;
    const Tensor v = sentence_vectors(m, lines, {.notes = &notes});
    const auto found = nearest_texts(v, v, 2);
    EXPECT_EQ(found[0][1].text, 2);
    EXPECT_TRUE(notes[0].empty());
    EXPECT_THROW(EmbedModel::open(ModelFolder::open(folder / "model"), Pool::max), Error);
}

TEST(VectorsText, KeepsWordsByFastTextsRule) {
    WordCorpus c = two_topics();
    c.read = 1'000'000;
    c.counts[1] = 60'000;
    const VectorsText text(c, {.sample = 1e-4});
    EXPECT_NEAR(text.keep(1), std::sqrt(1e-4 / 0.06) + 1e-4 / 0.06, 1e-6);
    EXPECT_GT(text.keep(0), 1);
}

}  // namespace
}  // namespace fovea
