#pragma once
// For tests of this room: a folder of its own that goes away, and the message of an error.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea {

class TestFolder {
public:
    TestFolder() {
        // in memory where there is such a place: these tests make tens of thousands of files
        const bool memory = ::access("/dev/shm", W_OK) == 0;
        std::string name =
            (memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path()) /
            "fovea-test-XXXXXX";
        expect(::mkdtemp(name.data()) != nullptr, "no temporary folder");
        path_ = name;
    }
    ~TestFolder() {
        std::error_code e;
        std::filesystem::remove_all(path_, e);
    }
    TestFolder(const TestFolder&) = delete;
    TestFolder& operator=(const TestFolder&) = delete;

    std::string operator/(const std::string& name) const { return join_path(path_, name); }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

inline void put_file(const std::string& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// What f complains about; it must be an error about input or a missing file unless said otherwise.
template <class F>
std::string complaint(F f) {
    try {
        f();
    } catch (const Error& e) {
        EXPECT_FALSE(std::string(e.what()).empty());
        return e.what();
    }
    return "";
}

}  // namespace fovea
