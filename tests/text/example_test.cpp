// The example of twenty lines, built by examples/CMakeLists.txt, does what its first line says.
#include <gtest/gtest.h>

#include "committed.h"
#include "tests/run_program.h"

namespace fovea {
namespace {

std::string expected(const Tokenizer& t, const std::string& line) {
    std::string out;
    const Encoding e = t.encode(line);
    for (std::size_t i = 0; i < e.size(); ++i)
        out += std::to_string(e.ids[i]) + "\t" + e.tokens[i] + "\t" +
               std::to_string(e.offsets[i].begin) + "-" + std::to_string(e.offsets[i].end) + "\n";
    return out;
}

TEST(Example, TokenizesAnArgumentOrLines) {
    const TemporaryFile file("example.json");
    write_file_atomically(file.path, committed_bytes("bert-uncased.json"));
    const Tokenizer t = Tokenizer::load(file.path);

    const std::string line = "The Old river, again!";
    const test::Outcome one = test::run({FOVEA_EXAMPLE_TOKENIZE, file.path, line});
    EXPECT_EQ(one.code, 0) << one.err;
    EXPECT_EQ(one.out, expected(t, line));
    EXPECT_NE(one.out.find("[CLS]\t0-0\n"), std::string::npos) << one.out;
    EXPECT_NE(one.out.find("\tt\t0-1\n"), std::string::npos) << one.out;

    const test::Outcome two =
        test::run({FOVEA_EXAMPLE_TOKENIZE, file.path}, {.input = "one\ntwo words"});
    EXPECT_EQ(two.code, 0) << two.err;
    EXPECT_EQ(two.out, expected(t, "one") + expected(t, "two words"));

    const test::Outcome none = test::run({FOVEA_EXAMPLE_TOKENIZE, "/nowhere/tokenizer.json", "x"});
    EXPECT_EQ(none.code, 1);
    EXPECT_NE(none.err.find("/nowhere/tokenizer.json"), std::string::npos) << none.err;
}

TEST(Example, HasAboutTwentyLines) {
    const std::string source = read_file(std::string(FOVEA_SOURCE_DIR) + "/examples/tokenize.cpp");
    EXPECT_LE(std::count(source.begin(), source.end(), '\n'), 25);
}

}  // namespace
}  // namespace fovea
