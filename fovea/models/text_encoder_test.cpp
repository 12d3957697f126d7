// What every row of text_encoders() promises, whatever the model: a sequence's rows do not depend
// on its neighbours or on the number of threads, in training as at work, and config.json says all.
#include "fovea/models/text_encoder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/autograd/tape.h"
#include "fovea/base/error.h"
#include "fovea/base/threads.h"
#include "fovea/nn/pooling.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/loss/loss.h"

namespace fovea {
namespace {

EncoderChoice small_choice(const TextEncoderEntry& entry) {
    EncoderChoice c;
    const std::string sizes = " " + std::string(entry.sizes) + " ";
    const auto has = [&](const char* size) {
        return sizes.find(" " + std::string(size) + " ") != std::string::npos;
    };
    if (has("layers")) c.layers = 2;
    if (has("d-model")) c.width = 16;
    if (has("ffn")) c.ffn = 24;
    if (has("heads")) c.heads = 2;
    if (has("hidden")) c.hidden = 12;
    c.dropout = 0.2f;
    c.vocabulary = 30;
    c.max_length = 20;
    return c;
}

const std::vector<Ids> sequences = {
    {3, 4, 5, 6, 7, 8, 9}, {9}, {12, 11}, {3, 4, 5, 5, 5, 21, 29, 2}};

class Encoders : public testing::TestWithParam<std::string> {
protected:
    Encoders() {
        const TextEncoderEntry& entry = text_encoder_named(GetParam());
        config = entry.new_config(small_choice(entry));
        Rng rng(7);
        encoder = entry.make(config, "config", {}, Params(store, rng));
    }
    ~Encoders() override { set_thread_count(0); }

    Json config;
    ParameterStore store;
    TextEncoder encoder;
};

TEST_P(Encoders, PackedIsAloneForAnyThreads) {
    std::vector<float> alone;
    for (const Ids& s : sequences) {
        const std::vector<float> rows = encoder.rows(pack(std::vector<Ids>{s})).values();
        EXPECT_EQ(rows.size(), s.size() * static_cast<std::size_t>(encoder.width));
        alone.insert(alone.end(), rows.begin(), rows.end());
    }
    for (const int threads : {1, 3}) {
        set_thread_count(threads);
        EXPECT_EQ(encoder.rows(pack(sequences)).values(), alone);  // bit for bit
    }
}

// In training too: masks are named by the sample, gradients sum in one order.
TEST_P(Encoders, GradientsAreTheSameForAnyThreads) {
    const auto gradients = [&](int threads) {
        set_thread_count(threads);
        Rng dropout(5);
        Tape tape(dropout);
        const Tensor rows = encoder.rows(pack(sequences));
        Gradients d = tape.gradients(mean_squared_error(rows, Tensor::full(rows.shape(), 0.5f)));
        std::vector<float> all = rows.values();
        for (const std::string& name : store.names()) {
            const Tensor w = store.at(name);
            if (!w.trainable() || !d.has(w)) continue;
            const std::vector<float> g = d[w].values();
            all.insert(all.end(), g.begin(), g.end());
        }
        return all;
    };
    const std::vector<float> one = gradients(1);
    EXPECT_GT(one.size(), static_cast<std::size_t>(encoder.width) * 18);
    EXPECT_EQ(gradients(3), one);
}

TEST_P(Encoders, ConfigSaysEverythingAndParametersHaveLayers) {
    ParameterStore again;
    Rng rng(7);
    const TextEncoder e =
        text_encoder_of(config, "config").make(config, "config", {}, Params(again, rng));
    EXPECT_EQ(e.width, encoder.width);
    EXPECT_EQ(again.names(), store.names());
    EXPECT_EQ(e.rows(pack(sequences)).values(), encoder.rows(pack(sequences)).values());
    bool embeddings = false;
    for (const std::string& name : store.names()) {
        const int layer = encoder.layer_of(name);
        embeddings = embeddings || layer == 0;
        EXPECT_GE(layer, 0) << name;
        EXPECT_LE(layer, encoder.layers + 1) << name;
    }
    EXPECT_TRUE(embeddings);
    EXPECT_EQ(encoder.layer_of("classifier.weight"), encoder.layers + 1);
    EXPECT_NO_THROW(pool_of(text_encoder_named(GetParam()).pooling));
}

TEST_P(Encoders, WrongNumbersInAConfigAreErrorsThatNameThem) {
    const TextEncoderEntry& entry = text_encoder_named(GetParam());
    for (const char* field : {"vocab_size", "embedding_size", "hidden_size", "d_model", "n_embd"}) {
        if (!config.contains(field)) continue;
        Json bad = config;
        bad[field] = -3;
        ParameterStore none(ParameterStore::Mode::check);
        Rng rng;
        try {
            entry.make(bad, "folder/config.json", {}, Params(none, rng));
            ADD_FAILURE() << field;
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find(field), std::string::npos) << e.what();
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, Encoders, testing::ValuesIn(text_encoder_names()), [](const auto& i) {
    std::string name = i.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

}  // namespace
}  // namespace fovea
