// The documented exit codes, each by a real run.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

class Folder {
public:
    Folder() {
        char pattern[] = "/tmp/fovea-cli-XXXXXX";
        path_ = mkdtemp(pattern);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    std::string operator/(const char* name) const { return join_path(path_, name); }

private:
    std::string path_;
};

TEST(ExitCodes, WrongUsageIsTwo) {
    EXPECT_EQ(fovea({"data"}).code, 2);
    EXPECT_NE(fovea({"data"}).err.find("It takes `check`"), std::string::npos);
    EXPECT_EQ(fovea({"eval"}).code, 2);
    EXPECT_EQ(fovea({"train"}).code, 2);
    EXPECT_EQ(fovea({"bench", "kernels", "--format", "xml"}).code, 2);
}

TEST(ExitCodes, BadDataIsThree) {
    const Folder folder;
    write_file_atomically(folder / "bad.tsv", "one\ttwo\nonly one column\n");
    EXPECT_EQ(fovea({"data", "check", folder / "bad.tsv"}).code, 3);
    write_file_atomically(folder / "config.json", "{");
    write_file_atomically(folder / "model.safetensors", "short");
    EXPECT_EQ(fovea({"translate", folder / "."}).code, 3);
}

TEST(ExitCodes, WhatIsNotThereIsFour) {
    const Outcome text = fovea({"data", "check", "/no/such/file.tsv"});
    EXPECT_EQ(text.code, 4);
    EXPECT_EQ(text.out, "");
    EXPECT_NE(text.err.find("/no/such/file.tsv"), std::string::npos);
    const Outcome json = fovea({"eval", "/no/such/model", "--test", "x.tsv", "--json"});
    EXPECT_EQ(json.code, 4);
    EXPECT_EQ(parse_json(json.err, "stderr").at("error").at("code"), "not_found");
}

// Sends the signal once the program has said something, so that its handlers are in place.
int code_after(int signal_number) {
    bool sent = false;
    return fovea({"bench", "kernels", "--no-peer", "--only", "layer_norm"},
                 {.poll =
                      [&](pid_t child, const std::string& out) {
                          if (!sent && !out.empty()) sent = kill(child, signal_number) == 0;
                      }})
        .code;
}

TEST(ExitCodes, SignalsAre130And143) {
    EXPECT_EQ(code_after(SIGINT), 130);
    EXPECT_EQ(code_after(SIGTERM), 143);
}

}  // namespace
}  // namespace fovea::test
