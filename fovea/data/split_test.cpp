#include "fovea/data/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/rewrite.h"

namespace fovea {
namespace {

std::vector<std::uint64_t> numbered(int count) {
    std::vector<std::uint64_t> hashes;
    for (int i = 0; i < count; ++i) hashes.push_back(record_hash({"record", std::to_string(i)}));
    return hashes;
}

TEST(Split, TheRuleOfTraining) {
    EXPECT_TRUE(dev_split(numbered(199)).empty());
    EXPECT_EQ(dev_split(numbered(200)).size(), 10u);
    EXPECT_EQ(dev_split(numbered(1999)).size(), 99u);
    EXPECT_EQ(dev_split(numbered(30000)).size(), 1000u);
    EXPECT_EQ(dev_split(numbered(30000), {.at_most = 0}).size(), 1500u);
    EXPECT_NE(dev_split(numbered(1000)), dev_split(numbered(1000), {.seed = 1}));
    EXPECT_THROW(dev_split(numbered(5), {.share = 1}), Error);
}

// Neither the order of the file nor how often it is split changes who is held out.
TEST(Split, GoesByContentAlone) {
    std::vector<std::uint64_t> hashes = numbered(1000);
    for (int i = 0; i < 300; ++i) hashes.push_back(hashes[static_cast<std::size_t>(i)]);  // repeats
    const auto held_out = [](const std::vector<std::uint64_t>& all) {
        std::set<std::uint64_t> out, in(all.begin(), all.end());
        for (const std::size_t i : dev_split(all)) out.insert(all[i]);
        return out;
    };
    const std::set<std::uint64_t> first = held_out(hashes);
    std::vector<std::uint64_t> turned(hashes.rbegin(), hashes.rend());
    EXPECT_EQ(held_out(turned), first);
    const std::vector<std::size_t> dev = dev_split(hashes);
    EXPECT_TRUE(std::is_sorted(dev.begin(), dev.end()));
    EXPECT_LE(dev.size(), 65u);
    EXPECT_GE(dev.size(), 63u);
    const std::set<std::size_t> inside(dev.begin(), dev.end());
    for (std::size_t i = 0; i < hashes.size(); ++i)
        EXPECT_EQ(inside.count(i) > 0, first.count(hashes[i]) > 0);
}

TEST(Split, OneRecordAtATime) {
    int inside = 0;
    for (const std::uint64_t h : numbered(20000)) inside += in_dev_split(h, 0.05);
    EXPECT_NEAR(inside, 1000, 160);  // five deviations of 31
    EXPECT_FALSE(in_dev_split(record_hash({"x"}), 0));
    EXPECT_TRUE(in_dev_split(record_hash({"x"}), 1));
    EXPECT_NE(record_hash({"ab", "c"}), record_hash({"a", "bc"}));
}

class Rewrite : public testing::Test {
protected:
    void SetUp() override {
        std::filesystem::remove_all(folder_);
        make_folders(folder_);
    }
    std::string put(const std::string& name, const std::string& text) {
        write_file_atomically(join_path(folder_, name), text);
        return join_path(folder_, name);
    }
    std::string dedupe(const RewriteFiles& files) {
        std::string out;
        dedupe_file(files, [&](std::size_t, std::string_view text) { out += text; });
        return out;
    }
    const std::string folder_ = testing::TempDir() + "/fovea_rewrite";
};

std::vector<std::string> lines_in(const std::string& path) {
    std::vector<std::string> lines;
    LineReader in(path);
    for (std::string line; in.next(line);) lines.push_back(line);
    return lines;
}

TEST_F(Rewrite, SplitKeepsHeadersQuotesAndEveryRecord) {
    std::string text = "source,target\n";
    std::multiset<std::string> all;
    for (int i = 0; i < 100; ++i) {
        const std::string row = "\"a, " + std::to_string(i % 50) + "\",b";  // each stands twice
        text += row + "\n";
        all.insert(row);
    }
    const std::string out = join_path(folder_, "out");
    SplitOptions options{
        .dev = held_out_size("10%"), .test = held_out_size("6"), .out_folder = out};
    const RewriteFiles files{.path = put("p.csv", text)};
    const SplitReport report = split_file(files, options);
    ASSERT_EQ(report.sets.size(), 3u);
    EXPECT_EQ(report.sets[0].records, 84);
    EXPECT_EQ(report.sets[1].records, 10);
    EXPECT_EQ(report.sets[2].records, 6);
    std::multiset<std::string> written;
    std::set<std::string> seen;
    for (const char* name : {"train.csv", "dev.csv", "test.csv"}) {
        auto lines = lines_in(join_path(out, name));
        ASSERT_FALSE(lines.empty());
        EXPECT_EQ(lines[0], "source,target");
        std::set<std::string> own(lines.begin() + 1, lines.end());
        written.insert(lines.begin() + 1, lines.end());
        for (const std::string& row : own) EXPECT_TRUE(seen.insert(row).second) << row;
    }
    EXPECT_EQ(written, all);
    EXPECT_THROW(split_file(files, options), Error);  // they are there
    const auto dev = lines_in(join_path(out, "dev.csv"));
    options.force = true;
    split_file(files, options);
    EXPECT_EQ(lines_in(join_path(out, "dev.csv")), dev);
    options.seed = 2;
    split_file(files, options);
    EXPECT_NE(lines_in(join_path(out, "dev.csv")), dev);
    for (const std::string& name : list_folder(out))
        EXPECT_EQ(name.find(".tmp"), std::string::npos);
}

TEST_F(Rewrite, SplitOfParallelFilesKeepsSidesTogether) {
    std::string a, b;
    for (int i = 0; i < 40; ++i) {
        a += "text " + std::to_string(i) + "\n";
        b += "Text " + std::to_string(i) + "\n";
    }
    const std::string out = join_path(folder_, "two");
    split_file({.path = put("p.en", a) + "," + put("p.de", b)},
               {.dev = held_out_size("5"), .test = {}, .out_folder = out});
    for (const auto& [set, count] : {std::pair{"train", 35u}, {"dev", 5u}}) {
        const auto en = lines_in(join_path(out, std::string(set) + ".en"));
        const auto de = lines_in(join_path(out, std::string(set) + ".de"));
        ASSERT_EQ(en.size(), count);
        ASSERT_EQ(de.size(), count);
        for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(en[i].substr(1), de[i].substr(1));
    }
}

TEST_F(Rewrite, SplitRefusesWhatMakesNoSense) {
    const std::string path = put("few.tsv", "a\tb\nc\td\n");
    const auto kind = [&](const std::string& from, const HeldOutSize& dev) {
        try {
            split_file({.path = from},
                       {.dev = dev, .test = {}, .out_folder = join_path(folder_, "no")});
        } catch (const Error& e) {
            return e.kind();
        }
        return ErrorKind::failed;
    };
    EXPECT_EQ(kind(path, held_out_size("2")), ErrorKind::usage);  // nothing left
    EXPECT_EQ(kind(folder_, held_out_size("1")), ErrorKind::usage);
    EXPECT_EQ(kind(put("bad.tsv", "a\tb\n\n"), held_out_size("1")), ErrorKind::bad_input);
    EXPECT_FALSE(file_exists(join_path(folder_, "no")));
    for (const char* size : {"", "0", "-5", "101%", "0%", "x", "2.5", "nan", "1e99"})
        EXPECT_THROW(held_out_size(size), Error) << size;
}

TEST_F(Rewrite, DedupeKeepsTheFirst) {
    const std::string tsv = "en\tde\na b\tx\na b\ty\na b\tx\nc\tx\n";
    EXPECT_EQ(dedupe({.path = put("d.tsv", tsv)}), "en\tde\na b\tx\na b\ty\nc\tx\n");
    EXPECT_EQ(dedupe({.path = put("d.tsv", tsv), .by = SameBy::source}), "en\tde\na b\tx\nc\tx\n");
    EXPECT_EQ(dedupe({.path = put("d.tsv", tsv), .by = SameBy::source, .source_key = "de"}),
              "en\tde\na b\tx\na b\ty\n");
    // In JSON the order of keys says nothing; a key that comes later does not make a difference.
    EXPECT_EQ(dedupe({.path = put("d.jsonl",
                                  "{\"a\": 1, \"b\": 2}\n{\"c\": 3}\n{\"b\": 2, \"a\": 1}\n"
                                  "{\"a\": 1, \"b\": \"2\", \"c\": 4}\n")}),
              "{\"a\": 1, \"b\": 2}\n{\"c\": 3}\n{\"a\": 1, \"b\": \"2\", \"c\": 4}\n");
}

}  // namespace
}  // namespace fovea
