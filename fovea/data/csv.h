#pragma once
// Rows of separated values. Not thread-safe: a LineReader belongs to one thread.
#include <string>
#include <vector>

#include "fovea/base/files.h"

namespace fovea {

// TSV has no quoting: a tab ends a field, a newline ends the row. False at the end of the file.
bool read_tsv_row(LineReader& lines, std::vector<std::string>& row);

// CSV as in RFC 4180: fields in quotes may hold commas, newlines and doubled quotes. What is wrong
// with the row goes into `problem` (a quote left open at the end of the file, text behind a quote).
bool read_csv_row(LineReader& lines, std::vector<std::string>& row, std::string& problem);

}  // namespace fovea
