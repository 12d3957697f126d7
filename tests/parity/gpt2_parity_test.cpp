// A tiny GPT-2 with random weights: the same logits, loss and gradients of every head, and the same
// ten training steps, as Hugging Face transformers in float64 (tools/make_goldens_gpt2.py).
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/autograd/tape.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/train/adamw.h"
#include "tests/parity/gpt2_golden.h"

namespace fovea {
namespace {

void expect_near(const Tensor& got, const Tensor& want, double most, const std::string& what) {
    ASSERT_EQ(got.shape(), want.shape()) << what;
    for (std::int64_t i = 0; i < want.size(); ++i)
        ASSERT_NEAR(got.data()[i], want.data()[i], most) << what << " " << i;
}

double relative_gap(const Tensor& a, const Tensor& b) {
    double error = 0, norm = 0;
    for (std::int64_t i = 0; i < a.size(); ++i) {
        error += std::pow(static_cast<double>(a.data()[i]) - b.data()[i], 2);
        norm += std::pow(static_cast<double>(b.data()[i]), 2);
    }
    return std::sqrt(error) / std::max(std::sqrt(norm), 1e-8);
}

// The gradients of the file, under the names of the file: those of the fused c_attn are split like
// the weights. One that is zero in exact arithmetic (keys' biases) is noise on both sides.
int compare_gradients(const Gpt2Golden& g, const Gradients& d, const std::string& head) {
    int compared = 0;
    const std::string prefix = head + ".grad.";
    for (const TensorInfo& info : g.file.tensors()) {
        if (!info.name.starts_with(prefix)) continue;
        const NamedTensor on_disk{info.name.substr(prefix.size()), g.file.read(info)};
        for (const NamedTensor& want : apply_rules(Gpt2::rules(), on_disk)) {
            double norm = 0;
            for (const float v : want.tensor.span()) norm += static_cast<double>(v) * v;
            const Tensor got = d[g.store.at(want.name)];
            if (std::sqrt(norm) < 1e-7)
                for (const float v : got.span()) EXPECT_LT(std::fabs(v), 1e-5) << want.name;
            else
                EXPECT_LT(relative_gap(got, want.tensor), 3e-5) << want.name;
            ++compared;
        }
    }
    return compared;
}

class Gpt2Parity : public testing::TestWithParam<const char*> {};

TEST_P(Gpt2Parity, LogitsLossAndEveryGradient) {
    const std::string head = GetParam();
    const Gpt2Golden g(head);
    Tape tape;
    const Tensor logits = g.logits();
    expect_near(logits, g.file.read(head + ".logits"), 1e-4, "logits");
    const Tensor loss = cross_entropy(logits, g.labels());
    EXPECT_NEAR(loss.item(), g.file.read(head + ".loss").item(), 1e-5);
    const Gradients d = tape.gradients(loss);
    const std::size_t all = g.store.names().size();
    EXPECT_EQ(compare_gradients(g, d, head), static_cast<int>(all));
}

INSTANTIATE_TEST_SUITE_P(Heads, Gpt2Parity, testing::Values("words", "classes", "tags", "spans"),
                         [](const auto& i) { return std::string(i.param); });

TEST(Gpt2ParityOnce, TenTrainingSteps) {
    Gpt2Golden g("words");
    AdamW adam(g.store, {.weight_decay = 0.01f});
    const Tensor want = g.file.read("losses");
    for (int i = 0; i < 10; ++i) {
        Tape tape;
        const Tensor loss = cross_entropy(g.logits(), g.labels());
        EXPECT_NEAR(loss.item(), want.data()[i], 1e-4) << "step " << i;
        const Gradients d = tape.gradients(loss);
        const double norm = adam.gradient_norm(d);
        adam.step(d, 1e-3, static_cast<float>(std::min(1.0, 1.0 / (norm + 1e-6))));
    }
    EXPECT_LT(want.data()[9], want.data()[0] - 0.1);  // it did learn
}

TEST(Gpt2ParityOnce, VariantsOfTheConfig) {
    const std::pair<const char*, Json> variants[] = {
        {"inverse", {{"scale_attn_by_inverse_layer_idx", true}, {"reorder_and_upcast_attn", true}}},
        {"unscaled", {{"scale_attn_weights", false}}},
        {"relu", {{"activation_function", "relu"}}},
        {"erf", {{"activation_function", "gelu"}, {"layer_norm_epsilon", 1e-3}}}};
    const Tensor plain = Gpt2Golden("words").file.read("words.logits");
    for (const auto& [name, change] : variants) {
        const Gpt2Golden g("words", change);
        const Tensor want = g.file.read(std::string("variant.") + name);
        expect_near(g.logits(), want, 1e-4, name);
        EXPECT_GT(relative_gap(plain, want), 1e-4) << name;  // the variant matters
    }
}

}  // namespace
}  // namespace fovea
