#pragma once
// Texts with labels (sentiment, intent, topic) from the records of somebody's files (records.h),
// and texts without, for prediction. One text or two (premise and hypothesis) and one label or
// several. Read as a stream; errors name file and line. Not thread-safe: one reader belongs to one
// thread.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fovea/data/records.h"

namespace fovea {

struct LabelledText {
    std::vector<std::string> texts;   // one, or two that are judged together
    std::vector<std::string> labels;  // one or more
    std::string path;
    std::int64_t line = 0;
};

struct LabelledFiles {
    std::vector<std::string> paths;  // read one after the other, see RecordFiles
    RecordFormat format = RecordFormat::automatic;
    HeaderRow header = HeaderRow::automatic;
    // Columns by name, or by number from 1. Empty: guessed, and Problems::notes says what was
    // chosen. The label is the column of that name (label, class, category, intent, sentiment, …),
    // else the one with the fewest different short values in the first 1,000 records.
    std::vector<std::string> text_keys = {};
    std::string label_key = {};
    std::string label_separator = {};  // "a|b" is two labels with "|"; empty: a field is one label.
                                       // A JSON list is always several
    bool allow_none = false;           // an empty field or list: no label, instead of a bad line
    std::int64_t skip_bad = 0;
    std::int64_t limit = 0;  // only the first so many; 0: all
    int keep_messages = 5;
};

using TakeLabelled = std::function<bool(LabelledText&&)>;  // false: stop

// Throws bad_input at the first bad line beyond skip_bad: wrong number of columns, an empty label,
// a label of another type than those before (JSON), text that is not UTF-8; and where it cannot
// tell the columns, with a list of them.
Problems for_each_labelled(const LabelledFiles& files, const TakeLabelled& take);
std::vector<LabelledText> read_labelled(const LabelledFiles& files, Problems* problems = nullptr);

// A text to predict for, with the record it came from: a prediction file can keep its columns.
struct TextRecord {
    std::vector<std::string> texts;
    Record record;
};
using TakeText = std::function<bool(const Columns&, TextRecord&&)>;

// `text_keys` as in LabelledFiles. RecordFiles::limit and skip_bad hold.
Problems for_each_text(const RecordFiles& files, const std::vector<std::string>& text_keys,
                       const TakeText& take);

// Whether a file looks like labelled texts rather than pairs: a folder per class, labels in its
// lines, a column named as a label is, or (of at least 50 records) one with at most a tenth as many
// values.
bool looks_labelled(const Columns& columns);

}  // namespace fovea
