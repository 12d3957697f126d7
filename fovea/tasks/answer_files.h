#pragma once
// Files that answers are written to, beside the text.
// Thread-safety: pure functions.
#include <string>

namespace fovea {

// FOLDER/NAME.png for what was made of the picture at `path`; the folder is made. A picture is
// never overwritten by what was made of it.
std::string answer_file(const std::string& folder, const std::string& path);

}  // namespace fovea
