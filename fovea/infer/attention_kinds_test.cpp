// The mechanisms of a Transformer's layers: over whole targets, step by step, packed and alone the
// same bits; gradients that follow the loss; and wait-k reading, which never looks ahead.
#include <cmath>

#include "fovea/autograd/tape.h"
#include "fovea/base/threads.h"
#include "fovea/infer/beam_search.h"
#include "fovea/infer/transformer_stepper.h"
#include "fovea/ops/op_check.h"
#include "fovea/ops/rows/concat.h"

namespace fovea {
namespace {

struct Mechanism {
    const char *encoder, *decoder, *source;
    int wait = 0;
    PositionCode positions = PositionCode::sinusoidal;
};

constexpr Mechanism mechanisms[] = {
    {"window:1", "global", "global"},
    {"expanded:1,2", "global", "expanded:1,2"},
    {"hybrid:1", "hybrid:1", "hybrid:1"},
    {"hard", "hard", "hard"},
    {"window:2,global", "window:1,global", "global,window:1"},
    {"expanded:2,1,hybrid:1,2", "window:2", "expanded:1,3", 0, PositionCode::rotary},
    {"window:1", "window:1", "window:1", 0, PositionCode::relative},
    {"global", "global", "global", 1},
    {"window:2", "hybrid:2", "window:1", 2},
};

std::string described(const Mechanism& m) {
    return text_of(m.encoder, " ", m.decoder, " ", m.source, " wait ", m.wait);
}

struct Looking {
    explicit Looking(const Mechanism& m) {
        config.vocab_size = 31;
        config.d_model = 16;
        config.encoder_layers = config.decoder_layers = 2;
        config.encoder_attention_heads = config.decoder_attention_heads = 2;
        config.encoder_ffn_dim = config.decoder_ffn_dim = 24;
        config.activation_function = Act::gelu;  // no kinks
        config.positions = m.positions;
        config.encoder_attention = parse_attention(m.encoder, "encoder");
        config.decoder_attention = parse_attention(m.decoder, "decoder");
        config.cross_attention = parse_attention(m.source, "source");
        config.wait_k = m.wait;
        config.check("test");
        Rng rng(5);
        model = std::make_unique<Transformer>(config, Params(store, rng));
        Rng noise(6);  // larger weights than at birth, so that the distribution is not flat
        for (const std::string& name : store.names()) {
            Tensor t = store.at(name);
            float* p = t.write();
            for (std::int64_t i = 0; i < t.size(); ++i)
                p[i] += 0.3f * static_cast<float>(noise.normal());
        }
    }
    Tensor logits(const Ids& source, const Segments& from, const Ids& target,
                  const Segments& to) const {
        return model->logits(model->decoder(target, to, model->encode(source, from), from));
    }
    TransformerConfig config;
    ParameterStore store;
    std::unique_ptr<Transformer> model;
};

const Ids kinds_texts = {4, 5, 6, 7, 8, 20, 9, 17, 3, 1, 9, 8, 1, 3, 1},
          kinds_outputs = {0, 10, 11, 9, 2, 0, 12, 13, 14, 8, 7, 6, 0};
const Segments read_from = Segments::of_lengths({10, 3, 2}),
               written_to = Segments::of_lengths({5, 7, 1});

Ids sequence_of(const Ids& ids, const Segments& s, std::int64_t i) {
    return Ids(ids.begin() + s.begin(i), ids.begin() + s.end(i));
}

TEST(AttentionKinds, PackedAloneAndStepByStepAreTheSameBits) {
    for (const Mechanism& m : mechanisms) {
        SCOPED_TRACE(described(m));
        const Looking looking(m);
        const Tensor all = looking.logits(kinds_texts, read_from, kinds_outputs, written_to);
        TransformerStepper stepper(*looking.model, kinds_texts, read_from);
        std::vector<Ids> prompts(3, Ids{0});
        prompts[0] = {0, 10};  // prompts of different lengths
        const Tensor first = stepper.start(prompts);
        EXPECT_TRUE(same_bits(slice_rows(first, 0, 1), slice_rows(all, 1, 2)));
        for (std::int64_t s = 0; s < 3; ++s) {
            const Tensor alone = looking.logits(sequence_of(kinds_texts, read_from, s),
                                                Segments::of_lengths({read_from.length(s)}),
                                                sequence_of(kinds_outputs, written_to, s),
                                                Segments::of_lengths({written_to.length(s)}));
            EXPECT_TRUE(same_bits(alone, slice_rows(all, written_to.begin(s), written_to.end(s))))
                << s;
        }
        EXPECT_TRUE(same_bits(slice_rows(first, 1, 2), slice_rows(all, 5, 6)));
        // Both of the second's hypotheses and the first's, whose paths part and go on.
        Tensor next = stepper.step({11, 12, 12}, std::vector<std::int64_t>{0, 1, 1});
        EXPECT_TRUE(same_bits(slice_rows(next, 0, 1), slice_rows(all, 2, 3)));
        EXPECT_TRUE(same_bits(slice_rows(next, 2, 3), slice_rows(all, 6, 7)));
        next = stepper.step({13, 9}, std::vector<std::int64_t>{2, 0});
        EXPECT_TRUE(same_bits(slice_rows(next, 0, 1), slice_rows(all, 7, 8)));
        EXPECT_TRUE(same_bits(slice_rows(next, 1, 2), slice_rows(all, 3, 4)));
        for (const auto& [token, row] : {std::pair{14, 8}, {8, 9}, {7, 10}, {6, 11}}) {
            next = stepper.step({token}, std::vector<std::int64_t>{0});
            EXPECT_TRUE(same_bits(next, slice_rows(all, row, row + 1))) << row;
        }
    }
}

TEST(AttentionKinds, SearchIsTheSameAloneAndInABatch) {
    for (const Mechanism& m : mechanisms) {
        SCOPED_TRACE(described(m));
        const Looking looking(m);
        SearchOptions o;
        o.beam = 3;
        o.n_best = 3;
        o.max_length = 12;
        o.coverage_penalty = 0.2;  // reads the weights of the places alone
        TransformerStepper all(*looking.model, kinds_texts, read_from);
        const auto together = search(all, o, std::vector<DecodeRequest>(3));
        for (std::int64_t s = 0; s < 3; ++s) {
            TransformerStepper one(*looking.model, sequence_of(kinds_texts, read_from, s),
                                   Segments::of_lengths({read_from.length(s)}));
            const auto alone = search(one, o, std::vector<DecodeRequest>(1))[0];
            ASSERT_EQ(alone.size(), together[static_cast<std::size_t>(s)].size());
            for (std::size_t k = 0; k < alone.size(); ++k) {
                EXPECT_EQ(alone[k].tokens, together[static_cast<std::size_t>(s)][k].tokens);
                EXPECT_EQ(alone[k].score, together[static_cast<std::size_t>(s)][k].score);
            }
        }
    }
}

TEST(AttentionKinds, LossAndGradientsAreTheSameForAnyNumberOfThreads) {
    for (const Mechanism& m : mechanisms) {
        SCOPED_TRACE(described(m));
        const Looking looking(m);
        std::vector<float> first;
        for (const int threads : {1, 3}) {
            set_thread_count(threads);
            Rng dropout(3);
            Tape tape(dropout);
            const Tensor loss = looking.model->loss(kinds_texts, read_from, kinds_outputs,
                                                    kinds_outputs, written_to, {});
            const Gradients g = tape.gradients(loss);
            std::vector<float> bits{loss.item()};
            for (const std::string& name : looking.store.names())
                for (const float v : g[looking.store.at(name)].span()) bits.push_back(v);
            if (first.empty()) first = bits;
            EXPECT_EQ(std::memcmp(first.data(), bits.data(), bits.size() * sizeof(float)), 0);
        }
        set_thread_count(0);
    }
}

// Along the gradient the loss rises by its norm; hard attention has none to compare with.
TEST(AttentionKinds, GradientsFollowTheLoss) {
    for (const Mechanism& m : mechanisms) {
        if (std::string(m.encoder) == "hard") continue;
        SCOPED_TRACE(described(m));
        Looking looking(m);
        const auto loss = [&] {
            return looking.model->loss(kinds_texts, read_from, kinds_outputs, kinds_outputs,
                                       written_to, {});
        };
        Tape tape;
        const Gradients g = tape.gradients(loss());
        double norm = 0;
        for (const std::string& name : looking.store.names())
            for (const float v : g[looking.store.at(name)].span()) norm += double{v} * v;
        norm = std::sqrt(norm);
        std::vector<std::vector<float>> keep;
        for (const std::string& name : looking.store.names()) {
            const auto values = looking.store.at(name).span();
            keep.emplace_back(values.begin(), values.end());
        }
        const auto shifted = [&](double by) {
            for (std::size_t p = 0; p < keep.size(); ++p) {
                Tensor t = looking.store.at(looking.store.names()[p]);
                const Tensor grad = g[t];
                float* w = t.write();
                for (std::int64_t i = 0; i < t.size(); ++i)
                    w[i] = keep[p][static_cast<std::size_t>(i)] +
                           static_cast<float>(by * grad.data()[i] / norm);
            }
            return double{loss().item()};
        };
        const double h = 2e-3;
        EXPECT_NEAR((shifted(h) - shifted(-h)) / (2 * h), norm, 0.02 * norm);
    }
}

// With wait-k the row that tells target token t does not change with source token t + k.
TEST(AttentionKinds, WaitKNeverReadsAhead) {
    for (const Mechanism& m : {Mechanism{"global", "global", "global", 2},
                               Mechanism{"window:3", "global", "hybrid:2", 2}}) {
        const Looking looking(m);
        const Ids source = sequence_of(kinds_texts, read_from, 0),
                  target = sequence_of(kinds_outputs, written_to, 1);
        const Segments from = Segments::of_lengths({10}), to = Segments::of_lengths({7});
        const Tensor before = looking.logits(source, from, target, to);
        for (std::int64_t changed = 2; changed < 8; ++changed) {
            Ids other = source;
            other[static_cast<std::size_t>(changed)] = 29;
            const Tensor after = looking.logits(other, from, target, to);
            for (std::int64_t t = 0; t + 2 <= changed && t < 7; ++t)
                EXPECT_TRUE(same_bits(slice_rows(before, t, t + 1), slice_rows(after, t, t + 1)))
                    << changed << " " << t;
            EXPECT_FALSE(same_bits(slice_rows(before, changed - 1, changed),
                                   slice_rows(after, changed - 1, changed)))
                << changed;
        }
    }
}

TEST(AttentionKinds, ConfigsSayWhatIsNotPlainAndReadItBack) {
    EXPECT_FALSE(TransformerConfig().to_json().contains("encoder_self_attention"));
    EXPECT_FALSE(TransformerConfig().to_json().contains("wait_k"));
    for (const Mechanism& m : mechanisms) {
        const Looking looking(m);
        const Json j = looking.config.to_json();
        EXPECT_FALSE(looking.config.fits_marian());
        EXPECT_EQ(to_text(TransformerConfig::from_json(j, "t").to_json()), to_text(j));
    }
    const auto says = [](const char* fields, const char* words) {
        Json j = TransformerConfig().to_json();
        j.update(parse_json(fields, "t"));
        try {
            TransformerConfig::from_json(j, "config.json");
            FAIL() << fields;
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::bad_input) << fields;
            EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
        }
    };
    says(R"({"encoder_self_attention": "window:0"})", "\"0\"");
    says(R"({"encoder_self_attention": "sideways"})", "sideways");
    says(R"({"encoder_self_attention": 7})", "encoder_self_attention");
    says(R"({"cross_attention": "hard,global"})", "2 words for 6 layers");
    says(R"({"decoder_self_attention": "expanded:2,2"})", "looks both ways");
    says(R"({"encoder_self_attention": "expanded:2,2", "position_embedding_type": "relative"})",
         "stand at no place");
    says(R"({"cross_attention": "expanded:2,2", "wait_k": 3})", "looks ahead");
    says(R"({"wait_k": -1})", "wait_k");
}

}  // namespace
}  // namespace fovea
