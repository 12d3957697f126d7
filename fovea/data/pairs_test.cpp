#include "fovea/data/pairs.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea {
namespace {

std::string file(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + "/fovea_pairs_" + name;
    write_file_atomically(path, text);
    return path;
}

TEST(Pairs, EveryFormatGivesTheSame) {
    const std::string tsv = file("a.tsv", "one\teins\nt,wo\tzw\"ei\n");
    const std::string csv = file("a.csv", "one,eins\n\"t,wo\",\"zw\"\"ei\"\n");
    const std::string jsonl = file("a.jsonl",
                                   "{\"translation\": {\"en\": \"one\", \"de\": \"eins\"}}\n"
                                   "{\"translation\": {\"en\": \"t,wo\", \"de\": \"zw\\\"ei\"}}\n");
    const std::string en = file("a.en", "one\nt,wo\n"), de = file("a.de", "eins\nzw\"ei\n");
    for (const std::string& argument : {tsv, csv, jsonl, en + "," + de}) {
        const auto pairs = read_pairs(pair_files_of(argument));
        ASSERT_EQ(pairs.size(), 2u) << argument;
        EXPECT_EQ(pairs[1].source, "t,wo");
        EXPECT_EQ(pairs[1].target, "zw\"ei");
        EXPECT_EQ(pairs[1].line, 2);
    }
}

TEST(Pairs, HeadersColumnsReverseAndLimit) {
    PairFiles f = pair_files_of(file("h.csv", "id,de,en\n1,eins,one\n2,zwei,two\n"));
    f.source_key = "en";
    f.target_key = "de";
    EXPECT_EQ(read_pairs(f)[1].source, "two");
    f.reverse = true;
    f.limit = 1;
    EXPECT_EQ(read_pairs(f).size(), 1u);
    EXPECT_EQ(read_pairs(f)[0].source, "eins");
    f.source_key = "fr";
    EXPECT_THROW(read_pairs(f), Error);
}

// The header never counts as a pair, and ids are never learned in silence.
TEST(Pairs, HeadersAndIdsAreSeen) {
    struct Case {
        std::string name, text, source, target, note;
    };
    for (const Case& c :
         {Case{"n1.csv", "id,english,german\n1,one,eins\n2,t wo,zwei\n", "one", "eins",
               "source from column 'english', target from column 'german'; not used: column 'id'"},
          Case{"n2.csv", "source,target\none,eins\nt wo,zwei\n", "one", "eins", "'source'"},
          Case{"n3.tsv", "target\tsource\neins\tone\nzwei\tt wo\n", "one", "eins", "'source'"},
          Case{"n4.tsv", "1\tone\teins\n2\tt wo\tzwei\n", "one", "eins", "not used: column 1"},
          Case{"n5.tsv", "3\tone\t7\teins\n4\tt wo\t5\tzwei\n", "one", "eins", "column 4"},
          Case{"n6.csv", "licence,english,german\nx,one,eins\nx,t wo,zwei\n", "one", "eins",
               "'german'"},
          Case{"n7.jsonl",
               "{\"id\":1,\"x\":\"one\",\"y\":\"eins\"}\n"
               "{\"id\":2,\"x\":\"t wo\",\"y\":\"zwei\"}\n",
               "one", "eins", "key 'x'"},
          Case{"n8.tsv", "one\teins\nt wo\tzwei\n", "one", "eins", ""}}) {
        Problems problems;
        const auto pairs = read_pairs(pair_files_of(file(c.name, c.text)), &problems);
        ASSERT_EQ(pairs.size(), 2u) << c.name;
        EXPECT_EQ(pairs[0].source, c.source) << c.name;
        EXPECT_EQ(pairs[0].target, c.target) << c.name;
        ASSERT_EQ(problems.notes.size(), c.note.empty() ? 0u : 1u) << c.name;
        if (!c.note.empty()) {
            EXPECT_NE(problems.notes[0].find(c.note), std::string::npos) << problems.notes[0];
        }
    }
    try {
        read_pairs(pair_files_of(file("n9.csv", "text,title,url\na b,c d,e\nf,g,h\n")));
        ADD_FAILURE();
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("\"text\", \"title\", \"url\""), std::string::npos)
            << e.what();
        EXPECT_NE(e.hint().find("--source-key text --target-key title"), std::string::npos);
    }
}

TEST(Pairs, OneKeyFindsItsPartner) {
    PairFiles f = pair_files_of(file("k.csv", "id,english,german\n1,one,eins\n2,t wo,zwei\n"));
    f.source_key = "German";
    EXPECT_EQ(read_pairs(f)[0].source, "eins");
    EXPECT_EQ(read_pairs(f)[0].target, "one");
    f.source_key = "";
    f.target_key = "english";
    EXPECT_EQ(read_pairs(f)[0].source, "eins");
}

