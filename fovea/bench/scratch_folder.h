#pragma once
// A folder in /tmp for the files of one run, removed with all it holds at its end.
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea::bench {

class ScratchFolder {
public:
    ScratchFolder() {
        std::string name = "/tmp/fovea-bench-XXXXXX";
        expect(mkdtemp(name.data()) != nullptr, "bench: cannot make a folder in /tmp");
        path_ = name;
    }
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    const std::string& path() const { return path_; }
    std::string operator/(const std::string& name) const { return join_path(path_, name); }

private:
    std::string path_;
};

}  // namespace fovea::bench
