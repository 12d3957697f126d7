#pragma once
// What is in pictures with masks, before hours are spent on them: sizes, values of masks, files
// that cannot be read, masks of other sizes than their pictures, and pictures that sets share.
// Thread-safety: a check keeps nothing; checks of different files may run at once.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/masks.h"

namespace fovea {

struct MaskFileCheck {
    std::string name;  // as the caller calls it: "train", "held-out"
    std::vector<std::string> paths;
    std::int64_t pictures = 0;                  // that are whole, with their masks
    std::vector<std::string> bad;               // one line each
    std::map<std::string, std::int64_t> sizes;  // "256 x 256"
    std::map<int, std::int64_t> values;         // of masks, in pixels
    std::int64_t empty = 0;                     // masks of one value
    std::int64_t repeated = 0;                  // pictures that stand for a second, third, … time
};

struct MaskLeakCheck {  // a held-out set against the first one
    std::string training, held_out;
    std::int64_t pictures = 0;   // that are in training, byte for byte
    std::vector<int> unknown{};  // values of masks that training lacks
};

struct MaskCheck {
    std::vector<MaskFileCheck> files;
    std::vector<MaskLeakCheck> leaks;
    bool clean() const;
    std::string text() const;
    std::string json() const;
};

struct NamedMasked {
    std::string name;
    MaskedFiles files;
};

MaskCheck check_masked(std::span<const NamedMasked> sets);

}  // namespace fovea
