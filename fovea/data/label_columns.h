#pragma once
// Which columns of somebody's file are text and label. Thread-safety: pure functions.
#include <optional>
#include <string>
#include <vector>

#include "fovea/data/records.h"

namespace fovea {

struct LabelColumns {
    std::vector<std::size_t> texts;  // one or two
    std::size_t label = 0;           // only where it was asked for
    std::string note = {};           // "a.csv: text from column 'review', label from column 'y'"
};

struct LabelKeys {
    std::vector<std::string> texts;  // as the user gave them; empty: guess
    std::string label;
    bool wants_label = true;  // false: texts alone are read
};

// Throws bad_input where it cannot tell, with a list of the columns.
LabelColumns choose_label_columns(const Columns& columns, const std::string& path,
                                  const LabelKeys& keys);

// The column named as a label is; nothing where none is.
std::optional<std::size_t> named_label_column(const Columns& columns);
// One of few short values beside a single column of texts, whatever they are called; nothing where
// it is less clear than that, or there are too few records to tell.
std::optional<std::size_t> telling_label_column(const Columns& columns);
// How many different values a column has in the sample; nothing where one of them is long.
std::optional<std::size_t> different_short_values(const Columns& columns, std::size_t column);

}  // namespace fovea
