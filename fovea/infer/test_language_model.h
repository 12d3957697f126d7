#pragma once
// For the tests of this room: a causal language model of nn parts, made a Stepper by KvHistory.
#include <cstdint>
#include <utility>
#include <vector>

#include "fovea/infer/kv_history.h"
#include "fovea/infer/search_options.h"
#include "fovea/infer/stepper.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/self_attention.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/rows/gather.h"

namespace fovea {

inline constexpr int toy_vocabulary = 37, toy_width = 16;

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

inline const std::vector<Ids> toy_prompts = {
    {5, 9, 31, 4, 17},
    {8},
    {11, 12, 13, 14, 15, 16, 18, 19, 20, 21, 22, 23, 3, 4, 5, 6, 7, 8},
    {2, 3}};

inline std::vector<DecodeRequest> toy_requests(std::int64_t limit) {
    std::vector<DecodeRequest> requests;
    for (const Ids& p : toy_prompts) requests.push_back({.prompt = p, .limit = limit});
    return requests;
}

}  // namespace fovea
