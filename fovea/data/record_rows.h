#pragma once
// The rows of one file as they come, header or not: what records.cpp makes records of. One function
// for each format. Not thread-safe: an opened file belongs to one thread.
#include <functional>
#include <string>

#include "fovea/data/records.h"

namespace fovea {

struct Row {
    Record record;
    std::string problem = {};  // not empty: what is wrong with it; only path and line are set then
};

using NextRow = std::function<bool(Row&)>;  // false at the end

// Opens one path of `files`. Sets columns.format, and names where the format knows them before the
// first row; JSON lines add names as new keys appear.
NextRow open_rows(const std::string& path, const RecordFiles& files, Columns& columns);

}  // namespace fovea
