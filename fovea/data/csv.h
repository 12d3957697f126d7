#pragma once
// Rows of separated values. Not thread-safe: a LineSource belongs to one thread.
#include <string>
#include <vector>

#include "fovea/data/line_source.h"

namespace fovea {

// The row's text goes into `raw` where it is not null, lines parted by \n, without the last one.

// TSV has no quoting: a tab ends a field, a newline ends the row. False at the end of the file.
bool read_tsv_row(LineSource& lines, std::vector<std::string>& row, std::string* raw = nullptr);

// CSV as in RFC 4180: fields in quotes may hold commas, newlines and doubled quotes. What is wrong
// with the row goes into `problem` (a quote left open at the end of the file, text behind a quote).
bool read_csv_row(LineSource& lines, std::vector<std::string>& row, std::string& problem,
                  std::string* raw = nullptr, char separator = ',');

// What parts the fields of a CSV file, by its first line: a comma if there is one, else a semicolon
// or a tab (as spreadsheets write it where the comma belongs to numbers).
char csv_separator(const std::string& first_line);

}  // namespace fovea
