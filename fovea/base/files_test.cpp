#include "fovea/base/files.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "fovea/base/error.h"
#include "fovea/base/json.h"

namespace fovea {
namespace {

std::string temporary(const std::string& name) { return testing::TempDir() + "/fovea_" + name; }

TEST(Files, WriteThenRead) {
    const std::string path = temporary("a.bin"), bytes("a\0b\nc", 5);
    write_file_atomically(path, bytes);
    EXPECT_EQ(read_file(path), bytes);
    write_file_atomically(path, "new");
    EXPECT_EQ(read_file(path), "new");
    EXPECT_THROW(read_file(path, 2), Error);
}

TEST(Files, MissingAndFolderAreNotFound) {
    for (const std::string path : {"/no/such/file", "/tmp"}) {
        try {
            read_file(path);
            FAIL();
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::not_found);
            EXPECT_NE(std::string(e.what()).find(path), std::string::npos);
        }
    }
}

TEST(Files, LinesKeepNumbersAndDropEndings) {
    const std::string path = temporary("lines.txt");
    write_file_atomically(path, "\xEF\xBB\xBFone\r\n\nthree");
    LineReader r(path);
    std::string line;
    ASSERT_TRUE(r.next(line));
    EXPECT_EQ(line, "one");
    ASSERT_TRUE(r.next(line));
    EXPECT_EQ(line, "");
    ASSERT_TRUE(r.next(line));
    EXPECT_EQ(line, "three");
    EXPECT_EQ(r.line_number(), 3);
    EXPECT_FALSE(r.next(line));
}

TEST(Files, LinesOfEveryLengthAcrossBufferBorders) {
    const std::string path = temporary("long.txt");
    std::string all;
    for (int n = 0; n < 300; ++n) all += std::string(static_cast<std::size_t>(n * 7), 'x') + "\n";
    write_file_atomically(path, all);
    LineReader r(path);
    std::string line;
    for (int n = 0; n < 300; ++n) {
        ASSERT_TRUE(r.next(line));
        ASSERT_EQ(line.size(), static_cast<std::size_t>(n * 7));
    }
    EXPECT_FALSE(r.next(line));
}

TEST(Files, GzipIsReadAndDamageIsAnError) {
    const std::string path = temporary("z.gz");
    gzFile f = gzopen(path.c_str(), "wb");
    const std::string text(100000, 'q');
    gzwrite(f, text.data(), static_cast<unsigned>(text.size()));
    gzclose(f);
    EXPECT_EQ(read_file_or_gzip(path), text);
    EXPECT_THROW(read_file_or_gzip(path, 5000), Error);
    const std::string raw = read_file(path);
    write_file_atomically(path, raw.substr(0, raw.size() / 2));
    EXPECT_THROW(read_file_or_gzip(path), Error);
}

TEST(Json, StrictReading) {
    EXPECT_EQ(parse_json(R"({"a": [1, 2]})", "t")["a"][1], 2);
    for (const char* bad :
         {"{", "{\"a\":1,\"a\":2}", "[1] x", "{\"a\":{\"b\":1,\"\\u0062\":2}}", ""})
        EXPECT_THROW(parse_json(bad, "t"), Error) << bad;
    EXPECT_THROW(parse_json(std::string(100000, '['), "t"), Error);
}

}  // namespace
}  // namespace fovea
