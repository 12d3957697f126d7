#include "fovea/models/transformer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "fovea/autograd/tape.h"
#include "fovea/base/threads.h"
#include "fovea/ops/attention/probe.h"

namespace fovea {
namespace {

struct Tiny {
    explicit Tiny(const std::function<void(TransformerConfig&)>& change = {}) {
        config.vocab_size = 29;
        config.d_model = 24;
        config.encoder_layers = config.decoder_layers = 2;
        config.encoder_attention_heads = config.decoder_attention_heads = 3;
        config.encoder_ffn_dim = config.decoder_ffn_dim = 40;
        if (change) change(config);
        Rng rng(5);
        model = std::make_unique<Transformer>(config, Params(store, rng));
    }
    Tensor logits(const Ids& s, const Segments& ss, const Ids& t, const Segments& ts) const {
        return model->logits(model->decoder(t, ts, model->encode(s, ss), ss));
    }
    TransformerConfig config;
    ParameterStore store;
    std::unique_ptr<Transformer> model;
};

const Ids source = {4, 5, 6, 7, 1, 9, 8, 1, 3, 1}, target = {0, 10, 11, 0, 12, 13, 14, 0};
const Segments sources = Segments::of_lengths({5, 3, 2}), targets = Segments::of_lengths({3, 4, 1});

bool equal_rows(const Tensor& a, std::int64_t ra, const Tensor& b, std::int64_t rb) {
    return std::memcmp(a.data() + ra * a.cols(), b.data() + rb * b.cols(),
                       static_cast<std::size_t>(a.cols()) * sizeof(float)) == 0;
}

TEST(Transformer, AttentionReportsUnderItsParameterPath) {
    const Tiny tiny;
    Probe probe;
    tiny.logits(source, sources, target, targets);
    EXPECT_EQ(probe.names(),
              (std::vector<std::string>{
                  "model.encoder.layers.0.self_attn", "model.encoder.layers.1.self_attn",
                  "model.decoder.layers.0.self_attn", "model.decoder.layers.0.encoder_attn",
                  "model.decoder.layers.1.self_attn", "model.decoder.layers.1.encoder_attn"}));
    for (const std::string& name : probe.names())
        EXPECT_TRUE(tiny.store.has(name + ".q_proj.weight")) << name;
    EXPECT_EQ(probe.find(tiny.model->decoder.layers[1].encoder_attn.name), 5u);
}

TEST(Transformer, PackedEqualsAloneBitForBit) {
    using Code = PositionCode;
    for (const auto& [before, code] : {std::pair{false, Code::sinusoidal},
                                       {true, Code::sinusoidal},
                                       {false, Code::relative},
                                       {false, Code::rotary},
                                       {true, Code::none}}) {
        const Tiny tiny([&, b = before, p = code](TransformerConfig& c) {
            c.normalize_before = b;
            c.positions = p;
            c.max_relative_position = 2;
        });
        const Tensor all = tiny.logits(source, sources, target, targets);
        for (std::int64_t s = 0; s < 3; ++s) {
            const Ids one_s(source.begin() + sources.begin(s), source.begin() + sources.end(s));
            const Ids one_t(target.begin() + targets.begin(s), target.begin() + targets.end(s));
            const Tensor alone = tiny.logits(one_s, Segments::of_lengths({sources.length(s)}),
                                             one_t, Segments::of_lengths({targets.length(s)}));
            for (std::int64_t r = 0; r < alone.rows(); ++r)
                EXPECT_TRUE(equal_rows(alone, r, all, targets.begin(s) + r)) << s << " " << r;
        }
    }
}

TEST(Transformer, TheDecoderNeverSeesTheFuture) {
    const Tiny tiny;
    const Tensor a = tiny.logits(source, sources, target, targets);
    Ids changed = target;
    changed[5] = 2;  // third token of the second target
    const Tensor b = tiny.logits(source, sources, changed, targets);
    for (std::int64_t r = 0; r < a.rows(); ++r)
        EXPECT_EQ(equal_rows(a, r, b, r), r != 5 && r != 6) << r;
}

TEST(Transformer, SameBitsForAnyNumberOfThreads) {
    const Tiny tiny;
    std::vector<float> first;
    for (const int threads : {1, 2, 3, 8}) {
        set_thread_count(threads);
        Rng dropout(3);
        Tape tape(dropout);
        const Tensor loss = tiny.model->loss(source, sources, target, {10, 11, 1, 12, 13, 14, 1, 1},
                                             targets, {.smoothing = 0.1f});
        const Gradients g = tape.gradients(loss);
        std::vector<float> bits = {loss.item()};
        for (const std::string& name : tiny.store.names())
            for (const float v : g[tiny.store.at(name)].span()) bits.push_back(v);
        if (first.empty()) first = bits;
        EXPECT_EQ(std::memcmp(first.data(), bits.data(), bits.size() * sizeof(float)), 0)
            << threads;
    }
    set_thread_count(0);
}

TEST(Transformer, InitialLossIsNearTheLogarithmOfTheVocabulary) {
    const Tiny tiny([](TransformerConfig& c) {
        c.vocab_size = 500;
        c.d_model = 96;
    });
    Rng rng(8);
    Ids s, t;
    for (int i = 0; i < 400; ++i) {
        s.push_back(static_cast<std::int32_t>(rng.below(500)));
        t.push_back(static_cast<std::int32_t>(rng.below(500)));
    }
    const Segments one = Segments::uniform(20, 20);
    const float loss = tiny.model->loss(s, one, t, s, one, {}).item();
    EXPECT_NEAR(loss, std::log(500.0), 0.15 * std::log(500.0));
}

// Attention alone is blind to order: without positions a shuffled source gives the same (up to the
// order of sums); with them it does not.
TEST(Transformer, OrderComesFromPositionsAlone) {
    const auto difference = [](PositionCode code) {
        const Tiny tiny([&](TransformerConfig& c) { c.positions = code; });
        const Segments s = Segments::of_lengths({6}), t = Segments::of_lengths({2});
        const Tensor a = tiny.logits({4, 5, 6, 7, 8, 1}, s, {0, 9}, t);
        const Tensor b = tiny.logits({8, 6, 1, 5, 4, 7}, s, {0, 9}, t);
        double largest = 0;
        for (std::int64_t i = 0; i < a.size(); ++i)
            largest = std::max(largest, std::fabs(static_cast<double>(a.data()[i]) - b.data()[i]));
        return largest;
    };
    EXPECT_LT(difference(PositionCode::none), 1e-5);
    for (const PositionCode code :
         {PositionCode::sinusoidal, PositionCode::learned, PositionCode::unit,
          PositionCode::relative, PositionCode::rotary})
        EXPECT_GT(difference(code), 1e-3) << name_of(code);
}

// The gradient of the loss against its change along random directions: the whole model, every
// parameter of it, with the positions that live in attention.
TEST(Transformer, GradientsFollowTheLossUnderRelativeAndRotaryPositions) {
    const Ids labels = {10, 11, 1, 12, 13, 14, 1, 1};
    for (const PositionCode code : {PositionCode::relative, PositionCode::rotary}) {
        Tiny tiny([&](TransformerConfig& c) {
            c.positions = code;
            c.max_relative_position = 2;
            c.activation_function = Act::gelu;  // no kinks
        });
        const auto loss = [&] {
            return tiny.model->loss(source, sources, target, labels, targets, {}).item();
        };
        Tape tape;
        const Gradients g =
            tape.gradients(tiny.model->loss(source, sources, target, labels, targets, {}));
        for (const std::string& name : tiny.store.names()) {
            Tensor p = tiny.store.at(name);
            const Tensor grad = g[p];
            double norm = 0;
            for (const float v : grad.span()) norm += double{v} * v;
            norm = std::sqrt(norm);
            if (norm < 1e-3) continue;  // keys' biases: zero but for rounding
            // Along the gradient the loss rises by its norm.
            const std::vector<float> keep(p.span().begin(), p.span().end());
            const double h = 3e-3;
            const auto shifted = [&](double by) {
                float* w = p.write();
                for (std::int64_t i = 0; i < p.size(); ++i)
                    w[i] = keep[static_cast<std::size_t>(i)] +
                           static_cast<float>(by * grad.data()[i] / norm);
                const double l = loss();
                std::copy(keep.begin(), keep.end(), p.write());
                return l;
            };
            EXPECT_NEAR((shifted(h) - shifted(-h)) / (2 * h), norm, 0.02 * norm + 2e-4)
                << name_of(code) << " " << name;
        }
    }
}

Segments named(const std::vector<std::int64_t>& lengths,
               const std::vector<std::uint64_t>& samples) {
    return Segments::of_lengths(lengths, samples);
}

// Masks belong to a sentence, whatever the batch: training on two at once has the loss of each.
TEST(Transformer, DropoutDoesNotDependOnTheBatch) {
    for (const PositionCode code : {PositionCode::sinusoidal, PositionCode::relative,
                                    PositionCode::rotary, PositionCode::none}) {
        const Tiny tiny([&](TransformerConfig& c) {
            c.positions = code;
            c.attention_dropout = 0.2f;
        });
        const auto hidden = [&](const Ids& s, const Segments& ss, const Ids& t,
                                const Segments& ts) {
            Rng dropout(3);
            Tape tape(dropout);
            return tiny.logits(s, ss, t, ts);
        };
        const auto all =
            hidden(source, named({5, 3, 2}, {7, 8, 9}), target, named({3, 4, 1}, {7, 8, 9}));
        const Ids one_s(source.begin() + 5, source.begin() + 8),
            one_t(target.begin() + 3, target.begin() + 7);
        const auto alone = hidden(one_s, named({3}, {8}), one_t, named({4}, {8}));
        for (std::int64_t r = 0; r < 4; ++r)
            EXPECT_TRUE(equal_rows(alone, r, all, 3 + r)) << name_of(code) << " " << r;
    }
}

TEST(Transformer, MarianColumnsGiveTheSameLogits) {
    Tiny tiny;
    const Tensor before = tiny.logits(source, sources, target, targets);
    TransformerFiles files = files_of(tiny.config, tiny.store);
    TransformerConfig c = TransformerConfig::from_json(files.config, "config");
    EXPECT_EQ(c.positions, PositionCode::halves);
    Rng rng;
    const Transformer marian(c, Params(files.parameters, rng));
    const Tensor after =
        marian.logits(marian.decoder(target, targets, marian.encode(source, sources), sources));
    for (std::int64_t i = 0; i < before.size(); ++i)
        EXPECT_NEAR(before.data()[i], after.data()[i], 2e-5);
}

TEST(Transformer, OverfitsOneBatch) {
    Tiny tiny([](TransformerConfig& c) { c.dropout = 0; });
    const Ids labels = {10, 11, 1, 12, 13, 14, 1, 1};
    double last = 0;
    for (int i = 0; i < 300; ++i) {  // plain gradient descent is enough for eight tokens
        Tape tape;
        const Tensor loss = tiny.model->loss(source, sources, target, labels, targets, {});
        last = loss.item();
        const Gradients g = tape.gradients(loss);
        for (const std::string& name : tiny.store.names()) {
            Tensor p = tiny.store.at(name);
            const Tensor grad = g[p];
            float* w = p.write();
            for (std::int64_t k = 0; k < p.size(); ++k) w[k] -= 0.1f * grad.data()[k];
        }
    }
    EXPECT_LT(last, 0.01);
}

TEST(TransformerConfig, JsonRoundTripAndBadValues) {
    TransformerConfig c;
    c.normalize_before = true;
    c.positions = PositionCode::learned;
    const TransformerConfig back = TransformerConfig::from_json(c.to_json(), "t");
    EXPECT_EQ(to_text(back.to_json()), to_text(c.to_json()));
    EXPECT_FALSE(c.fits_marian());
    c.positions = PositionCode::relative;
    c.max_relative_position = 7;
    EXPECT_EQ(TransformerConfig::from_json(c.to_json(), "t").max_relative_position, 7);
    EXPECT_EQ(TransformerConfig::from_json(c.to_json(), "t").positions, PositionCode::relative);
    c.positions = PositionCode::rotary;
    EXPECT_EQ(TransformerConfig::from_json(c.to_json(), "t").positions, PositionCode::rotary);
    c.encoder_attention_heads = c.d_model;  // heads of one column: nothing to turn
    EXPECT_THROW(c.check("t"), Error);
    EXPECT_TRUE(TransformerConfig().fits_marian());
    const TransformerConfig marian =
        TransformerConfig::from_json(TransformerConfig().to_marian_json(), "t");
    EXPECT_EQ(marian.positions, PositionCode::halves);
    EXPECT_EQ(marian.d_model, 512);
    for (const char* bad : {R"({"d_model": 0})", R"({"d_model": "512"})", R"({"d_model": 510})",
                            R"({"encoder_layers": 1e9})", R"({"model_type": "bert"})",
                            R"({"activation_function": "magic"})", R"({"dropout": 2})",
                            R"({"eos_token_id": 99999999})", R"({"vocab_size": -3})",
                            R"({"decoder_attention_heads": 0})", R"([])",
                            R"({"scale_embedding": 1})", R"({"vocab_size": 18446744073709551615})"})
        EXPECT_THROW(TransformerConfig::from_json(parse_json(bad, "t"), "t"), Error) << bad;
}

}  // namespace
}  // namespace fovea
