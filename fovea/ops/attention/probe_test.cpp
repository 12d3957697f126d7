// Probe, attention_hard and pointer_scores.
#include "fovea/ops/attention/probe.h"

#include "fovea/ops/attention/attention.h"
#include "fovea/ops/attention/attention_naive.h"

namespace fovea {
namespace {

TEST(Probe, RebuildsMapsOfEveryHead) {
    Rng rng(1);
    const Segments s = Segments::of_lengths({3, 0, 70});
    const Visibility sees = unite(window(s, 2, 1), columns(s, {0}));
    const Tensor q = random_tensor({73, 24}, rng), k = random_tensor({73, 24}, rng);
    const Tensor v = random_tensor({73, 12}, rng);
    Probe probe;
    attention(q, k, v, 3, sees, {.name = "first"});
    attention(q, k, v, 3, past(s), {.score = Gaussian{Tensor::full({73, 3}, 2.0f), 3.0f}});
    ASSERT_EQ(probe.count(), 2u);
    EXPECT_EQ(probe.name(0), "first");
    EXPECT_EQ(probe.heads(0), 3);
    for (std::size_t call = 0; call < 2; ++call) {
        NaiveAttention naive{.heads = 3,
                             .dk = 8,
                             .dv = 4,
                             .sees = {call == 0 ? sees : past(s)},
                             .scale = std::sqrt(0.125)};
        if (call == 1)
            naive.factor = [](const std::vector<Doubles>&, int, std::int64_t, std::int64_t j) {
                return std::exp(-(j - 2.0) * (j - 2.0) / 18.0);
            };
        std::vector<Ragged> maps;
        for (int h = 0; h < 3; ++h) maps.push_back(probe.map(call, h));
        naive.for_rows(
            {doubles_of(q), doubles_of(k)}, true,
            [&](int h, std::int64_t i, const std::vector<std::int64_t>& keys, const Doubles& w) {
                const auto row = maps[static_cast<std::size_t>(h)].row(i);
                ASSERT_EQ(row.size(), keys.size());
                for (std::size_t n = 0; n < keys.size(); ++n) ASSERT_NEAR(row[n], w[n], 1e-6);
            });
    }
    EXPECT_THROW(probe.map(2, 0), Error);
    EXPECT_THROW(probe.map(0, 3), Error);
}

TEST(Probe, FindsCallsByName) {
    const Segments s = Segments::uniform(1, 4);
    const Tensor x = Tensor::zeros({4, 8});
    Probe probe;
    attention(x, x, x, 1, past(s), {.name = "layers.0.self_attn"});
    attention(x, x, x, 2, past(s), {.name = "layers.1.self_attn"});
    attention(x, x, x, 1, past(s), {.name = "layers.0.self_attn"});
    EXPECT_EQ(probe.find("layers.1.self_attn"), 1u);
    EXPECT_EQ(probe.names(),
              (std::vector<std::string>{"layers.0.self_attn", "layers.1.self_attn"}));
    EXPECT_EQ(probe.calls_of("layers.0.self_attn"), (std::vector<std::size_t>{0, 2}));
    EXPECT_THROW(probe.find("layers.0.self_attn"), Error);  // which of the two?
    try {
        probe.find("layers.2.self_attn");
        ADD_FAILURE();
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("layers.0.self_attn, layers.1.self_attn"),
                  std::string::npos)
            << e.what();
    }
}

TEST(Probe, GivesScoresBeforeTheSoftmax) {
    Rng rng(7);
    const Segments s = Segments::of_lengths({3, 0, 40});
    const Visibility sees = unite(window(s, 2, 1), columns(s, {0}));
    const Tensor q = random_tensor({43, 16}, rng), k = random_tensor({43, 16}, rng);
    Probe probe;
    attention(q, k, k, 2, sees);
    NaiveAttention naive{.heads = 2, .dk = 8, .dv = 8, .sees = {sees}, .scale = std::sqrt(0.125)};
    for (int h = 0; h < 2; ++h) {
        const Ragged scores = probe.scores(0, h);
        std::int64_t seen = 0;
        naive.for_rows(
            {doubles_of(q), doubles_of(k)}, false,
            [&](int head, std::int64_t i, const std::vector<std::int64_t>& keys, const Doubles& w) {
                if (head != h) return;
                const auto row = scores.row(i);
                const std::int64_t begin = i < 3 ? 0 : 3;
                ASSERT_EQ(row.size(), i < 3 ? 3u : 40u);
                for (std::size_t n = 0; n < keys.size(); ++n)
                    ASSERT_NEAR(row[static_cast<std::size_t>(keys[n] - begin)], w[n], 1e-5);
                seen += static_cast<std::int64_t>(keys.size());
            });
        const auto all = scores.values.span();
        EXPECT_EQ(std::count(all.begin(), all.end(), -std::numeric_limits<float>::infinity()),
                  scores.values.size() - seen);
    }
}

TEST(Probe, NestsAndIsSilentOutside) {
    const Segments s = Segments::uniform(1, 4);
    const Tensor x = Tensor::zeros({4, 8});
    Probe outer;
    attention(x, x, x, 1, past(s));
    {
        Probe inner;
        attention(x, x, x, 1, past(s));
        EXPECT_EQ(inner.count(), 1u);
    }
    attention(x, x, x, 1, past(s));
    EXPECT_EQ(outer.count(), 2u);
}

TEST(PointerScores, ForwardAndGradient) {
    Rng rng(2);
    const Segments q = Segments::of_lengths({1, 3, 0, 50}), k = Segments::of_lengths({2, 70, 3, 5});
    const Visibility sees = everything(q, k);
    for (const bool additive : {false, true}) {
        NaiveAttention naive{.heads = 1, .dk = 9, .dv = 1, .sees = {sees}, .scale = 1.0 / 3};
        if (additive)
            naive.score = [](const std::vector<Doubles>& x, int, std::int64_t i, std::int64_t j,
                             std::int64_t) {
                double sum = 0;
                for (std::int64_t e = 0; e < 9; ++e)
                    sum += x[2][static_cast<std::size_t>(e)] *
                           std::tanh(x[0][static_cast<std::size_t>(i * 9 + e)] +
                                     x[1][static_cast<std::size_t>(j * 9 + e)]);
                return sum;
            };
        OpCase c;
        c.inputs = {random_tensor({54, 9}, rng), random_tensor({80, 9}, rng),
                    random_tensor({9}, rng)};
        if (!additive) c.inputs.pop_back();
        c.op = [&](const std::vector<Tensor>& x) {
            AttentionOptions o;
            if (additive) o.score = Additive{x[2]};
            const Ragged r = pointer_scores(x[0], x[1], sees, o);
            EXPECT_EQ(r.rows(), 54);
            EXPECT_EQ(r.segments.length(1), 70);
            return r.values;
        };
        c.reference = [&](const std::vector<Doubles>& x) {
            Doubles y;
            naive.for_rows(x, false,
                           [&](int, std::int64_t, const std::vector<std::int64_t>&,
                               const Doubles& w) { y.insert(y.end(), w.begin(), w.end()); });
            return y;
        };
        c.max_checked = 30;
        check_op(c);
    }
    const Tensor x = Tensor::zeros({3, 4});
    EXPECT_THROW(pointer_scores(x, x, past(Segments::uniform(1, 4))), Error);
    EXPECT_THROW(pointer_scores(x, x, past(Segments::uniform(1, 3)),
                                {.score = Gaussian{Tensor::zeros({3, 1}), 1}}),
                 Error);
}

TEST(AttentionHard, TakesTheHeaviestWithoutATape) {
    Rng rng(3);
    const Segments s = Segments::of_lengths({1, 0, 70});
    const Visibility sees = before(s);
    const Tensor q = random_tensor({71, 16}, rng), k = random_tensor({71, 16}, rng);
    const Tensor v = random_tensor({71, 6}, rng);
    const Tensor y = attention_hard(q, k, v, 2, sees);
    NaiveAttention naive{.heads = 2, .dk = 8, .dv = 3, .sees = {sees}, .scale = 1};
    naive.for_rows(
        {doubles_of(q), doubles_of(k)}, false,
        [&](int h, std::int64_t i, const std::vector<std::int64_t>& keys, const Doubles& w) {
            if (keys.empty()) {
                EXPECT_EQ(y.at(i, h * 3), 0.0f);
                return;
            }
            const auto best = std::max_element(w.begin(), w.end()) - w.begin();
            for (int e = 0; e < 3; ++e)
                EXPECT_EQ(y.at(i, h * 3 + e),
                          v.at(keys[static_cast<std::size_t>(best)], h * 3 + e));
        });
}

TEST(AttentionHard, DrawsByWeightAndHasStraightThroughGradient) {
    // One query over three keys with weights 0.6, 0.3, 0.1, asked 4000 times.
    constexpr std::int64_t n = 4000;
    const std::vector<float> logits{std::log(0.6f), std::log(0.3f), std::log(0.1f)};
    const Tensor k = Tensor::of({3, 1}, logits), v = Tensor::of({3, 1}, {1.0f, 10.0f, 100.0f});
    const std::vector<KeyList> lists(static_cast<std::size_t>(n), KeyList{{0, 3}});
    std::vector<std::int64_t> ones(static_cast<std::size_t>(n), 1);
    const Visibility sees = everything(Segments::of_lengths(ones), lists, 3);
    Rng stream(4);
    Tape tape(stream);
    Tensor q = tape.watch(Tensor::full({n, 1}, 1.0f));
    q.set_row_names(Segments::of_lengths(ones));
    const Tensor vw = tape.watch(v);
    const Tensor y = attention_hard(q, k, vw, 1, sees, {.scale = 1.0f});
    std::vector<int> count(3);
    for (std::int64_t i = 0; i < n; ++i)
        ++count[y.at(i, 0) == 1.0f ? 0u : y.at(i, 0) == 10.0f ? 1u : 2u];
    EXPECT_NEAR(count[0] / double(n), 0.6, 0.03);
    EXPECT_NEAR(count[1] / double(n), 0.3, 0.03);
    EXPECT_NEAR(count[2] / double(n), 0.1, 0.02);
    const Gradients g = tape.gradients(y, Tensor::full(y.shape(), 1.0f));
    for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(g[vw].data()[j], static_cast<float>(count[j]));
    // dq = Σⱼ pⱼ (vⱼ - mean) kⱼ, as of the softmax mixture.
    const double p[3] = {0.6, 0.3, 0.1}, value[3] = {1, 10, 100};
    double mean = 0, dq = 0;
    for (int j = 0; j < 3; ++j) mean += p[j] * value[j];
    for (int j = 0; j < 3; ++j)
        dq += p[j] * (value[j] - mean) * logits[static_cast<std::size_t>(j)];
    for (std::int64_t i = 0; i < n; i += 100) EXPECT_NEAR(g[q].data()[i], dq, 1e-3);
}

TEST(AttentionHard, GradientOfTheScoresIsTheMixtures) {
    Rng rng(5);
    const Segments s = Segments::of_lengths({4, 60});
    const Tensor a = random_tensor({64, 16}, rng), b = random_tensor({64, 16}, rng);
    const Tensor c = random_tensor({64, 8}, rng), dy = random_tensor({64, 8}, rng);
    const auto gradients = [&](bool hard) {
        {  // what the pool hands out next holds no zeros by luck
            const Tensor junk = Tensor::full(a.shape(), 1e9f), more = Tensor::full(a.shape(), 1e9f);
        }
        Tape tape;
        const Tensor q = tape.watch(Tensor::of(a.shape(), a.span()));
        const Tensor k = tape.watch(Tensor::of(b.shape(), b.span()));
        const Tensor y =
            hard ? attention_hard(q, k, c, 2, past(s)) : attention(q, k, c, 2, past(s));
        const Gradients g = tape.gradients(y, dy);
        return std::pair{g[q].values(), g[k].values()};
    };
    const auto hard = gradients(true), soft = gradients(false);
    for (std::size_t i = 0; i < hard.first.size(); ++i) {
        ASSERT_NEAR(hard.first[i], soft.first[i], 1e-4);
        ASSERT_NEAR(hard.second[i], soft.second[i], 1e-4);
    }
}

}  // namespace
}  // namespace fovea
