// Tiny MarianMT and BART models with random weights: the same logits, loss, gradients and ten
// training steps as Hugging Face transformers in float64.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/autograd/tape.h"
#include "fovea/base/files.h"
#include "fovea/io/model_parameters.h"
#include "fovea/models/transformer.h"
#include "fovea/train/adamw.h"

namespace fovea {
namespace {

Ids ids_of(const TensorFile& f, const char* name) {
    const auto v = f.read_integers(name);
    return Ids(v.begin(), v.end());
}

struct Golden {
    explicit Golden(const std::string& name)
        : folder(std::string(FOVEA_SOURCE_DIR) + "/tests/goldens/" + name),
          file(folder + "/golden.safetensors"),
          store(ParameterStore::Mode::load) {
        config = TransformerConfig::from_json(read_json(folder + "/config.json"), folder);
        load_parameters(ModelWeights(folder), {}, store);
        Rng rng;
        model = std::make_unique<Transformer>(config, Params(store, rng));
        store.finish(folder);
        source = ids_of(file, "source");
        labels = ids_of(file, "target");
        sources = Segments::of_lengths(file.read_integers("source_lengths"));
        targets = Segments::of_lengths(file.read_integers("target_lengths"));
        for (std::int64_t s = 0; s < targets.count(); ++s) {
            input.push_back(config.decoder_start_token_id);
            for (std::int64_t r = targets.begin(s); r + 1 < targets.end(s); ++r)
                input.push_back(labels[static_cast<std::size_t>(r)]);
        }
    }

    Tensor loss() const {
        return model->loss(source, sources, input, labels, targets, {.smoothing = 0.1f});
    }

    std::string folder;
    TensorFile file;
    ParameterStore store;
    TransformerConfig config;
    std::unique_ptr<Transformer> model;
    Ids source, labels, input;
    Segments sources, targets;
};

double relative_error(const Tensor& a, const Tensor& b) {
    double error = 0, norm = 0;
    for (std::int64_t i = 0; i < a.size(); ++i) {
        error += std::pow(static_cast<double>(a.data()[i]) - b.data()[i], 2);
        norm += std::pow(static_cast<double>(b.data()[i]), 2);
    }
    return std::sqrt(error) / std::max(std::sqrt(norm), 1e-8);
}

class Seq2SeqParity : public testing::TestWithParam<const char*> {};

TEST_P(Seq2SeqParity, LogitsAndLoss) {
    const Golden g(GetParam());
    const Tensor memory = g.model->encode(g.source, g.sources);
    const Tensor logits = g.model->logits(g.model->decoder(g.input, g.targets, memory, g.sources));
    const Tensor want = g.file.read("logits");
    ASSERT_EQ(logits.shape(), want.shape());
    for (std::int64_t i = 0; i < want.size(); ++i)
        ASSERT_NEAR(logits.data()[i], want.data()[i], 1e-4) << i;
    EXPECT_LT(relative_error(logits, want), 1e-5);
    EXPECT_NEAR(g.loss().item(), g.file.read("loss").item(), 1e-5);
}

TEST_P(Seq2SeqParity, EveryGradient) {
    const Golden g(GetParam());
    Tape tape;
    const Gradients d = tape.gradients(g.loss());
    int compared = 0;
    for (const TensorInfo& info : g.file.tensors()) {
        if (info.name.rfind("grad.", 0) != 0) continue;
        const std::string name = info.name.substr(5);
        const Tensor want = g.file.read(info);
        // A gradient that is zero in exact arithmetic (keys' biases shift all scores of a row
        // alike) is rounding noise on both sides.
        double norm = 0;
        for (const float v : want.span()) norm += static_cast<double>(v) * v;
        if (std::sqrt(norm) < 1e-9) {
            for (const float v : d[g.store.at(name)].span()) EXPECT_LT(std::fabs(v), 1e-6) << name;
        } else {
            EXPECT_LT(relative_error(d[g.store.at(name)], want), 2e-5) << name;
        }
        ++compared;
    }
    EXPECT_GT(compared, 80);
}

TEST_P(Seq2SeqParity, TenTrainingSteps) {
    Golden g(GetParam());
    AdamW adam(g.store, {.weight_decay = 0.01f});
    const Tensor want = g.file.read("losses");
    for (int i = 0; i < 10; ++i) {
        Tape tape;
        const Tensor loss = g.loss();
        EXPECT_NEAR(loss.item(), want.data()[i], 1e-4) << "step " << i;
        const Gradients d = tape.gradients(loss);
        const double norm = adam.gradient_norm(d);
        adam.step(d, 1e-3, static_cast<float>(std::min(1.0, 1.0 / (norm + 1e-6))));
    }
}

INSTANTIATE_TEST_SUITE_P(Models, Seq2SeqParity, testing::Values("marian-tiny", "bart-tiny"),
                         [](const auto& i) {
                             return std::string(i.param) == "bart-tiny" ? "Bart" : "Marian";
                         });

}  // namespace
}  // namespace fovea
