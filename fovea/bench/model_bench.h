#pragma once
// What the benches of whole models (train, translate, scaling) have in common: what is asked for,
// and rounds in which we and the peers take turns on the same work.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fovea/bench/rows.h"

namespace fovea::bench {

struct ModelBenchOptions {
    bool quick = false;  // smaller work, fewer rounds: under a minute
    bool peers = true;   // beside the peers where they are installed
    std::string python;  // that has the peers; empty: FOVEA_PEER_PYTHON, or the usual ones
    std::string only;    // rows whose case and precision hold this text; empty: all
    std::uint64_t seed = 1;
    double seconds = 0;                                 // to spend on a case; 0: by the bench
    std::function<void(const Row&)> on_row;             // as soon as it is measured
    std::function<void(const std::string&)> on_case;    // before it is measured
    std::function<void(const std::string&)> on_note;    // what the reader should know
    std::function<bool()> stop = [] { return false; };  // asked between samples

    void note(const std::string& text) const {
        if (on_note) on_note(text);
    }
    bool wants(const std::string& row) const { return row.find(only) != std::string::npos; }
};

// One that takes part in a race: does pieces [first, first + count) of the common work and says how
// many seconds it took; nothing where it cannot any more.
struct Racer {
    std::string name;
    std::function<std::optional<double>(std::int64_t first, int count)> run;
};

struct RaceOptions {
    double seconds = 30;        // for all racers together
    double sample_seconds = 1;  // a sample of the first racer lasts at least about this long
    int least_rounds = 3;
    int most_rounds = 50;
    int warm_up = 1;  // pieces each does before the clock counts
};

struct RaceFigure {
    double best = 0, median = 0;  // work per second; 0: it could not
    int samples = 0;
};

// All racers do the same pieces in every round; one that has used up twice its share of the time
// sits out once it has a sample. `work(first, count)` is what these pieces amount
// to; `between` runs once a round (to sample a limit).
std::vector<RaceFigure> race(const std::vector<Racer>& racers,
                             const std::function<double(std::int64_t first, int count)>& work,
                             const RaceOptions& options, const std::function<bool()>& stop,
                             const std::function<void()>& between = {});

}  // namespace fovea::bench
