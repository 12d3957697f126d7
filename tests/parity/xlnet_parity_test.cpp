// A tiny XLNet with random weights against Hugging Face transformers (tools/make_goldens_xlnet.py):
// every head, both streams, permutation masks, memory, gradients, ten training steps, generation.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "fovea/autograd/tape.h"
#include "fovea/base/files.h"
#include "fovea/base/threads.h"
#include "fovea/infer/xlnet_stepper.h"
#include "fovea/io/model_parameters.h"
#include "fovea/models/xlnet.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/ops/rows/top_k.h"
#include "fovea/train/adamw.h"

namespace fovea {
namespace {

const std::string xlnet_folder = FOVEA_SOURCE_DIR "/tests/goldens/xlnet-tiny";

struct XlnetGolden {
    explicit XlnetGolden(const Json& changes = Json::object())
        : file(xlnet_folder + "/golden.safetensors") {
        json = read_json(xlnet_folder + "/config.json");
        json.update(changes);
        load_parameters(ModelWeights(xlnet_folder), XlnetEncoder::rules(), store);
        batch = {ids("tokens"), ids("types"), Segments::of_lengths(file.read_integers("lengths"))};
        before = {ids("before"), {}, Segments::of_lengths(file.read_integers("before_lengths"))};
        order.order = ids("order");
        order.predicted = file.read_integers("predicted");
    }

    XlnetLm lm() {
        Rng rng;
        XlnetLm made(XlnetConfig::from_json(json, xlnet_folder), Params(store, rng));
        store.finish(xlnet_folder);
        return made;
    }

    // A head with its parameters from the golden; of the language model's bias there is no use.
    TextEncoder encoder(Head head, const std::string& name, int classes = 5) {
        for (const TensorInfo& t : file.tensors())
            if (t.name.starts_with(name + ".param."))
                store.put(t.name.substr(name.size() + 7), file.read(t));
        Rng rng;
        return XlnetEncoder::make(json, xlnet_folder, {head, classes}, Params(store, rng));
    }

    Ids ids(const char* name) const {
        const auto v = file.read_integers(name);
        return Ids(v.begin(), v.end());
    }
    TokenBatch plain() const { return {batch.tokens, {}, batch.segments}; }

