// Readers on published encoders, through the interface of span models: the logits, the loss and ten
// fine-tuning steps of transformers' question-answering heads in float64.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/autograd/tape.h"
#include "fovea/io/model_parameters.h"
#include "fovea/models/span_model.h"
#include "fovea/models/text_encoder.h"
#include "fovea/ops/loss/segment_cross_entropy.h"
#include "fovea/train/adamw.h"

namespace fovea {
namespace {

class SpanParity : public testing::TestWithParam<const char*> {};

TEST_P(SpanParity, TenFineTuningSteps) {
    const std::string name = GetParam();
    const std::string folder = std::string(FOVEA_SOURCE_DIR) + "/tests/goldens/" + name + "-tiny";
    const TensorFile golden(folder + "/spans.safetensors"), inputs(folder + "/batch.safetensors");
    ParameterStore whole, store(ParameterStore::Mode::load);
    load_parameters(ModelWeights(folder), text_encoder_named(name).rules(), whole);
    for (const std::string& p : whole.names())
        if (p.starts_with(name + ".")) store.put(p, whole.at(p));
    for (const TensorInfo& t : golden.tensors())
        if (t.name.starts_with("param.")) store.put(t.name.substr(6), golden.read(t));
    Rng rng;
    const SpanModel model =
        make_span_model(read_json(folder + "/config.json"), folder, Params(store, rng));
    store.finish(folder);

    const auto ids = [&](const char* of) {
        const auto v = inputs.read_integers(of);
        return Ids(v.begin(), v.end());
    };
    ReadingBatch batch;
    batch.tokens = {ids("tokens"), ids("types"),
                    Segments::of_lengths(inputs.read_integers("lengths"))};
    Ids rows;
    for (std::size_t s = 0; s < ids("begins").size(); ++s)
        rows.insert(rows.end(), {ids("begins")[s], ids("ends")[s]});

    const Tensor logits = golden.read("logits"), losses = golden.read("losses");
    AdamW adam(store, {.weight_decay = 0.01f});
    for (int i = 0; i < 10; ++i) {
        Tape tape;
        const SpanScores s = model.scores(batch);
        for (std::int64_t k = 0; i == 0 && k < logits.size(); ++k)
            ASSERT_NEAR(s.scores.data()[k], logits.data()[k], 1e-4) << k;
        const Tensor loss = segment_cross_entropy(s.scores, s.segments, rows);
        EXPECT_NEAR(loss.item(), losses.data()[i], 1e-4) << "step " << i;
        const Gradients d = tape.gradients(loss);
        const double norm = adam.gradient_norm(d);
        adam.step(d, 1e-3, static_cast<float>(std::min(1.0, 1.0 / (norm + 1e-6))));
    }
}

INSTANTIATE_TEST_SUITE_P(Models, SpanParity, testing::Values("bert", "roberta"));

}  // namespace
}  // namespace fovea
