#pragma once
// What is in sets of sounds, before hours are spent on them: how long, at which rates, what is cut
// off at full scale, what is silent, what cannot be read, and what held-out sets share.
// Thread-safety: a check keeps nothing; checks of different files may run at once.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/waves.h"

namespace fovea {

struct NamedClips {
    std::string name;
    ClipFiles files;
};

struct WaveFileCheck {
    std::string name;
    std::vector<std::string> paths, notes;
    std::int64_t clips = 0, unreadable = 0;
    double seconds = 0, shortest = 0, longest = 0;
    std::map<int, std::int64_t> rates, channels;  // of waves: how many clips have each
    std::int64_t clipped = 0;           // a thousandth or more of the samples at full scale
    std::int64_t silent = 0;            // never above −60 dB
    std::int64_t untold = 0;            // without a transcript
    std::int64_t repeated = 0;          // the same sound again
    std::int64_t shared = 0;            // of a held-out set: sounds that the first set has too
    std::int64_t new_labels = 0;        // of a held-out set of classes: those that the first lacks
    std::vector<std::string> messages;  // the first of what was wrong, with paths
};

struct WaveCheck {
    std::vector<WaveFileCheck> files;
    bool clean() const;  // all can be read, nothing is shared, every class is known
    std::string text() const;
    std::string json() const;
};

WaveCheck check_waves(std::span<const NamedClips> sets);

}  // namespace fovea
