#include "fovea/io/train_state.h"

#include <gtest/gtest.h>

#include <limits>

#include "fovea/base/json.h"
#include "fovea/io/test_folder.h"

namespace fovea {
namespace {

struct Anything {
    template <class T>
    operator T() const;
};

// How many fields an aggregate has, found by how many values it can be made of.
template <class T, class... Values>
consteval std::size_t field_count() {
    if constexpr (requires { T{Values{}..., Anything{}}; })
        return field_count<T, Values..., Anything>();
    else
        return sizeof...(Values);
}

TrainState full_state() {
    TrainState s;
    s.step = INT64_MAX;
    s.epoch = 3;
    s.examples_seen = 1LL << 53;
    s.tokens_seen = (1LL << 53) + 1;  // not a double
    s.init_rng = {UINT64_MAX, UINT32_MAX, UINT64_MAX};
    s.dropout_rng = {1, 2, 3};
    s.data_fingerprint = "ab\"\\ü";
    s.permutation_key = UINT64_MAX - 1;
    s.schedule = "noam";
    s.learning_rate = 0.1 + 0.2;
    s.loss_scale = 65536;
    s.best_metric = "bleu";
    s.best_value = std::numeric_limits<double>::denorm_min();
    s.best_step = -1;
    s.loss_sum = -0.0;
    s.metric_sums = {{"a", 1.0 / 3}, {"b.c/d \"e\"", 1e308}, {"whole", 3.0}};
    s.wall_seconds = 1e-9;
    return s;
}

TEST(TrainState, EveryFieldComesBackExactly) {
    const TrainState s = full_state();
    const std::string text = state_text(s);
    EXPECT_TRUE(parse_state(text, "x") == s);
    EXPECT_EQ(state_text(parse_state(text, "x")), text);
    EXPECT_TRUE(parse_state(state_text({}), "x") == TrainState{});
    EXPECT_TRUE(std::signbit(parse_state(text, "x").loss_sum));
}

TEST(TrainState, NoFieldIsForgotten) {
    EXPECT_EQ(parse_json(state_text({}), "x").size(), field_count<TrainState>());
    EXPECT_EQ(field_count<RngState>(), 3u);
}

TEST(TrainState, RngStreamsContinueWhereTheyWere) {
    Rng rng(7, 3);
    for (int i = 0; i < 11; ++i) rng.bits();
    Rng again = RngState::of(rng).make();
    for (int i = 0; i < 5; ++i) EXPECT_EQ(again.bits(), rng.bits());
}

TEST(TrainState, MissingExtraAndWrongFieldsAreRefused) {
    const Json whole = parse_json(state_text(full_state()), "x");
    for (const auto& [name, value] : whole.items()) {
        Json less = whole, wrong = whole;
        less.erase(name);
        wrong[name] = Json::array();
        for (const Json& j : {less, wrong})
            EXPECT_EQ(complaint([&] { parse_state(to_text(j), "s.json"); }),
                      "s.json: \"" + name + "\" is missing or of the wrong type");
    }
    Json more = whole;
    more["extra"] = 1;
    EXPECT_NE(complaint([&] { parse_state(to_text(more), "s.json"); }), "");
    Json fraction = whole;
    fraction["step"] = 1.5;
    EXPECT_NE(complaint([&] { parse_state(to_text(fraction), "s.json"); }), "");
    EXPECT_NE(complaint([&] { parse_state("[]", "s.json"); }), "");
    TrainState bad;
    bad.loss_sum = std::numeric_limits<double>::infinity();
    EXPECT_EQ(complaint([&] { state_text(bad); }),
              "checkpoint: loss_sum is not finite and is not saved");
}

}  // namespace
}  // namespace fovea
