#pragma once
// Rows of folders: one file is one record. Part of record_rows.h.
#include <string>

#include "fovea/data/record_rows.h"

namespace fovea {

// *.subject files (.gz), in the order of their names: columns body, subject, annotations (a JSON
// list of texts). Record::line counts the mails.
NextRow mail_rows(const std::string& folder, Columns& columns);

// FOLDER/label/*.txt (.gz), in the order of their names: columns text, label. Record::line counts
// the files.
NextRow class_folder_rows(const std::string& folder, Columns& columns);

// Which of the two a folder is. Throws bad_input where it is neither.
RecordFormat format_of_folder(const std::string& folder);

// The files of such a folder, in the order they are read.
std::vector<std::string> files_of_folder(const std::string& folder);

}  // namespace fovea
