#pragma once
// What is in a set of labelled pictures, before hours are spent on it: labels and how often, sizes,
// files that cannot be read, pictures that repeat or contradict themselves, and what the held-out
// sets share with the first one. Every picture is decoded; hashes of them are kept.
// Thread-safety: a check keeps nothing; checks of different files may run at once.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/pictures.h"

namespace fovea {

struct PictureFileCheck {
    std::string name;  // as the caller calls it: "train", "held-out"
    std::vector<std::string> paths;
    std::int64_t pictures = 0, bad_files = 0;
    std::vector<std::string> bad_messages;              // one a file, the first hundred
    std::vector<std::string> notes;                     // which columns were taken
    std::map<std::string, std::int64_t> labels, sizes;  // sizes: "28 × 28, 1 channel"
    std::int64_t repeated = 0;                          // that stand for a second, third, … time
    std::int64_t two_labels = 0;                        // of these: with another label than before
};

struct PictureLeakCheck {  // a held-out set against the first one
    std::string training, held_out;
    std::int64_t pictures = 0;                    // that are in training, under any name
    std::vector<std::string> names;               // the first of them
    std::map<std::string, std::int64_t> unknown;  // labels never seen in training
};

struct PictureCheck {
    std::vector<PictureFileCheck> files;
    std::vector<PictureLeakCheck> leaks;
    bool clean() const;  // all can be read, no unknown label, no picture shared
    std::string text() const;
    std::string json() const;
};

struct NamedPictures {
    std::string name;
    LabelledPictures files;
};

PictureCheck check_pictures(std::span<const NamedPictures> sets);

}  // namespace fovea
