#pragma once
// Which two columns of somebody's file are source and target. Thread-safety: pure functions.
#include <string>

#include "fovea/data/records.h"

namespace fovea {

struct PairColumns {
    std::size_t source = 0, target = 1;
    std::string note = {};  // what was guessed, where it is worth a word
};

// The keys as the user gave them (names, or numbers from 1), empty where he gave none: then names
// that belong together (source and target, text and summary, …), two columns named after
// languages, or the only two that are left when ids are passed over; without a header the first
// two. `record` is the file's first: its fields, not keys of later ones, are what JSON lines have.
// Throws bad_input where it cannot tell, with a list of the columns.
PairColumns choose_pair_columns(const Columns& columns, const Record& record,
                                const std::string& source_key, const std::string& target_key);

}  // namespace fovea