    TensorFile file;
    ParameterStore store{ParameterStore::Mode::load};
    Json json;
    TokenBatch batch, before;
    XlnetOrder order;
};

void expect_near(const Tensor& got, const Tensor& want, const char* what, double most = 1e-4) {
    ASSERT_EQ(got.size(), want.size()) << what;
    double largest = 0;
    for (std::int64_t i = 0; i < want.size(); ++i)
        largest = std::max(largest, std::fabs(double{got.data()[i]} - want.data()[i]));
    EXPECT_LE(largest, most) << what;
}

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
int compare_gradients(const XlnetGolden& g, const std::string& name, const Gradients& d) {
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

void expect_loss(const XlnetGolden& g, const std::string& name, const Tensor& loss) {
    EXPECT_NEAR(loss.item(), g.file.read(name + ".loss").item(), 1e-5) << name;
}

TEST(XlnetParity, WordsOnTheContentStream) {
    XlnetGolden g;
    const XlnetLm lm = g.lm();
    expect_near(lm.logits(lm.transformer(g.batch)), g.file.read("words.logits"), "logits");
    Tape tape;
    const Tensor loss = cross_entropy(lm.logits(lm.transformer(g.batch)), g.batch.tokens);
    expect_loss(g, "words", loss);
    EXPECT_EQ(compare_gradients(g, "words", tape.gradients(loss)), 18);
}

TEST(XlnetParity, Classes) {
    XlnetGolden g;
    const TextEncoder e = g.encoder(Head::classes, "classes");
    Tape tape;
    const Tensor logits = e.classes(e.rows(g.batch), g.batch.segments);
    expect_near(logits, g.file.read("classes.logits"), "logits");
    const Tensor loss = cross_entropy(logits, {2, 0, 1});
    expect_loss(g, "classes", loss);
    EXPECT_EQ(compare_gradients(g, "classes", tape.gradients(loss)), 15);
}

TEST(XlnetParity, Tags) {
    XlnetGolden g;
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
    XlnetGolden g;
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
        XlnetGolden g(changes);
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
    XlnetGolden g;
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
    XlnetGolden g;
    const XlnetLm lm = g.lm();
    const XlnetMemory memory = lm.transformer.remember(g.before);
    expect_near(memory.rows[1], g.file.read("memory.rows"), "memory");
    expect_near(lm.transformer(g.plain(), {.memory = memory}), g.file.read("memory.after"), "rows");
}

TEST(XlnetParity, TenTrainingSteps) {
    XlnetGolden g;
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

Ids best_tokens(const Tensor& logits) {
    Ids best;
    for (const TokenScores& s : top_scores(logits, 1)) best.push_back(s.best[0]);
    return best;
}

// Greedy, all prompts in one batch; `last` gets the logits of the last step.
std::vector<Ids> generate(const XlnetLm& lm, const std::vector<Ids>& prompts, bool memory,
                          int tokens, Tensor& last) {
    const auto stepper = make_xlnet_stepper(lm, {.memory = memory});
    last = stepper->start(prompts);
    std::vector<std::int64_t> parents;
    for (std::size_t i = 0; i < prompts.size(); ++i)
        parents.push_back(static_cast<std::int64_t>(i));
    std::vector<Ids> texts(prompts.size());
    for (int t = 0; t < tokens; ++t) {
        const Ids best = best_tokens(last);
        for (std::size_t i = 0; i < texts.size(); ++i) texts[i].push_back(best[i]);
        if (t + 1 < tokens) last = stepper->step(best, parents);
    }
    return texts;
}

TEST(XlnetParity, GenerationWithAndWithoutMemory) {
    XlnetGolden g;
    const XlnetLm lm = g.lm();
    const Segments lengths = Segments::of_lengths(g.file.read_integers("prompt_lengths"));
    const Ids tokens = g.ids("prompts");
    std::vector<Ids> prompts;
    for (std::int64_t i = 0; i < lengths.count(); ++i)
        prompts.emplace_back(tokens.begin() + lengths.begin(i), tokens.begin() + lengths.end(i));
    ASSERT_GE(prompts.size(), 20u);
    for (const bool memory : {false, true}) {
        const Ids want = g.ids(memory ? "generated_mems" : "generated");
        const int n = static_cast<int>(want.size() / prompts.size());
        Tensor last, alone;
        const std::vector<Ids> texts = generate(lm, prompts, memory, n, last);
        expect_near(last, g.file.read(memory ? "last_logits_mems" : "last_logits"), "logits");
        for (std::size_t i = 0; i < prompts.size(); ++i) {
            const auto at = want.begin() + static_cast<std::ptrdiff_t>(i) * n;
            EXPECT_EQ(texts[i], Ids(at, at + n)) << "prompt " << i << ", memory " << memory;
            EXPECT_EQ(generate(lm, {prompts[i]}, memory, n, alone)[0], texts[i]);
            EXPECT_EQ(
                std::memcmp(alone.data(), last.data() + static_cast<std::int64_t>(i) * last.cols(),
                            sizeof(float) * static_cast<std::size_t>(last.cols())),
                0);
        }
    }
}

// Hypotheses that fork, are re-ordered and forgotten give what each gives alone.
TEST(XlnetParity, StepperFollowsParents) {
    XlnetGolden g(Json{{"mem_len", 5}});
    const XlnetLm lm = g.lm();
    for (const bool memory : {false, true}) {
        const std::vector<Ids> prompts{{7, 8, 9, 10}, {11}};
        const auto both = make_xlnet_stepper(lm, {.memory = memory});
        both->start(prompts);
        both->step({20, 21, 22}, std::vector<std::int64_t>{1, 0, 0});
        const Tensor got = both->step({23, 24}, std::vector<std::int64_t>{2, 0});
        const auto check = [&](int row, const Ids& prompt, const Ids& tokens) {
            const auto one = make_xlnet_stepper(lm, {.memory = memory});
            const std::vector<std::int64_t> first{0};
            one->start(std::vector<Ids>{prompt});
            one->step({tokens[0]}, first);
            const Tensor want = one->step({tokens[1]}, first);
            EXPECT_EQ(std::memcmp(want.data(), got.data() + row * got.cols(),
                                  sizeof(float) * static_cast<std::size_t>(got.cols())),
                      0)
                << "row " << row << ", memory " << memory;
        };
        check(0, prompts[0], {22, 23});
        check(1, prompts[1], {20, 24});
    }
    EXPECT_EQ(make_xlnet_stepper(lm)->end_tokens()[0], 2);
    EXPECT_EQ(make_xlnet_stepper(lm)->default_prompt(), Ids{1});
}

TokenBatch one_of(const TokenBatch& b, std::int64_t s) {
    const auto cut = [&](const Ids& v) {
        return v.empty() ? Ids{}
                         : Ids(v.begin() + b.segments.begin(s), v.begin() + b.segments.end(s));
    };
    return {cut(b.tokens), cut(b.types), Segments::of_lengths({b.segments.length(s)})};
}

TEST(XlnetBits, PackedIsAlone) {
    XlnetGolden g;
    const XlnetLm lm = g.lm();
    const XlnetMemory memory = lm.transformer.remember(g.before);
    const Tensor rows = lm.transformer(g.batch, {.memory = memory});
    const Tensor targets = lm.transformer.target_rows(g.batch, g.order, memory);
    const Segments of_targets = g.order.targets(g.batch.segments);
    const auto same = [](const Tensor& part, const Tensor& whole, std::int64_t first) {
        return std::memcmp(part.data(), whole.data() + first * whole.cols(),
                           sizeof(float) * static_cast<std::size_t>(part.size())) == 0;
    };
    for (std::int64_t s = 0; s < g.batch.segments.count(); ++s) {
        const TokenBatch one = one_of(g.batch, s);
        const XlnetMemory own = lm.transformer.remember(one_of(g.before, s));
        const std::int64_t first = g.batch.segments.begin(s);
        EXPECT_TRUE(same(lm.transformer(one, {.memory = own}), rows, first)) << s;
        const XlnetOrder order{
            {g.order.order.begin() + first, g.order.order.begin() + g.batch.segments.end(s)},
            {g.order.predicted[static_cast<std::size_t>(s)]}};
        EXPECT_TRUE(same(lm.transformer.target_rows(one, order, own), targets, of_targets.begin(s)))
            << s;
    }
}

TEST(XlnetBits, ThreadsChangeNothing) {
    std::vector<float> first;
    for (const int threads : {1, 3, 7}) {
        set_thread_count(threads);
        XlnetGolden g(Json{{"dropout", 0.2}});
        const XlnetLm lm = g.lm();
        Rng stream(5);
        Tape tape(stream);
        const Tensor loss = lm.loss(g.batch, g.order, lm.transformer.remember(g.before));
        std::vector<float> all{loss.item()};
        const Gradients d = tape.gradients(loss);
        for (const std::string& name : g.store.names())
            for (const float v : d[g.store.at(name)].span()) all.push_back(v);
        if (first.empty()) first = all;
        EXPECT_EQ(all.size(), first.size());
        EXPECT_EQ(std::memcmp(all.data(), first.data(), sizeof(float) * all.size()), 0) << threads;
    }
    set_thread_count(0);
}

// What dropout takes away of a sequence does not change with its neighbours, nor with how far the
// longest of the batch reaches.
TEST(XlnetBits, DropoutOfASequenceIsItsOwn) {
    XlnetGolden g(Json{{"dropout", 0.3}});
    const XlnetLm lm = g.lm();
    const auto rows_of = [&](const TokenBatch& batch) {
        Rng stream(5);
        const Tape tape(stream);
        return lm.transformer(batch).values();
    };
    const std::vector<float> together = rows_of(g.batch), alone = rows_of(one_of(g.batch, 0));
    EXPECT_EQ(std::memcmp(together.data(), alone.data(), sizeof(float) * alone.size()), 0);
    EXPECT_NE(alone, lm.transformer(one_of(g.batch, 0)).values());
}

TEST(XlnetFiles, LoadAndSaveIsIdentity) {
    XlnetGolden g;
    const XlnetLm lm = g.lm();
    const std::string path = testing::TempDir() + "/xlnet_saved.safetensors";
    save_parameters(path, g.store, XlnetEncoder::rules());
    const TensorFile was(xlnet_folder + "/model.safetensors"), is(path);
    EXPECT_EQ(was.tensors().size(), is.tensors().size());
    for (const TensorInfo& t : was.tensors()) {
        ASSERT_NE(is.find(t.name), nullptr) << t.name;
        EXPECT_EQ(is.at(t.name).shape, t.shape) << t.name;
        EXPECT_EQ(is.read(t.name).values(), was.read(t).values()) << t.name;
    }
}

// A bare XLNetModel has no prefix.
TEST(XlnetFiles, NamesWithoutPrefix) {
    for (const auto& [on_disk, in_model] : std::vector<std::pair<std::string, std::string>>{
             {"word_embedding.weight", "transformer.word_embedding.weight"},
             {"mask_emb", "transformer.mask_emb"},
             {"layer.3.ff.layer_1.bias", "transformer.layer.3.ff.layer_1.bias"}})
        EXPECT_EQ(apply_rules(XlnetEncoder::rules(), {on_disk, Tensor::zeros({4, 2})}).at(0).name,
                  in_model);
    const NamedTensor q =
        apply_rules(XlnetEncoder::rules(),
                    {"layer.0.rel_attn.q", Tensor::of({2, 1, 3}, {1, 2, 3, 4, 5, 6})})
            .at(0);
    EXPECT_EQ(q.name, "transformer.layer.0.rel_attn.q");
    EXPECT_EQ(q.tensor.shape(), Shape({1, 3, 2}));
    EXPECT_EQ(q.tensor.values(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

}  // namespace
}  // namespace fovea
