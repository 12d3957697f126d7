#pragma once
// Which settings fit a data set: short runs, one setting changed at a time, the better one kept.
// Greedy over the knobs in their order: the first try is the defaults; then for each knob each of
// its values beside the best found so far. Half of the budget is for the tries, half for the run
// that follows. What is chosen depends on the scores alone, never on a clock: the same seed and the
// same number of updates choose the same. Not thread-safe: it belongs to one thread.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fovea/base/json.h"

namespace fovea {

using SettingValues = std::vector<std::pair<std::string, std::string>>;  // name and value

// A setting worth trying, and its values. "x3" of a number is three times what it would be.
struct Knob {
    std::string setting;
    std::vector<std::string> values;
};

struct TryResult {
    double score = 0;
    bool higher_is_better = true;
    std::string metric;
    std::int64_t updates = 0;
    double seconds = 0;
    SettingValues settled;  // what numbers the defaults were: so that "x3" has a meaning
};

struct Try {
    SettingValues changed;            // from the defaults
    std::optional<TryResult> result;  // none: it failed
    std::string problem;              // why
};

struct Tuning {
    std::vector<Try> tries;  // in order
    std::size_t best = 0;

    Json json() const;
    std::string table() const;  // for people: best first
};

std::size_t tries_of(const std::vector<Knob>& knobs);  // how many runs there will be

// Runs try `number` (from 0) with these settings. An Error (settings that do not go together) makes
// it a failed try.
using RunTry = std::function<TryResult(std::size_t number, const SettingValues& changed)>;
using TryDone = std::function<void(const Try&, bool best)>;

// An error where not even the defaults can be run.
Tuning autotune(const std::vector<Knob>& knobs, const RunTry& run, const TryDone& done = {});

// "lr 0.003, preset small"; "the defaults".
std::string text_of_settings(const SettingValues& changed);

}  // namespace fovea
