#include "fovea/text/train/train_corpus.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea {
namespace {

class TrainCorpus : public testing::Test {
protected:
    void SetUp() override { make_folders(folder); }
    void TearDown() override {
        for (const std::string& name : list_folder(folder)) unlink((folder + "/" + name).c_str());
        rmdir(folder.c_str());
    }
    std::string write(const std::string& name, const std::string& bytes) const {
        write_file_atomically(folder + "/" + name, bytes);
        return folder + "/" + name;
    }
    const std::string folder = "/tmp/fovea-corpus-" + std::to_string(getpid());
};

std::vector<std::string> lines_of(const std::string& path, bool keep_newlines) {
    CorpusReader reader(path, keep_newlines);
    std::vector<std::string> lines;
    for (std::string line; reader.next(line); line.clear()) lines.push_back(line);
    return lines;
}

TEST_F(TrainCorpus, ReadsLinesOfAllKinds) {
    using Lines = std::vector<std::string>;
    EXPECT_EQ(lines_of(write("a", "x\ny\r\n\nz"), false), (Lines{"x", "y", "", "z"}));
    EXPECT_EQ(lines_of(write("b", "x\ny\r\n\nz"), true), (Lines{"x\n", "y\r\n", "\n", "z"}));
    EXPECT_EQ(lines_of(write("c", "\xEF\xBB\xBFx\n"), false), (Lines{"x"}));
    EXPECT_EQ(lines_of(write("d", ""), false), Lines{});
    const std::string packed = folder + "/e.gz";
    gzFile gz = gzopen(packed.c_str(), "wb");
    gzputs(gz, "one\ntwo\n");
    gzclose(gz);
    EXPECT_EQ(lines_of(packed, false), (Lines{"one", "two"}));
    const std::string bytes = read_file(packed);
    EXPECT_THROW(lines_of(write("f.gz", bytes.substr(0, bytes.size() - 9)), false), Error);
    EXPECT_THROW(lines_of(folder + "/none", false), Error);
    EXPECT_THROW(lines_of(folder, false), Error);
}

TEST_F(TrainCorpus, CutsLinesThatAreTooLongBetweenCharacters) {
    std::string text;
    while (text.size() < 3 * CorpusReader::usual_longest_line) text += "\xE4\xB8\xAD";
    text += "\nshort\n";
    std::string joined;
    for (const std::string& part : lines_of(write("long", text), true)) {
        EXPECT_LE(part.size(), CorpusReader::usual_longest_line);
        EXPECT_NE(part[0] & '\xC0', '\x80') << "begins inside a character";
        joined += part;
    }
    EXPECT_EQ(joined, text);
    text.assign(CorpusReader::usual_longest_line + 10, 'x');
    text[1000] = ' ';
    const auto parts = lines_of(write("spaced", text), false);
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(parts[0].size(), 1001u);
}

// What reading a file of these bytes says, and its hint.
std::pair<std::string, std::string> refusal(const std::string& path) {
    try {
        lines_of(path, false);
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::bad_input);
        return {e.what(), e.hint()};
    }
    return {};
}

TEST_F(TrainCorpus, RefusesWhatIsNotUtf8NamingTheLineAndTheEncoding) {
    const std::string latin = write("latin", "one\ntwo\nDer Caf\xE9-Besitzer\n");
    const auto [what, hint] = refusal(latin);
    EXPECT_EQ(what, latin + ":3: the text is not UTF-8");
    EXPECT_NE(hint.find("iconv -f ISO-8859-1 -t UTF-8 " + latin), std::string::npos) << hint;

    // a byte beyond the part of a long line that is read at once
    std::string text(CorpusReader::usual_longest_line + 10, 'x');
    text += "\xFF";
    EXPECT_EQ(refusal(write("long", "a\n" + text)).first,
              folder + "/long:2: the text is not UTF-8");

    std::string wide = "\xFF\xFE";
    for (const char c : std::string("hello world\n")) (wide += c) += '\0';
    EXPECT_NE(refusal(write("wide", wide)).second.find("UTF-16"), std::string::npos);
    EXPECT_NE(refusal(write("wide2", wide.substr(2))).second.find("UTF-16LE"), std::string::npos);
}

TEST_F(TrainCorpus, RefusesBinaryFiles) {
    const std::string self = "/proc/self/exe";  // a program: the ELF file of this test
    const auto [what, hint] = refusal(self);
    EXPECT_EQ(what, self + ": is not a text file");
    EXPECT_NE(hint.find("binary"), std::string::npos) << hint;
    // one stray NUL does not make a file binary
    const auto lines =
        lines_of(write("nul", std::string("a line with a \0 in its middle\n", 30)), false);
    EXPECT_EQ(lines.size(), 1u);
}

}  // namespace
}  // namespace fovea
