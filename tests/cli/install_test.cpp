// tools/install.sh where it cannot install: it says what is missing and ends with code 1.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "tests/run_program.h"

namespace fovea::test {
namespace {

namespace fs = std::filesystem;

// A PATH that holds nothing but these programs.
class SmallPath {
public:
    explicit SmallPath(const std::vector<std::string>& programs) {
        char pattern[] = "/tmp/fovea-path-XXXXXX";
        folder_ = mkdtemp(pattern);
        for (const std::string& name : programs)
            for (const char* place : {"/bin/", "/usr/bin/"})
                if (fs::exists(place + name)) {
                    fs::create_symlink(place + name, folder_ / name);
                    break;
                }
    }
    ~SmallPath() { fs::remove_all(folder_); }
    std::string path() const { return folder_.string(); }

private:
    fs::path folder_;
};

const std::string script = FOVEA_SOURCE_DIR "/tools/install.sh";

TEST(Install, OnAnotherSystemItSaysWhatIsMissing) {
    const SmallPath small({"sh", "dirname", "cat", "id"});
    const Outcome o = run({"/bin/sh", script, "build"}, {.env = {{"PATH", small.path()}}});
    EXPECT_EQ(o.code, 1);
    EXPECT_EQ(o.out, "");
    for (const char* part : {"error:", "hint:", "cmake", "libfmt-dev", "fmt/core.h", "GCC 12"})
        EXPECT_NE(o.err.find(part), std::string::npos) << part << "\n" << o.err;
    EXPECT_EQ(o.err.find("clang-tidy"), std::string::npos) << "not asked for\n" << o.err;
}

TEST(Install, IsSilentWhereNothingIsMissing) {
    const Outcome o = run({"/bin/sh", script, "build"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.out + o.err, "");
}

}  // namespace
}  // namespace fovea::test
