// Every command in a block marked ```sh run of the documents works as written.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "fovea/base/files.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

struct Block {
    std::string file, script;
    std::int64_t line;
};

std::vector<Block> runnable_blocks(const std::string& path) {
    std::vector<Block> blocks;
    LineReader reader(path);
    bool inside = false;
    for (std::string line; reader.next(line);) {
        if (!inside && line == "```sh run") {
            inside = true;
            blocks.push_back({path, "", reader.line_number()});
        } else if (inside && line == "```") {
            inside = false;
        } else if (inside) {
            blocks.back().script += line + "\n";
        }
    }
    return blocks;
}

TEST(Docs, RunnableCommandsRun) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "trains for half an hour under a sanitizer; the verbs have tests of their own";
#endif
    std::vector<std::string> files;
    for (const char* folder : {FOVEA_SOURCE_DIR, FOVEA_SOURCE_DIR "/docs"}) {
        if (!is_folder(folder)) continue;
        for (const std::string& name : list_folder(folder))
            if (name.ends_with(".md")) files.push_back(join_path(folder, name));
    }
    char pattern[] = "/tmp/fovea-docs-XXXXXX";
    const std::string work = mkdtemp(pattern);
    int ran = 0;
    for (const std::string& file : files) {
        for (const Block& block : runnable_blocks(file)) {
            const Outcome o =
                run({"bash", "-euc",
                     "cd " + work + "; PATH=$(dirname " FOVEA_BINARY "):$PATH\n" + block.script});
            EXPECT_EQ(o.code, 0) << file << ":" << block.line << "\n" << block.script << o.err;
            ++ran;
        }
    }
    std::filesystem::remove_all(work);
    EXPECT_GE(ran, 1) << "the README should have a runnable block";
}

}  // namespace
}  // namespace fovea::test
