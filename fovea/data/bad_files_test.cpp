// Data files as they come: odd but right ones are read, broken ones give one clear error each that
// names the file and, where there is one, the line.
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/rng.h"
#include "fovea/base/utf8.h"
#include "fovea/data/pairs.h"

namespace fovea {
namespace {

const std::string& folder() {
    static const std::string path = [] {
        const std::string p = testing::TempDir() + "/fovea_bad_files";
        std::filesystem::remove_all(p);
        make_folders(p);
        return p;
    }();
    return path;
}

std::string put(const std::string& name, const std::string& bytes) {
    const std::string path = join_path(folder(), name);
    write_file_atomically(path, bytes);
    return path;
}

std::string gzipped(const std::string& bytes) {
    const std::string path = join_path(folder(), "making.gz");
    gzFile f = gzopen(path.c_str(), "wb");
    gzwrite(f, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(f);
    return read_file(path);
}

TEST(DataFiles, OddButRightFilesAreRead) {
    std::string long_line;
    long_line.resize(10'000'000, 'x');
    struct Case {
        std::string name, bytes;
        std::size_t pairs;
        std::string last_target;
    };
    for (const Case& c : {
             Case{"crlf.tsv", "a\tb\r\nc\td\r\n", 2, "d"},
             Case{"bom.tsv",
                  "\xEF\xBB\xBF"
                  "a\tb\n",
                  1, "b"},
             Case{"no_newline.tsv", "a\tb\nc\td", 2, "d"},
             Case{"more_columns.tsv", "a\tb\tc\nd\te\n", 2, "e"},
             Case{"empty_side.tsv", "a\t\n", 1, ""},
             Case{"spaces.tsv", " a \t b \n", 1, " b "},
             Case{"long.tsv", long_line + "\t" + long_line + "\n", 1, long_line},
             Case{"nul.tsv", std::string("a\0b\tc\n", 6), 1, "c"},
             Case{"astral.tsv", "\xF0\x9F\x98\x80\t\xF4\x8F\xBF\xBF\n", 1, "\xF4\x8F\xBF\xBF"},
             Case{"quoted.csv", "\"a\nb\",\"c\"\"d\"\r\n", 1, "c\"d"},
             Case{"quote_inside.csv", "a\"b,c\n", 1, "c"},
             Case{"zipped.tsv.gz", gzipped("a\tb\nc\td\n"), 2, "d"},
             Case{"zipped_twice.tsv.gz", gzipped("a\tb\n") + gzipped("c\td\n"), 2, "d"},
             Case{"plain_named_gz.tsv.gz", "a\tb\n", 1, "b"},
             Case{"escapes.jsonl", "{\"src\":\"\\u00e4\\ud83d\\ude00\",\"tgt\":\"\\n\"}\n", 1,
                  "\n"},
             Case{"summary.jsonl", "{\"text\":\"long\",\"summary\":\"s\",\"id\":3}\n", 1, "s"},
         }) {
        const auto pairs = read_pairs(pair_files_of(put(c.name, c.bytes)));
        ASSERT_EQ(pairs.size(), c.pairs) << c.name;
        EXPECT_EQ(pairs.back().target, c.last_target) << c.name;
    }
    EXPECT_EQ(read_pairs(pair_files_of(
                  put("escapes.jsonl", "{\"src\":\"\\u00e4\\ud83d\\ude00\",\"tgt\":\"x\"}")))[0]
                  .source,
              "ä😀");
}

TEST(DataFiles, EachBrokenFileIsOneClearError) {
    struct Case {
        std::string name, bytes, wanted;
    };
    const std::string zipped = gzipped(std::string(5000, 'a') + "\tb\n");
    std::string flipped = zipped;
    flipped[zipped.size() - 6] = static_cast<char>(flipped[zipped.size() - 6] ^ 1);  // of the CRC
    std::string deep;
    for (int i = 0; i < 100; ++i) deep += "[";
    std::vector<Case> cases{
        {"e1.tsv", "", "holds no pair"},
        {"e2.csv", "", "holds no pair"},
        {"e3.jsonl", "", "holds no pair"},
        {"e4.tsv", "\n", ":1: the line is empty"},
        {"e5.tsv", "a\tb\nc\n", ":2: 1 column"},
        {"e6.tsv", "a b\n", ":1: 1 column"},
        {"e7.tsv", "a\tb\n\n", ":2: the line is empty"},
        {"u1.tsv", "a\tb\nc\t\x80\n", ":2: the text is not valid UTF-8"},
        {"u2.tsv", "\xC0\xAF\tb\n", ":1: the text is not valid UTF-8"},
        {"u3.tsv", "\xED\xA0\x80\tb\n", ":1: the text is not valid UTF-8"},
        {"u4.tsv", "a\t\xE4\xB8\n", ":1: the text is not valid UTF-8"},
        {"u5.tsv", "a\t\xF4\x90\x80\x80\n", ":1: the text is not valid UTF-8"},
        {"u6.tsv", "a\t\xF8\x88\x80\x80\x80\n", ":1: the text is not valid UTF-8"},
        {"u7.tsv",
         "\xFF\xFE"
         "a\tb\n",
         ":1: the text is not valid UTF-8"},                        // UTF-16
        {"u8.csv", "a,\xE9\n", ":1: the text is not valid UTF-8"},  // Latin-1
        {"q1.csv", "a,b\nc,\"d\n", ":2: a quoted field is never closed"},
        {"q2.csv", "\"a\"b,c\n", ":1: text stands behind a closing quote"},
        {"q3.csv", "a,b\nc\n", ":2: 1 column"},
        {"j1.jsonl", "{\"src\":\"a\",\"tgt\":\"b\"}\n{\"src\":\"a\"\n", ":2: "},
        {"j2.jsonl", "[1,2]\n", ":1: "},
        {"j3.jsonl", "null\n", ":1: "},
        {"j4.jsonl", "{\"src\":\"a\",\"tgt\":\"b\"}\n{\"src\":\"a\"}\n",
         ":2: no text under \"tgt\""},
        {"j5.jsonl", "{\"src\":1,\"tgt\":\"b\"}\n", ":1: no text under \"src\""},
        {"j6.jsonl", "{\"src\":\"a\",\"src\":\"b\",\"tgt\":\"c\"}\n", ":1: "},
        {"j7.jsonl", deep + "\n", "nested deeper"},
        {"j8.jsonl", "{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}\n", "cannot tell which keys"},
        {"j9.jsonl", "{\"translation\":\"x\"}\n", ":1: "},
        {"j10.jsonl", "{\"src\":\"\\ud800\",\"tgt\":\"b\"}\n", ":1: "},
        {"j11.jsonl", "\n", ":1: "},
        {"j12.jsonl", "{\"src\":\"a\",\"tgt\":null}\n", ":1: no text under \"tgt\""},
        {"g1.tsv.gz", zipped.substr(0, zipped.size() / 2), "cannot read"},
        {"g2.tsv.gz", flipped, "cannot read"},
        {"n1.parquet", "PAR1", "cannot tell what kind of file"},
        {"n2", "a\tb\n", "cannot tell what kind of file"},
    };
    for (const Case& c : cases) {
        const std::string path = put(c.name, c.bytes);
        try {
            read_pairs(pair_files_of(path));
            ADD_FAILURE() << c.name << " was accepted";
        } catch (const Error& e) {
            const std::string what = e.what();
            EXPECT_NE(what.find(c.wanted), std::string::npos) << c.name << ": " << what;
            EXPECT_EQ(what.rfind(path, 0), 0u) << what;
            EXPECT_EQ(what.find(path, 1), std::string::npos) << "twice: " << what;
            EXPECT_EQ(what.find('\n'), std::string::npos) << what;
            EXPECT_TRUE(e.kind() == ErrorKind::bad_input || e.kind() == ErrorKind::usage) << what;
        }
    }
}

TEST(DataFiles, MissingFilesAndUnequalSides) {
    const auto kind_of = [](const std::string& argument) {
        try {
            read_pairs(pair_files_of(argument));
        } catch (const Error& e) {
            return e.kind();
        }
        return ErrorKind::failed;
    };
    const std::string a = put("a.en", "1\n2\n"), b = put("b.de", "1\n2\n3\n"),
                      bad = put("c.de", "1\n\xff\n");
    EXPECT_EQ(kind_of(join_path(folder(), "none.tsv")), ErrorKind::not_found);
    EXPECT_EQ(kind_of(a + "," + join_path(folder(), "none")), ErrorKind::not_found);
    EXPECT_EQ(kind_of(a + "," + folder()), ErrorKind::not_found);
    EXPECT_EQ(kind_of(a + "," + b), ErrorKind::bad_input);
    EXPECT_EQ(kind_of(b + "," + a), ErrorKind::bad_input);
    try {
        read_pairs(pair_files_of(a + "," + bad));
        ADD_FAILURE();
    } catch (const Error& e) {
        EXPECT_EQ(std::string(e.what()), bad + ":2: the text is not valid UTF-8");
    }
}

// Random bytes in every format: an error or pairs of valid text, never anything else.
TEST(DataFiles, RandomBytesNeverCrash) {
    Rng rng(6);
    const std::string alphabet = "ab\t\n\r\",{}[]:\\u0\xC3\xA4\xFF\x80";
    for (int round = 0; round < 600; ++round) {
        std::string bytes;
        for (std::int64_t n = rng.below(60); n > 0; --n)
            bytes.push_back(alphabet[static_cast<std::size_t>(
                rng.below(static_cast<std::int64_t>(alphabet.size())))]);
        for (const char* name : {"r.tsv", "r.csv", "r.jsonl"}) {
            PairFiles f = pair_files_of(join_path(folder(), name));
            std::filesystem::remove(f.path);
            FILE* out = std::fopen(f.path.c_str(), "wb");
            std::fwrite(bytes.data(), 1, bytes.size(), out);
            std::fclose(out);
            f.skip_bad = rng.below(3);
            try {
                for (const TextPair& p : read_pairs(f)) {
                    EXPECT_TRUE(is_utf8(p.source));
                    EXPECT_TRUE(is_utf8(p.target));
                }
            } catch (const Error& e) {
                EXPECT_NE(e.kind(), ErrorKind::failed) << e.what();
            }
        }
    }
}

}  // namespace
}  // namespace fovea
