// The frame of infer/ with a model that has no source: a causal language model of nn parts, made a
// Stepper by KvHistory.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <map>

#include "fovea/base/error.h"
#include "fovea/infer/beam_search.h"
#include "fovea/infer/ensemble_stepper.h"
#include "fovea/infer/kv_history.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/self_attention.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/rows/top_k.h"

namespace fovea {
namespace {

constexpr int toy_vocabulary = 37, toy_width = 16;

struct ToyLayer {
    ToyLayer(PositionCode code, const Params& p)
        : norm(toy_width, p / "norm"),
          attention(toy_width, 4, {.positions = code, .clip = 5}, p / "attention"),
          up(toy_width, 40, p / "up"),
          down(40, toy_width, p / "down") {}
    Tensor mixed(const Tensor& x) const { return x + down(up(x, Act::gelu)); }

    LayerNorm norm;
    SelfAttention attention;
    Linear up, down;
};

struct ToyModel {
    explicit ToyModel(std::uint64_t seed = 3, PositionCode positions = PositionCode::learned)
        : code(positions) {
        Rng rng(seed);
        const Params p(store, rng);
        embedding = p.get("tokens", {toy_vocabulary, toy_width}, normal(0.9f));
        table = p.get("positions", {400, toy_width}, normal(0.5f));
        for (int i = 0; i < 2; ++i) layers.emplace_back(code, p / "layers" / i);
    }
    Tensor embedded(const Ids& tokens, const Segments& segments, const Positions& at) const {
        const Tensor x = gather_rows(embedding, tokens);
        return code == PositionCode::learned ? x + learned_positions(table, segments, at) : x;
    }
    Tensor logits(const Tensor& hidden) const { return linear(hidden, embedding, Tensor{}); }
    // Without a cache: the logits of all rows.
    Tensor operator()(const Ids& tokens, const Segments& segments) const {
        Tensor x = embedded(tokens, segments, {});
        const Visibility sees = past(segments);
        for (const ToyLayer& l : layers) x = l.mixed(x + l.attention(l.norm(x), segments, sees));
        return logits(x);
    }

    PositionCode code;
    ParameterStore store;
    Tensor embedding, table;
    std::vector<ToyLayer> layers;
};

class ToyStepper : public Stepper {
public:
    explicit ToyStepper(const ToyModel& model, Ids ends = {1})
        : model_(model), ends_(std::move(ends)), caches_(model.layers.size()) {}

    Tensor start(std::span<const Ids> prompts) override {
        Ids tokens;
        for (const Ids& p : prompts) tokens.insert(tokens.end(), p.begin(), p.end());
        rows_read += static_cast<int>(tokens.size());
        return run(tokens, history_.start(prompts));
    }
    Tensor step(const Ids& tokens, std::span<const std::int64_t> parents) override {
        ++steps;
        return run(tokens, history_.advance(parents));
    }
    std::span<const std::int32_t> end_tokens() const override { return ends_; }

    int rows_read = 0, steps = 0;

private:
    Tensor run(const Ids& tokens, const Visibility& sees) {
        const Segments& fresh = history_.fresh();
        Tensor x = model_.embedded(tokens, fresh, history_.positions());
        for (std::size_t i = 0; i < caches_.size(); ++i) {
            const ToyLayer& l = model_.layers[i];
            history_.prepare(caches_[i], toy_width, toy_width);
            x = l.mixed(x + l.attention(l.norm(x), caches_[i], fresh, history_.positions(), sees));
        }
        Ids last;
        for (std::int64_t i = 0; i < fresh.count(); ++i)
            last.push_back(static_cast<std::int32_t>(fresh.end(i) - 1));
        return model_.logits(gather_rows(x, last));
    }

