// A tiny XLNet with random weights against Hugging Face transformers (tools/make_goldens_xlnet.py):
// every head, both streams, permutation masks, memory, gradients, ten training steps.
#include "fovea/autograd/tape.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/train/adamw.h"
#include "tests/parity/xlnet_golden.h"

namespace fovea::xlnet {
namespace {

double relative_distance(const Tensor& a, const Tensor& b) {
    double error = 0, norm = 0;
    for (std::int64_t i = 0; i < a.size(); ++i) {
        error += std::pow(double{a.data()[i]} - b.data()[i], 2);
        norm += std::pow(double{b.data()[i]}, 2);
    }
    return std::sqrt(error) / std::max(std::sqrt(norm), 1e-8);
}

double norm_of(const Tensor& t) {
    double sum = 0;
    for (const float v : t.span()) sum += double{v} * v;
    return std::sqrt(sum);
}

// All gradients that the golden holds for this case.
int compare_gradients(const Golden& g, const std::string& name, const Gradients& d) {
    int compared = 0;
    const std::string prefix = name + ".grad.";
    for (const TensorInfo& info : g.file.tensors()) {
        if (!info.name.starts_with(prefix)) continue;
        const NamedTensor want =
            apply_rules(XlnetEncoder::rules(), {info.name.substr(prefix.size()), g.file.read(info)})
                .at(0);
        const Tensor& got = d[g.store.at(want.name)];
        EXPECT_EQ(got.size(), want.tensor.size()) << want.name;
        // A gradient that is zero in exact arithmetic (qa_outputs' bias shifts all scores alike) is
        // rounding noise on both sides.
        if (norm_of(want.tensor) < 1e-9)
            EXPECT_LT(norm_of(got), 1e-6) << name << " " << want.name;
        else
            EXPECT_LT(relative_distance(got, want.tensor), 2e-5) << name << " " << want.name;
        ++compared;
    }
    return compared;
}

void expect_loss(const Golden& g, const std::string& name, const Tensor& loss) {
    EXPECT_NEAR(loss.item(), g.file.read(name + ".loss").item(), 1e-5) << name;
}

TEST(XlnetParity, WordsOnTheContentStream) {
    Golden g;
    const XlnetLm lm = g.lm();
    expect_near(lm.logits(lm.transformer(g.batch)), g.file.read("words.logits"), "logits");
    Tape tape;
    const Tensor loss = cross_entropy(lm.logits(lm.transformer(g.batch)), g.batch.tokens);
    expect_loss(g, "words", loss);
    EXPECT_EQ(compare_gradients(g, "words", tape.gradients(loss)), 18);
}

TEST(XlnetParity, Classes) {
    Golden g;
    const TextEncoder e = g.encoder(Head::classes, "classes");
    Tape tape;
    const Tensor logits = e.classes(e.rows(g.batch), g.batch.segments);
    expect_near(logits, g.file.read("classes.logits"), "logits");
    const Tensor loss = cross_entropy(logits, {2, 0, 1});
    expect_loss(g, "classes", loss);
    EXPECT_EQ(compare_gradients(g, "classes", tape.gradients(loss)), 15);
}

TEST(XlnetParity, Tags) {
    Golden g;
    const TextEncoder e = g.encoder(Head::tags, "tags");
    Tape tape;
    const Tensor logits = e.tags(e.rows(g.batch));
    expect_near(logits, g.file.read("tags.logits"), "logits");
    Ids labels = g.batch.tokens;
    for (std::int32_t& t : labels) t %= 5;
    const Tensor loss = cross_entropy(logits, labels);
    expect_loss(g, "tags", loss);
    EXPECT_EQ(compare_gradients(g, "tags", tape.gradients(loss)), 13);
}

TEST(XlnetParity, Spans) {
    Golden g;
    const TextEncoder e = g.encoder(Head::spans, "spans", 0);
    Tape tape;
    const Tensor logits = e.spans(e.rows(g.batch));
    expect_near(logits, g.file.read("spans.logits"), "logits");
    // The answer of each sequence: from its first row to its last.
    std::vector<Tensor> losses;
    for (std::int64_t s = 0; s < g.batch.segments.count(); ++s)
        for (int end = 0; end < 2; ++end) {
            const auto n = static_cast<std::int32_t>(g.batch.segments.length(s));
            const Tensor column =
                slice_cols(slice_rows(logits, g.batch.segments.begin(s), g.batch.segments.end(s)),
                           end, end + 1);
            losses.push_back(cross_entropy(column.reshaped({1, n}), {end == 0 ? 0 : n - 1}));
        }
    Tensor sum = losses[0];
    for (std::size_t i = 1; i < losses.size(); ++i) sum = sum + losses[i];
    const Tensor loss = (1.0f / 6) * sum;
    expect_loss(g, "spans", loss);
    EXPECT_EQ(compare_gradients(g, "spans", tape.gradients(loss)), 13);
}

TEST(XlnetParity, OtherConfigs) {
    for (const auto& [name, changes] :
         std::vector<std::pair<std::string, Json>>{{"clamped", {{"clamp_len", 3}}},
                                                   {"causal", {{"attn_type", "uni"}}},
                                                   {"relu", {{"ff_activation", "relu"}}}}) {
        Golden g(changes);
        const XlnetLm lm = g.lm();
        expect_near(lm.logits(lm.transformer(g.plain())), g.file.read(name + ".logits"),
                    name.c_str());
    }
}

struct LmCase {
    const char* name;
    bool types, memory, left_to_right;
    int gradients;
};

class XlnetObjective : public testing::TestWithParam<LmCase> {};

TEST_P(XlnetObjective, BothStreamsLossAndGradients) {
    const LmCase& c = GetParam();
    Golden g;
    const XlnetLm lm = g.lm();
    const TokenBatch batch = c.types ? g.batch : g.plain();
    XlnetMemory memory;
    Tape tape;
    if (c.memory) memory = lm.transformer.remember(g.before, {.left_to_right = c.left_to_right});
    const XlnetOrder order =
        c.left_to_right ? XlnetOrder::left_to_right(batch.segments, c.memory ? 0 : 1) : g.order;
    XlnetMemory content;
    const Tensor rows = lm.transformer.target_rows(batch, order, memory, &content);
    const std::string name = c.name;
    expect_near(lm.logits(rows), g.file.read(name + ".logits"), "query stream");
    expect_near(content.rows[1], g.file.read(name + ".content"), "content stream");
    const Tensor loss = lm.loss(batch, order, memory);
    expect_loss(g, name, loss);
    EXPECT_EQ(compare_gradients(g, name, tape.gradients(loss)), c.gradients);
}

INSTANTIATE_TEST_SUITE_P(Cases, XlnetObjective,
                         testing::Values(LmCase{"words_permuted", true, false, false, 37},
                                         LmCase{"words_memory", true, true, false, 37},
                                         LmCase{"words_left", false, false, true, 2},
                                         LmCase{"words_left_memory", false, true, true, 2}),
                         [](const auto& i) { return std::string(i.param.name); });

TEST(XlnetParity, Memory) {
    Golden g;
    const XlnetLm lm = g.lm();
    const XlnetMemory memory = lm.transformer.remember(g.before);
    expect_near(memory.rows[1], g.file.read("memory.rows"), "memory");
    expect_near(lm.transformer(g.plain(), {.memory = memory}), g.file.read("memory.after"), "rows");
}

TEST(XlnetParity, TenTrainingSteps) {
    Golden g;
    const XlnetLm lm = g.lm();
    AdamW adam(g.store, {.weight_decay = 0.01f});
    const Tensor want = g.file.read("losses");
    for (int i = 0; i < 10; ++i) {
        Tape tape;
        const Tensor loss = lm.loss(g.batch, g.order);
        EXPECT_NEAR(loss.item(), want.data()[i], 1e-4) << "step " << i;
        const Gradients d = tape.gradients(loss);
        const double norm = adam.gradient_norm(d);
        adam.step(d, 1e-3, static_cast<float>(std::min(1.0, 1.0 / (norm + 1e-6))));
    }
}

}  // namespace
}  // namespace fovea::xlnet
