#include "fovea/tasks/answer_files.h"

#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea {

std::string answer_file(const std::string& folder, const std::string& path) {
    make_folders(folder);
    const std::string name = base_name(path);
    const std::string to = join_path(folder, name.substr(0, name.find_last_of('.')) + ".png");
    if (file_exists(to) && std::filesystem::equivalent(to, path))
        fail_with(ErrorKind::usage, "name another folder", to,
                  ": is the picture itself, which would be overwritten");
    return to;
}

}  // namespace fovea
