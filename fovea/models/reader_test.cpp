#include "fovea/models/reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "fovea/autograd/tape.h"
#include "fovea/ops/loss/segment_cross_entropy.h"
#include "fovea/ops/optimizer.h"

namespace fovea {
namespace {

ReaderConfig small_reader() {
    ReaderConfig c;
    c.vocab_size = 23;
    c.features = 3;
    c.hidden_size = c.word_width = 16;
    c.letter_width = 4;
    c.letter_channels = 8;
    c.encoder_convolutions = 2;
    c.num_hidden_layers = 1;
    c.num_attention_heads = 2;
    c.intermediate_size = 24;
    return c;
}

// Windows of (question, context) words; word w has the letters w, w + 1, … of its number.
ReadingBatch reading(const std::vector<std::pair<Ids, Ids>>& windows,
                     std::uint64_t first_name = 0) {
    ReadingBatch b;
    std::vector<std::int64_t> lengths, parts, words;
    std::vector<std::uint64_t> names, part_names;
    std::vector<float> features;
    for (const auto& [question, context] : windows) {
        for (const Ids* side : {&question, &context}) {
            parts.push_back(static_cast<std::int64_t>(side->size()));
            part_names.push_back(2 * (first_name + names.size()) + (side == &context ? 1 : 0));
            for (const std::int32_t w : *side) {
                b.tokens.tokens.push_back(w);
                b.forms.push_back(static_cast<std::int32_t>(words.size()));
                words.push_back(w % 4);  // some have no letter
                for (std::int32_t l = 0; l < w % 4; ++l) b.letters.push_back(w + l);
                for (int f = 0; f < 3; ++f) features.push_back(static_cast<float>((w + f) % 2));
            }
        }
        lengths.push_back(parts[parts.size() - 2] + parts.back());
        names.push_back(first_name + names.size());
    }
    b.tokens.segments = Segments::of_lengths(lengths, names);
    b.parts = Segments::of_lengths(parts, part_names);
    b.words = Segments::of_lengths(words);
    b.features = Tensor::of({static_cast<std::int64_t>(b.forms.size()), 3}, features);
    return b;
}

struct MadeReader {
    explicit MadeReader(std::uint64_t seed = 1) {
        Rng rng(seed);
        model = make_span_model(small_reader().to_json(), "test", Params(store, rng));
    }
    ParameterStore store;
    SpanModel model;
};

const std::pair<Ids, Ids> one{{3, 4, 5}, {1, 7, 8, 9, 3, 11, 12}}, two{{6}, {1, 3}},
    three{{}, {1, 15, 16, 17}};

TEST(Reader, AWindowAloneHasTheSameBits) {
    const MadeReader r;
    const SpanScores all = r.model.scores(reading({one, two, three}));
    ASSERT_EQ(all.scores.shape(), Shape({13, 2}));
    ASSERT_EQ(all.segments.count(), 3);
    std::int64_t w = 0;
    for (const auto& window : {one, two, three}) {
        const SpanScores alone = r.model.scores(reading({window}));
        ASSERT_EQ(alone.scores.rows(), all.segments.length(w));
        EXPECT_EQ(std::memcmp(alone.scores.data(), all.scores.data() + 2 * all.segments.begin(w),
                              static_cast<std::size_t>(alone.scores.size()) * 4),
                  0)
            << w;
        ++w;
    }
}

// Dropout masks are named by the window, not by its place in the batch.
TEST(Reader, AWindowAloneHasTheSameLossUnderDropout) {
    const MadeReader r;
    const auto loss_of = [&](const ReadingBatch& b, const Ids& rows) {
        Rng rng(5);
        Tape tape(rng);
        const SpanScores s = r.model.scores(b);
        return segment_cross_entropy(s.scores, s.segments, rows).item();
    };
    const float second = loss_of(reading({one, two}), {-1, -1, 1, 1});
    const float alone = loss_of(reading({two}, 1), {1, 1});
    EXPECT_EQ(second, alone);
    EXPECT_NE(alone, loss_of(reading({two}, 7), {1, 1}));
}

TEST(Reader, EveryParameterGetsAGradientThatDescends) {
    MadeReader r;
    const ReadingBatch b = reading({one, two});
    const auto loss = [&] {
        const SpanScores s = r.model.scores(b);
        return segment_cross_entropy(s.scores, s.segments, {2, 4, 1, 1});
    };
    double first = 0, last = 0;
    for (int i = 0; i < 300; ++i) {
        Tape tape;
        const Tensor l = loss();
        (i == 0 ? first : last) = l.item();
        const Gradients d = tape.gradients(l);
        if (i == 0)
            for (const std::string& name : r.store.names()) {
                double norm = 0;
                for (const float v : d[r.store.at(name)].span()) norm += std::fabs(v);
                // a key's bias shifts all scores of a row alike
                EXPECT_TRUE(norm > 0 || name.ends_with("k_proj.bias")) << name;
            }
        for (const std::string& name : r.store.names()) {
            Tensor w = r.store.at(name), still = Tensor::zeros(w.shape());
            sgd_update(w, d[w], still, {.rate = 0.05f});
        }
    }
    EXPECT_LT(last, 0.1 * first);
}

TEST(Reader, LayersAreNumberedFromTheBottom) {
    const MadeReader r;
    EXPECT_EQ(r.model.layer_of("embedding.words.weight"), 0);
    EXPECT_EQ(r.model.layer_of("encoder.fc1.weight"), 1);
    EXPECT_EQ(r.model.layer_of("layers.0.fc1.weight"), 2);
    EXPECT_EQ(r.model.layer_of("start.weight"), r.model.layers + 1);
}

TEST(Reader, BadConfigsAreOneError) {
    const auto says = [](const char* field, const Json& value, const std::string& part) {
        Json j = small_reader().to_json();
        j[field] = value;
        try {
            ReaderConfig::from_json(j, "config.json");
            ADD_FAILURE() << field;
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
        }
    };
    says("num_attention_heads", 3, "do not split into 3 heads");
    says("encoder_kernel", 4, "an odd number is wanted");
    says("vocab_size", 0, "vocab_size");
    says("hidden_size", "large", "hidden_size");
    says("dropout", 1.5, "dropout");
}

}  // namespace
}  // namespace fovea
