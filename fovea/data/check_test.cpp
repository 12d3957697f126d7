#include "fovea/data/check.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/data/emails.h"

namespace fovea {
namespace {

std::string file(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + "/fovea_check_" + name;
    write_file_atomically(path, text);
    return path;
}

TEST(DataCheck, CountsWhatIsInTheFiles) {
    const std::string train = file("train.tsv",
                                   "Hello there.\tHallo.\n"
                                   "Hello there.\tHallo.\n"
                                   "Hello there.\tHi du.\n"
                                   "same\tsame\n"
                                   "\tleer\n"
                                   "bad line\n"
                                   "broken \xff\tx\n"
                                   "a b c d e f g h i j\tz\n"
                                   "bell \x07\tb\xEF\xBF\xBD\n");
    const std::string dev = file("dev.tsv",
                                 "Hello there.\tHallo.\n"
                                 "HELLO, there\tNein.\n"
                                 "new\tneu\n");
    const std::vector<NamedFiles> sets{{"train", pair_files_of(train)},
                                       {"dev", pair_files_of(dev)}};
    const DataCheck c = check_data(sets);
    ASSERT_EQ(c.files.size(), 2u);
    const FileCheck& t = c.files[0];
    EXPECT_EQ(t.pairs, 7);
    EXPECT_EQ(t.bad_lines, 2);
    ASSERT_EQ(t.bad_messages.size(), 2u);
    EXPECT_NE(t.bad_messages[0].find("train.tsv:6: 1 column"), std::string::npos);
    EXPECT_NE(t.bad_messages[1].find("train.tsv:7: the text is not valid UTF-8"),
              std::string::npos);
    EXPECT_EQ(t.repeated_pairs, 1);
    EXPECT_EQ(t.repeated_sources, 2);
    EXPECT_EQ(t.copies, 1);
    EXPECT_EQ(t.source.empty, 1);
    EXPECT_EQ(t.odd_ratios, 2);  // ten words to one; none to one
    EXPECT_EQ(t.odd_lines, (std::vector<std::int64_t>{5, 8}));
    EXPECT_EQ(t.source.longest, 10);
    EXPECT_EQ(t.source.longest_line, 8);
    EXPECT_EQ(t.source.shortest, 0);
    EXPECT_EQ(t.source.words, 2 + 2 + 2 + 1 + 0 + 10 + 2);
    EXPECT_EQ(t.source.histogram, (std::vector<std::int64_t>{2, 4, 0, 0, 1}));
    EXPECT_EQ(t.control_characters, 1);
    EXPECT_EQ(t.replacement_characters, 1);
    EXPECT_EQ(t.on_disk.bytes, file_size(train));
    ASSERT_EQ(c.leaks.size(), 1u);
    EXPECT_EQ(c.leaks[0].pairs, 1);
    EXPECT_EQ(c.leaks[0].sources, 1);
    EXPECT_EQ(c.leaks[0].targets, 1);
    EXPECT_EQ(c.leaks[0].sources_nearly, 2);
    EXPECT_EQ(c.leaks[0].lines, (std::vector<std::int64_t>{1, 2}));
    EXPECT_FALSE(c.clean());
    EXPECT_NE(c.text().find("BAD LINES: 2"), std::string::npos);
    EXPECT_NE(c.text().find("NOT CLEAN"), std::string::npos);
    const Json j = parse_json(c.json(), "report");
    EXPECT_EQ(j["files"][0]["pairs"], 7);
    EXPECT_EQ(j["leaks"][0]["pairs"], 1);
    EXPECT_EQ(j["clean"], false);
}

TEST(DataCheck, CleanDataIsCalledClean) {
    const std::vector<NamedFiles> sets{{"train", pair_files_of(file("c.tsv", "a b\tc d\ne\tf\n"))},
                                       {"test", pair_files_of(file("d.tsv", "g\th\n"))}};
    const DataCheck c = check_data(sets);
    EXPECT_TRUE(c.clean());
    EXPECT_NE(c.text().find("clean: no bad lines"), std::string::npos);
}

TEST(DataCheck, FingerprintsTellFilesApart) {
    const std::string a = file("fa", "one"), b = file("fb", "two");
    const auto print = [](std::vector<std::string> paths) { return fingerprint_of_files(paths); };
    EXPECT_EQ(print({a, b}), print({a, b}));
    EXPECT_NE(print({a, b}), print({b, a}));
    EXPECT_NE(print({a}), print({b}));
    const std::string before = print({a});
    file("fa", "onf");
    EXPECT_NE(print({a}), before);
}

TEST(Emails, BodySubjectAndAnnotations) {
    Email m;
    std::int64_t line = 0;
    std::string problem;
    ASSERT_TRUE(
        parse_email("\nDear all,\n\n@home is fine.\r\n\n@subject\nRe: lunch\n\n@ann0\nLunch\n"
                    "\n@ann1\nlunch plans",
                    m, line, problem));
    EXPECT_EQ(m.body, "Dear all,\n\n@home is fine.");
    EXPECT_EQ(m.subject, "Re: lunch");
    EXPECT_EQ(m.annotations, (std::vector<std::string>{"Lunch", "lunch plans"}));
    const std::pair<const char*, const char*> bad[] = {
        {"no marker\n", "no line @subject"},
        {"", "no line @subject"},
        {"x\n@subject\n\n", "the subject is empty"},
        {"x\n@ann0\ny\n", "out of order"},
        {"x\n@subject\ny\n@subject\nz", "out of order"},
        {"x\n@subject\ny\n@ann1\nz", "out of order"},
        {"x\n@subject\ny\n@ann0\n@ann1\nz", "an annotation is empty"}};
    for (const auto& [text, wanted] : bad) {
        EXPECT_FALSE(parse_email(text, m, line, problem)) << text;
        EXPECT_NE(problem.find(wanted), std::string::npos) << text << problem;
    }
}

TEST(Emails, AFolderOfThemIsASetOfPairs) {
    const std::string folder = testing::TempDir() + "/fovea_emails";
    std::filesystem::remove_all(folder);
    make_folders(folder);
    write_file_atomically(folder + "/b.subject", "Body b\n\n@subject\nSub b\n\n@ann0\nMore\n");
    write_file_atomically(folder + "/a.subject", "Body a\n\n@subject\nSub a\n");
    write_file_atomically(folder + "/readme", "not an e-mail");
    PairFiles f = pair_files_of(folder);
    const auto pairs = read_pairs(f);
    ASSERT_EQ(pairs.size(), 2u);
    EXPECT_EQ(pairs[0].source, "Body a");
    EXPECT_EQ(pairs[1].target, "Sub b");
    EXPECT_EQ(pairs[1].also, (std::vector<std::string>{"More"}));
    f.limit = 1;
    EXPECT_EQ(read_pairs(f).size(), 1u);
    f.limit = 0;
    f.reverse = true;  // other subjects are no other bodies
    EXPECT_EQ(read_pairs(f)[1].target, "Body b");
    EXPECT_TRUE(read_pairs(f)[1].also.empty());
    f.reverse = false;
    f.lead = 1;
    EXPECT_EQ(read_pairs(f)[1].target, "Body");
    EXPECT_TRUE(read_pairs(f)[1].also.empty());
    f.lead = 0;
    write_file_atomically(folder + "/c.subject", "nothing");
    try {
        read_pairs(f);
        ADD_FAILURE();
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("c.subject:1: there is no line @subject"),
                  std::string::npos)
            << e.what();
    }
    f.skip_bad = 1;
    EXPECT_EQ(read_pairs(f).size(), 2u);
}

TEST(DataCheck, TheTatoebaSplitHasNoLeaks) {
    const std::string folder = FOVEA_SOURCE_DIR "/../shared/data/tatoeba-deu-eng/";
    if (!file_exists(folder + "test.tsv.gz")) GTEST_SKIP() << "no ../shared/data here";
    const std::vector<NamedFiles> sets{{"train", pair_files_of(folder + "train.tsv.gz")},
                                       {"dev", pair_files_of(folder + "dev.tsv.gz")},
                                       {"test", pair_files_of(folder + "test.tsv.gz")}};
    const DataCheck c = check_data(sets);
    EXPECT_EQ(c.files[0].pairs, 163197);
    EXPECT_EQ(c.files[1].pairs, 3000);
    EXPECT_EQ(c.files[2].pairs, 3000);
    for (const LeakCheck& l : c.leaks) EXPECT_EQ(l.sources_nearly + l.targets, 0);
}

}  // namespace
}  // namespace fovea