TEST(Pairs, SeveralFilesEachWithColumnsOfItsOwn) {
    PairFiles f = pair_files_of(file("m1.csv", "english,german\none,eins\n"));
    f.more_paths = {file("m2.tsv", "two\tzwei\n"),
                    file("m3.en", "three\n") + "," + file("m3.de", "drei\n"),
                    file("m4.csv", "german,english,id\nvier,four,4\n")};
    const auto pairs = read_pairs(f);
    ASSERT_EQ(pairs.size(), 4u);
    EXPECT_EQ(pairs[2].source, "three");
    EXPECT_EQ(pairs[3].source, "vier");
    f.limit = 3;
    EXPECT_EQ(read_pairs(f).size(), 3u);
    f.limit = 0;
    f.source_key = "english";
    f.target_key = "german";
    f.more_paths = {f.more_paths[2]};
    EXPECT_EQ(read_pairs(f)[1].source, "four");
}

TEST(Pairs, LeadIsTheSourcesFirstWords) {
    PairFiles f = pair_files_of(file("l.tsv", "one  two three\tx\nfour\ty\n"));
    f.lead = 2;
    EXPECT_EQ(read_pairs(f)[0].target, "one two");
    EXPECT_EQ(read_pairs(f)[1].target, "four");
    EXPECT_EQ(read_pairs(f)[0].source, "one  two three");
}

TEST(Pairs, BadLinesNameFileAndLine) {
    struct Case {
        const char *name, *text, *expect;
    };
    for (const Case& c :
         {Case{"b1.tsv", "a\tb\nonly one\n", ":2: 1 column, but 2"},
          Case{"b2.tsv", "a\tb\n\nc\td\n", ":2: the line is empty"},
          Case{"b3.tsv", "a\tb\nc\t\xff\xfe\n", ":2: the text is not valid UTF-8"},
          Case{"b4.csv", "a,\"b\n", ":1: a quoted field is never closed"},
          Case{"b5.csv", "a,\"b\"c\n", ":1: text stands behind a closing quote"},
          Case{"b6.jsonl", "{\"src\":\"a\",\"tgt\":\"b\"}\n{\n", ":2: "},
          Case{"b7.jsonl", "{\"src\":\"a\",\"tgt\":5}\n", ":1: no text under \"tgt\""},
          Case{"b8.tsv", "", "holds no pair"}, Case{"b9.xyz", "a\tb\n", "cannot tell"}}) {
        try {
            read_pairs(pair_files_of(file(c.name, c.text)));
            ADD_FAILURE() << c.name;
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find(c.expect), std::string::npos) << e.what();
            EXPECT_NE(std::string(e.what()).find(c.name), std::string::npos) << e.what();
        }
    }
    PairFiles f = pair_files_of(file("skip.tsv", "a\tb\nbad\nc\td\n"));
    f.skip_bad = 1;
    PairProblems p;
    EXPECT_EQ(read_pairs(f, &p).size(), 2u);
    EXPECT_EQ(p.skipped, 1);
    EXPECT_THROW(read_pairs(pair_files_of(file("x.en", "a\nb\n") + "," + file("x.de", "a\n"))),
                 Error);
}

// Files are often sorted by length: a draw has pairs of all of it, in its order, by the seed alone.
TEST(Pairs, ADrawIsASampleOfTheWholeFile) {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += std::to_string(i) + "\tx\n";
    const PairFiles f = pair_files_of(file("sorted.tsv", text));
    const auto numbers = [&](std::int64_t count, std::uint64_t seed) {
        std::vector<int> n;
        for (const TextPair& p : draw_pairs(f, count, seed)) n.push_back(std::stoi(p.source));
        return n;
    };
    const std::vector<int> a = numbers(100, 7);
    ASSERT_EQ(a.size(), 100u);
    EXPECT_TRUE(std::is_sorted(a.begin(), a.end()));
    EXPECT_EQ(std::adjacent_find(a.begin(), a.end()), a.end());
    EXPECT_EQ(a, numbers(100, 7));
    EXPECT_NE(a, numbers(100, 8));
    // Every number is as likely as any other: over 40 draws each quarter of the file is drawn
    // about 1,000 times (deviation 27).
    std::array<int, 4> quarters{};
    for (std::uint64_t seed = 0; seed < 40; ++seed)
        for (const int n : numbers(100, seed)) ++quarters[static_cast<std::size_t>(n / 250)];
    for (const int q : quarters) EXPECT_NEAR(q, 1000, 110);
    EXPECT_EQ(numbers(5000, 1).size(), 1000u);
    EXPECT_EQ(draw_pairs(f, 1000, 1).size(), 1000u);
    EXPECT_THROW(draw_pairs(pair_files_of(file("empty.tsv", "")), 5, 1), Error);
}

}  // namespace
}  // namespace fovea
