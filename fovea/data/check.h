#pragma once
// What is in a training set, before hours are spent on it: counts, lengths, bad lines, duplicates,
// and pairs that training and test data share. Reads each file once, as a stream; keeps hashes of
// the texts, not the texts.
// Thread-safety: a check keeps nothing; checks of different files may run at once.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/pairs.h"
#include "fovea/data/text_stats.h"

namespace fovea {

struct FileCheck {
    std::string name;  // as the caller calls it: "train", "dev", "test"
    std::string path, target_path;
    FilesOnDisk on_disk;
    std::int64_t pairs = 0;
    std::int64_t bad_lines = 0;
    std::vector<std::string> bad_messages;  // the first of them, with file and line
    std::vector<std::string> notes;         // which columns were taken
    LengthReport source, target;
    std::int64_t repeated_pairs = 0;    // pairs that stand for a second, third, … time
    std::int64_t repeated_sources = 0;  // sources that do, with the same or another target
    std::int64_t copies = 0;            // source and target are the same
    std::int64_t odd_ratios = 0;        // one side has more than nine times the words of the other
    std::vector<std::int64_t> odd_lines;      // the first of them
    std::int64_t control_characters = 0;      // pairs that hold one other than a tab
    std::int64_t replacement_characters = 0;  // pairs that hold U+FFFD: broken before it came here
};

struct LeakCheck {  // how much of `held_out` stands in `training`
    std::string training, held_out;
    std::int64_t pairs = 0, sources = 0, targets = 0;  // held-out pairs whose … is in training
    std::int64_t sources_nearly = 0;  // … whose source is, but for ASCII case and punctuation
    std::vector<std::int64_t> lines;  // the first held-out pairs whose source leaks
};

struct DataCheck {
    std::vector<FileCheck> files;
    std::vector<LeakCheck> leaks;  // the first file against each other one
    bool clean() const;            // no bad line, no empty side, no leaked pair
    std::string text() const;      // for people
    std::string json() const;      // one object
};

struct NamedFiles {
    std::string name;
    PairFiles files;
};

// The first file is the training set.
DataCheck check_data(std::span<const NamedFiles> sets);

}  // namespace fovea
