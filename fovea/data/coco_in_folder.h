#pragma once
// Which COCO file a folder means. Thread-safety: pure functions.
#include <string>

namespace fovea {

// The COCO file (data/coco.h) in the folder or in its annotations/, by a look at the beginnings of
// its .json files; "" where there is none. Of several the one whose boxes are of things
// (instances_…) and to learn from (train) is meant; where that leaves more than one, an error names
// them.
std::string coco_file_in(const std::string& folder);

// Does a file begin as COCO's do?
bool begins_as_coco(const std::string& path);

}  // namespace fovea
