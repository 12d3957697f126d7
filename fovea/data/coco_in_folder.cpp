#include "fovea/data/coco_in_folder.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/coco.h"

namespace fovea {
namespace {

void keep_those_with(std::vector<std::string>& paths, const std::string& word) {
    std::vector<std::string> kept;
    for (const std::string& path : paths)
        if (base_name(path).find(word) != std::string::npos) kept.push_back(path);
    if (!kept.empty()) paths = std::move(kept);
}

}  // namespace

bool begins_as_coco(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string bytes(4096, '\0');
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(file.gcount()));
    return looks_like_coco(bytes);
}

std::string coco_file_in(const std::string& folder) {
    std::vector<std::string> found;
    for (const std::string& place : {folder, join_path(folder, "annotations")}) {
        if (!is_folder(place)) continue;
        for (const std::string& name : list_folder(place))
            if (const std::string path = join_path(place, name);
                name.ends_with(".json") && begins_as_coco(path))
                found.push_back(path);
    }
    for (const char* word : {"instances", "train"})
        if (found.size() > 1) keep_those_with(found, word);
    if (found.size() > 1)
        fail_with(ErrorKind::bad_input, "give the file itself, such as " + found[0], folder,
                  ": holds ", found.size(), " COCO files, and none or several are called train");
    return found.empty() ? "" : found[0];
}

}  // namespace fovea