    const ToyModel& model_;
    Ids ends_;
    std::vector<KvCache> caches_;
    KvHistory history_;
};

const std::vector<Ids> toy_prompts = {
    {5, 9, 31, 4, 17},
    {8},
    {11, 12, 13, 14, 15, 16, 18, 19, 20, 21, 22, 23, 3, 4, 5, 6, 7, 8},
    {2, 3}};

std::vector<DecodeRequest> toy_requests(std::int64_t limit) {
    std::vector<DecodeRequest> requests;
    for (const Ids& p : toy_prompts) requests.push_back({.prompt = p, .limit = limit});
    return requests;
}

bool same_toy_row(const Tensor& a, std::int64_t ra, const Tensor& b, std::int64_t rb) {
    return std::memcmp(a.data() + ra * a.cols(), b.data() + rb * b.cols(),
                       static_cast<std::size_t>(a.cols()) * sizeof(float)) == 0;
}

TEST(ToyLanguageModel, PromptsInABatchEqualEachAloneAndTheUncachedModel) {
    for (const PositionCode code :
         {PositionCode::learned, PositionCode::relative, PositionCode::rotary}) {
        const ToyModel model(3, code);
        ToyStepper together(model);
        Tensor all = together.start(toy_prompts);
        ASSERT_EQ(all.rows(), 4);
        std::vector<Ids> texts = toy_prompts;
        std::vector<ToyStepper> alone(texts.size(), ToyStepper(model));
        std::vector<Tensor> one;
        for (std::size_t s = 0; s < texts.size(); ++s)
            one.push_back(alone[s].start({&texts[s], 1}));
        // From the second step on every text has a sibling that parts from it, rows after row.
        std::int64_t stride = 1;
        for (std::int32_t t = 0; t < 70; ++t) {
            Ids tokens;
            std::vector<std::int64_t> parents;
            for (std::size_t s = 0; s < texts.size(); ++s) {
                const auto row = static_cast<std::int64_t>(s) * stride;
                const Tensor full = model(
                    texts[s], Segments::of_lengths({static_cast<std::int64_t>(texts[s].size())}));
                ASSERT_TRUE(same_toy_row(all, row, full, full.rows() - 1))
                    << name_of(code) << " text " << s << " step " << t;
                ASSERT_TRUE(same_toy_row(one[s], 0, full, full.rows() - 1))
                    << name_of(code) << " text " << s << " step " << t;
                const auto token = static_cast<std::int32_t>((t * 7 + 3 * s + 5) % toy_vocabulary);
                tokens.insert(tokens.end(), {token, 30});
                parents.insert(parents.end(), {row, row});
                texts[s].push_back(token);
                one[s] = alone[s].step({token}, std::vector<std::int64_t>{0});
            }
            all = together.step(tokens, parents);
            stride = 2;
        }
    }
}

TEST(ToyLanguageModel, GreedyIsTheArgmaxOfTheUncachedModelBeyondTenTokens) {
    const ToyModel model;
    ToyStepper stepper(model, {toy_vocabulary - 1});
    auto requests = toy_requests(40);
    requests[1].limit = 300;
    const auto found = search(stepper, {.min_length = 25}, requests);
    for (std::size_t s = 0; s < found.size(); ++s) {
        const Hypothesis& h = found[s][0];
        EXPECT_GE(h.tokens.size(), 25u);
        EXPECT_LE(h.tokens.size(), s == 1 ? 300u : 40u);
        EXPECT_EQ(h.finished, static_cast<std::int64_t>(h.tokens.size()) < requests[s].limit);
        Ids text = toy_prompts[s];
        for (std::size_t t = 0; t < h.tokens.size(); ++t) {
            const Tensor full =
                model(text, Segments::of_lengths({static_cast<std::int64_t>(text.size())}));
            const float* row = full.data() + (full.rows() - 1) * full.cols();
            const int allowed = t < 25 ? toy_vocabulary - 1 : toy_vocabulary;  // min_length
            ASSERT_EQ(h.tokens[t], std::max_element(row, row + allowed) - row) << s << " " << t;
            text.push_back(h.tokens[t]);
        }
    }
}

TEST(ToyLanguageModel, BeamsAndSamplesDoNotDependOnTheBatch) {
    const ToyModel model;
    for (const SearchOptions& o :
         {SearchOptions{.beam = 4, .n_best = 4},
          SearchOptions{.beam = 3, .n_best = 2, .early_stop = false},
          SearchOptions{.n_best = 5, .sample = true, .temperature = 0.8, .top_k = 12}}) {
        auto requests = toy_requests(30);
        for (std::size_t s = 0; s < requests.size(); ++s) requests[s].sample_id = 100 + s;
        ToyStepper stepper(model);
        const auto together = search(stepper, o, requests);
        for (std::size_t s = 0; s < requests.size(); ++s) {
            ToyStepper single(model);
            const auto alone = search(single, o, {&requests[s], 1});
            ASSERT_EQ(alone[0].size(), static_cast<std::size_t>(o.n_best));
            for (std::size_t k = 0; k < alone[0].size(); ++k) {
                EXPECT_EQ(alone[0][k].tokens, together[s][k].tokens);
                EXPECT_EQ(alone[0][k].token_scores, together[s][k].token_scores);  // exactly
                EXPECT_EQ(alone[0][k].score, together[s][k].score);
            }
        }
    }
}

TEST(ToyLanguageModel, SamplesShareThePrefill) {
    const ToyModel model;
    ToyStepper stepper(model);
    const DecodeRequest request{.prompt = toy_prompts[2], .limit = 12};
    const auto found = search(stepper, {.n_best = 20, .sample = true}, {&request, 1});
    EXPECT_EQ(found[0].size(), 20u);
    EXPECT_EQ(stepper.rows_read, 18);  // once, not twenty times
    std::vector<bool> seen(20, false);
    for (const Hypothesis& h : found[0]) seen[static_cast<std::size_t>(h.sample)] = true;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 20);
}

TEST(ToyLanguageModel, AnyOfSeveralEndTokensEndsAText) {
    const ToyModel model;
    bool saw_two = false;
    ToyStepper stepper(model, {1, 2, 3, 4, 5, 6, 7});
    const auto found = search(stepper, {.n_best = 30, .sample = true}, toy_requests(50));
    std::int32_t first = 0;
    for (const auto& list : found)
        for (const Hypothesis& h : list) {
            for (const std::int32_t t : h.tokens) EXPECT_TRUE(t < 1 || t > 7);
            if (!h.finished) continue;
            EXPECT_TRUE(h.end_token >= 1 && h.end_token <= 7);
            if (first == 0) first = h.end_token;
            saw_two = saw_two || h.end_token != first;
        }
    EXPECT_TRUE(saw_two);
    // Beams: seven places lost to ends in one row leave enough others to go on with.
    ToyStepper beams(model, {1, 2, 3, 4, 5, 6, 7});
    for (const auto& list :
         search(beams, {.beam = 2, .n_best = 2, .min_length = 9}, toy_requests(9)))
        EXPECT_EQ(list.size(), 2u);
}

TEST(ToyLanguageModel, TheListenerHearsTheTokensOfTheResult) {
    const ToyModel model;
    for (const SearchOptions& o :
         {SearchOptions{}, SearchOptions{.beam = 4}, SearchOptions{.beam = 4, .early_stop = false},
          SearchOptions{.beam = 1, .early_stop = false},
          SearchOptions{.n_best = 3, .sample = true}}) {
        std::map<std::pair<std::int64_t, int>, Hypothesis> heard;
        std::map<std::pair<std::int64_t, int>, int> lasts;
        ToyStepper stepper(model, {1, 2});
        int first_at = -1;
        SearchHooks hooks;
        hooks.on_token = [&](const SearchEvent& e) {
            if (first_at < 0) first_at = stepper.steps;
            Hypothesis& h = heard[{e.sentence, e.sample}];
            (e.end ? h.end_token : h.tokens.emplace_back()) = e.token;
            h.token_scores.push_back(e.score);
            lasts[{e.sentence, e.sample}] += e.last;
            return true;
        };
        auto requests = toy_requests(30);
        requests[3].prefix = {9, 10};
        const auto found = search(stepper, o, requests, hooks);
        for (std::size_t s = 0; s < found.size(); ++s)
            for (const Hypothesis& h : found[s]) {
                const auto key = std::pair{static_cast<std::int64_t>(s), h.sample};
                EXPECT_EQ(heard[key].tokens, h.tokens);
                EXPECT_EQ(heard[key].token_scores, h.token_scores);
                EXPECT_EQ(heard[key].end_token, h.end_token);
                EXPECT_EQ(lasts[key], 1);
            }
        if (o.beam == 1) {
            EXPECT_EQ(first_at, 0);  // at once, not when all is over
        }
        ToyStepper silent(model, {1, 2});
        EXPECT_EQ(search(silent, o, requests)[2][0].tokens, found[2][0].tokens);
    }
}

TEST(ToyLanguageModel, TheStopFlagAndTheListenerEndASearchEarly) {
    const ToyModel model;
    for (const SearchOptions& o :
         {SearchOptions{.min_length = 50}, SearchOptions{.beam = 3, .n_best = 3, .min_length = 50},
          SearchOptions{.n_best = 2, .min_length = 50, .sample = true}}) {
        std::atomic<bool> stop{false};
        class Stopping : public ToyStepper {
        public:
            Stopping(const ToyModel& m, std::atomic<bool>& flag) : ToyStepper(m), flag_(flag) {}
            Tensor step(const Ids& tokens, std::span<const std::int64_t> parents) override {
                if (steps == 6) flag_ = true;
                return ToyStepper::step(tokens, parents);
            }

        private:
            std::atomic<bool>& flag_;
        } stepper(model, stop);
        const auto found = search(stepper, o, toy_requests(60), {.stop = &stop});
        for (const auto& list : found) {
            ASSERT_EQ(list.size(), static_cast<std::size_t>(o.n_best));
            for (const Hypothesis& h : list) {
                EXPECT_FALSE(h.finished);
                EXPECT_EQ(h.tokens.size(), 8u);  // the prompt's and seven steps'
            }
        }
        ToyStepper never(model);
        for (const auto& list : search(never, o, toy_requests(60), {.stop = &stop}))
            EXPECT_TRUE(list[0].tokens.empty() && !list[0].finished);
        EXPECT_EQ(never.rows_read, 0);

        int heard = 0;  // the second sentence's listener goes away after four tokens
        SearchHooks hooks;
        hooks.on_token = [&](const SearchEvent& e) {
            return e.sentence != 1 || e.sample != 0 || ++heard < 4;
        };
        ToyStepper other(model), whole(model);
        const auto cut = search(other, o, toy_requests(60), hooks);
        EXPECT_EQ(heard, 4);
        for (const Hypothesis& h : cut[1])
            if (o.beam == 1 && h.sample == 0) {
                EXPECT_EQ(h.tokens.size(), 4u);
                EXPECT_FALSE(h.finished);
            }
        EXPECT_EQ(cut[2][0].tokens, search(whole, o, toy_requests(60))[2][0].tokens);
    }
}

TEST(ToyLanguageModel, EnsemblesNeedNoSourceAndCoverageDoes) {
    const ToyModel a(3), b(4);
    const auto both = [&] {
        std::vector<std::unique_ptr<Stepper>> members;
        members.push_back(std::make_unique<ToyStepper>(a));
        members.push_back(std::make_unique<ToyStepper>(b));
        return EnsembleStepper(std::move(members));
    };
    EnsembleStepper stepper = both();
    const Tensor mean = stepper.start(toy_prompts);
    ToyStepper one(a), two(b);
    const Tensor x = one.start(toy_prompts), y = two.start(toy_prompts);
    const auto p = top_scores(x, 0), q = top_scores(y, 0);
    for (std::int32_t t = 0; t < toy_vocabulary; ++t)
        EXPECT_NEAR(mean.data()[t],
                    std::log((std::exp(p[0].log_prob(t)) + std::exp(q[0].log_prob(t))) / 2), 1e-5);
    EnsembleStepper again = both();
    EXPECT_EQ(search(again, {.beam = 3}, toy_requests(20)).size(), 4u);
    const auto kind_of = [&](const SearchOptions& o, const DecodeRequest& r) {
        ToyStepper s(a);
        try {
            search(s, o, {&r, 1});
        } catch (const Error& e) {
            return e.kind();
        }
        return ErrorKind::busy;
    };
    EXPECT_EQ(kind_of({.coverage_penalty = 0.1}, {.prompt = {3}}), ErrorKind::usage);
    EXPECT_EQ(kind_of({}, {}), ErrorKind::usage);  // no prompt, and no default one
    EXPECT_EQ(kind_of({}, {.prompt = {3}}), ErrorKind::busy);
}

}  // namespace
}  // namespace fovea
