#pragma once
// What people call columns: which first row is a header, which column is only a number.
// Thread-safety: pure functions, safe from any thread.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/records.h"

namespace fovea {

// Lower case (ASCII), without white space around, '-' and ' ' as '_': "Source Text" → source_text.
std::string plain_name(std::string_view cell);

bool is_language_name(const std::string& plain);  // english, de, deu; of a plain_name
bool is_id_name(const std::string& plain);        // id, index, #, pair_id, nothing at all
// How good a name is for a column of texts or of labels: 1 is best ("text", "label"), 0 is none.
int rank_as_text(const std::string& plain);
int rank_as_label(const std::string& plain);

// Whether the first row of a table names its columns. By name: every cell is a known name, or at
// least two of three or more. By form: unknown words, each a single one, above a column that holds
// only numbers or above ten rows or more of which at most a tenth is made of single words, and none
// of them comes again in its column. A column that is hardly used needs no name.
bool is_header(const std::vector<std::string>& first,
               const std::vector<std::vector<std::string>>& later);

// Numbers the records: by its name, or because it holds whole numbers only (in two rows or more).
bool is_id_column(const Columns& columns, std::size_t column);

// The column a user names: by its name in the file (failing that, but for case), else by number
// from 1. Throws bad_input with a list of what there is.
std::size_t column_of(const Columns& columns, const std::string& path, const std::string& key);
std::optional<std::size_t> number_of_column(const std::string& key);  // "2" is 1; names: nothing

// "id", "english", "german"; without a header the cells of the first row.
std::string list_of_columns(const Columns& columns);
// "column 2", "column 'english'", "key 'en'"
std::string describe_column(const Columns& columns, std::size_t column);

}  // namespace fovea
