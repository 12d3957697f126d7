#pragma once
// What is in pictures with boxes, before hours are spent on them: labels, sizes, boxes that are
// none, files that cannot be read, and pictures that sets share.
// Thread-safety: a check keeps nothing; checks of different files may run at once.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/boxes.h"

namespace fovea {

struct BoxFileCheck {
    std::string name;  // as the caller calls it: "train", "held-out"
    std::vector<std::string> paths;
    std::int64_t pictures = 0;                   // that are whole
    std::int64_t boxes = 0, without = 0;         // without: pictures without a box
    std::int64_t cut = 0;                        // boxes that reached beyond their picture
    std::int64_t crowds = 0, difficult = 0;      // boxes that need not be found
    std::vector<std::string> bad, dropped;       // one line each
    std::map<std::string, std::int64_t> sizes;   // of pictures, "640 x 480"
    std::map<std::string, std::int64_t> labels;  // boxes of each
    std::int64_t repeated = 0;  // pictures that stand for a second, third, … time
};

struct BoxLeakCheck {  // a held-out set against the first one
    std::string training, held_out;
    std::int64_t pictures = 0;           // that are in training, byte for byte
    std::vector<std::string> unknown{};  // labels that training lacks
};

struct BoxCheck {
    std::vector<BoxFileCheck> files;
    std::vector<BoxLeakCheck> leaks;
    // Boxes that are dropped or cut are told, but training goes on without them.
    bool clean() const;
    std::string text() const;
    std::string json() const;
};

struct NamedBoxed {
    std::string name;
    BoxedFiles files;
};

BoxCheck check_boxed(std::span<const NamedBoxed> sets);

}  // namespace fovea
