// Each system call of a save fails in turn: the old file stays whole, and nothing else is left.
#include "fovea/base/atomic_file.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

#include "fovea/base/disk.h"
#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea {
namespace {

class AtomicFileTest : public testing::Test {
protected:
    AtomicFileTest() {
        std::string name = testing::TempDir() + "/fovea_atomic_XXXXXX";
        folder_ = ::mkdtemp(name.data());
        path_ = join_path(folder_, "file");
    }
    ~AtomicFileTest() override {
        disk::set_hook(nullptr);
        std::filesystem::remove_all(folder_);
    }
    std::string folder_, path_;
};

std::string long_text() {  // several system calls
    std::string text;
    for (int i = 0; i < 300'000; ++i) text += static_cast<char>('a' + i % 26);
    return text;
}

void write_pieces(const std::string& path, const std::string& text) {
    AtomicFile file(path);
    const std::string_view all = text;
    file.write(all.substr(0, 10));
    file.write(all.substr(10, 200'000));  // beyond what is gathered
    for (std::size_t at = 200'010; at < all.size(); at += 1000) file.write(all.substr(at, 1000));
    file.publish();
}

TEST_F(AtomicFileTest, PiecesOfAnySizeArriveInOrder) {
    write_pieces(path_, long_text());
    EXPECT_EQ(read_file(path_), long_text());
    EXPECT_EQ(list_folder(folder_), std::vector<std::string>{"file"});
}

TEST_F(AtomicFileTest, AFailureAtAnyCallLeavesTheOldFileAndNothingElse) {
    write_file_atomically(path_, "old");
    int failures = 0;
    for (int n = 1;; ++n) {
        int calls = 0;
        bool renamed = false;
        disk::set_hook([&](disk::Call call, const std::string& path) {
            if (++calls == n) return ENOSPC;
            if (call == disk::Call::rename) renamed = true;
            if (call != disk::Call::sync_folder) {
                EXPECT_EQ(path, path_) << "the name a user knows";
            }
            return 0;
        });
        try {
            write_pieces(path_, long_text());
            break;  // call n was never made
        } catch (const Error& e) {
            ++failures;
            EXPECT_NE(e.hint(), "") << "a full disk has a way out";
        }
        disk::set_hook(nullptr);
        EXPECT_EQ(read_file(path_), renamed ? long_text() : "old") << "call " << n;
        EXPECT_EQ(list_folder(folder_), std::vector<std::string>{"file"}) << "call " << n;
        write_file_atomically(path_, "old");
    }
    EXPECT_GE(failures, 8);  // open, allocate, writes, sync, close, rename, sync of the folder
}

TEST_F(AtomicFileTest, NotPublishedLeavesNothing) {
    {
        AtomicFile file(path_, 100);
        file.write("half");
        file.finish();
    }
    EXPECT_TRUE(list_folder(folder_).empty());
    EXPECT_THROW(AtomicFile(join_path(folder_, "no/such/folder/file")), Error);
}

}  // namespace
}  // namespace fovea
