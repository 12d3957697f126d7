#include "fovea/train/autotune.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// A run whose score is best at lr 0.003 and dropout 0.3; the default rate is 0.001.
TryResult run_of(const SettingValues& changed) {
    std::map<std::string, std::string> s{{"lr", "0.001"}, {"dropout", "0.1"}};
    for (const auto& [name, value] : changed) s[name] = value;
    if (s["dropout"] == "9") throw Error("no such dropout", ErrorKind::usage);
    TryResult r;
    r.metric = "accuracy";
    r.score = 90 - std::abs(std::log(std::stod(s["lr"]) / 0.003)) -
              10 * std::abs(std::stod(s["dropout"]) - 0.3);
    r.settled = {{"lr", s["lr"]}};
    return r;
}

const std::vector<Knob> knobs{{"lr", {"x3", "x0.3"}}, {"dropout", {"9", "0.3", "0"}}};

TEST(Autotune, KeepsTheBetterValueOfEachKnob) {
    std::vector<std::string> seen;
    const Tuning t = autotune(
        knobs, [](std::size_t, const SettingValues& s) { return run_of(s); },
        [&](const Try& one, bool best) {
            seen.push_back(text_of_settings(one.changed) + (best ? " *" : ""));
        });
    const std::vector<std::string> wanted{"the defaults *",
                                          "--lr 0.003 *",
                                          "--lr 0.0003",
                                          "--lr 0.003 --dropout 9",
                                          "--lr 0.003 --dropout 0.3 *",
                                          "--lr 0.003 --dropout 0"};
    EXPECT_EQ(seen, wanted);
    EXPECT_EQ(t.best, 4u);
    EXPECT_EQ(t.tries.size(), tries_of(knobs));
    EXPECT_EQ(t.tries[3].problem, "no such dropout");
    const std::string table = t.table();
    EXPECT_LT(table.find("--dropout 0.3"), table.find("--dropout 0\n"));
    EXPECT_LT(table.find("the defaults"), table.find("failed: --lr 0.003 --dropout 9"));
    EXPECT_EQ(t.json()["best"], 4);
    EXPECT_EQ(t.json()["tries"][3]["problem"], "no such dropout");
}

TEST(Autotune, ALossIsBetterWhenItIsLower) {
    const Tuning t =
        autotune({{"size", {"small", "big"}}}, [](std::size_t number, const SettingValues&) {
            TryResult r;
            r.metric = "loss";
            r.higher_is_better = false;
            r.score = number == 1 ? 0.5 : 1.0;
            return r;
        });
    EXPECT_EQ(t.best, 1u);
}

TEST(Autotune, DefaultsThatFailAreAnError) {
    EXPECT_THROW(autotune(knobs,
                          [](std::size_t, const SettingValues&) -> TryResult {
                              throw Error("no data", ErrorKind::bad_input);
                          }),
                 Error);
}

}  // namespace
}  // namespace fovea
