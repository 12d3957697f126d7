#include "fovea/train/train_state.h"

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
    s.tokens_seen = (1LL << 53) + 1;  // not a double
    s.dropout_rng = {UINT64_MAX, UINT32_MAX, UINT64_MAX};
    s.run = "0123abc";
    s.data_fingerprint = "ab\"\\ü";
    s.budget = "minutes 1";
    s.planned_updates = 1LL << 53;
    s.first_loss = 0.1 + 0.2;
    s.best_metric = "bleu";
    s.best_value = std::numeric_limits<double>::denorm_min();
    s.best_loss = 1.0 / 3;
    s.best_step = -1;
    s.loss_sum = -0.0;
    s.smooth_loss = 1e308;
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
    EXPECT_EQ(parse_json(state_text({}), "x").size(), field_count<TrainState>() + 1);  // the format
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
        if (name == "format") continue;
        Json less = whole, wrong = whole;
        less.erase(name);
        wrong[name] = Json::array();
        for (const Json& j : {less, wrong})
            EXPECT_EQ(complaint([&] { parse_state(to_text(j), "s.json"); }),
                      "s.json: \"" + name + "\" is missing or of the wrong type");
    }
    Json old = whole;
    old.erase("format");
    EXPECT_EQ(complaint([&] { parse_state(to_text(old), "s.json"); }),
              "s.json: has the format 1 but this version reads 2");
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
