// fovea data check, split and dedupe through the real program.
#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

class DataCommand : public testing::Test {
protected:
    void SetUp() override {
        std::filesystem::remove_all(folder_);
        make_folders(folder_);
    }
    std::string put(const std::string& name, const std::string& text) {
        write_file_atomically(join_path(folder_, name), text);
        return join_path(folder_, name);
    }
    const std::string folder_ = testing::TempDir() + "/fovea_data_command";
};

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST_F(DataCommand, HelpListsItsObjects) {
    const Outcome o = fovea({"data", "--help"});
    EXPECT_EQ(o.code, 0);
    for (const char* object : {"check ", "split ", "dedupe "})
        EXPECT_TRUE(contains(o.out, object)) << o.out;
    EXPECT_TRUE(contains(fovea({"help"}).out, "\n  data "));
}

TEST_F(DataCommand, CheckNeverTakesIdsOrHeadersForPairs) {
    const std::string ids = put("ids.csv", "id,english,german\n1,one,eins\n2,two,zwei\n");
    const Outcome o = fovea({"data", "check", ids, "--json"});
    EXPECT_EQ(o.code, 0) << o.err;
    const Json j = parse_json(o.out, "stdout");
    EXPECT_EQ(j["files"][0]["pairs"], 2);
    EXPECT_EQ(j["files"][0]["source"]["characters"], 6);  // one, two
    EXPECT_TRUE(contains(j["files"][0]["notes"][0], "source from column 'english'")) << o.out;
    const Outcome unknown =
        fovea({"data", "check", put("x.csv", "title,name,url\na b,c,d\n"), "--task", "translate"});
    EXPECT_EQ(unknown.code, 3);
    EXPECT_TRUE(contains(unknown.err, "\"title\", \"name\", \"url\"")) << unknown.err;
    EXPECT_TRUE(contains(unknown.err, "--source-key title --target-key name")) << unknown.err;
    const Outcome named =
        fovea({"data", "check", put("s.csv", "source,target\na b,c d\n"), "--json"});
    EXPECT_EQ(parse_json(named.out, "stdout")["files"][0]["pairs"], 1);
}

TEST_F(DataCommand, CheckReadsStandardInputAndPipes) {
    const Outcome in = fovea({"data", "check", "-", "--json"}, {.input = "a b\tc\nd e\tf\n"});
    EXPECT_EQ(in.code, 0) << in.err;
    EXPECT_EQ(parse_json(in.out, "stdout")["files"][0]["pairs"], 2);
    EXPECT_TRUE(parse_json(in.out, "stdout")["files"][0]["bytes"].is_null());
    const Outcome json =
        fovea({"data", "check", "-"}, {.input = "{\"src\":\"a\",\"tgt\":\"b\"}\n"});
    EXPECT_TRUE(contains(json.out, "1 pairs")) << json.out << json.err;
    if (run({"bash", "-c", "true"}).code != 0) GTEST_SKIP() << "no bash here";
    const std::string path = put("p.tsv", "a b\tc\nd e\tf\n");
    const Outcome pipe =
        run({"bash", "-c", std::string(FOVEA_BINARY) + " data check <(cat " + path + ")"});
    EXPECT_EQ(pipe.code, 0) << pipe.err;
    EXPECT_TRUE(contains(pipe.out, "2 pairs")) << pipe.out;
}

TEST_F(DataCommand, CheckOfLabelledTexts) {
    const std::string train = put("r.csv", "review,sentiment\ngood film,pos\nbad,neg\nfine,pos\n");
    const std::string dev = put("d.csv", "review,sentiment\nodd,mixed\n");
    const Outcome o = fovea({"data", "check", train, dev});
    EXPECT_EQ(o.code, 3);
    EXPECT_TRUE(contains(o.out, "text from column 'review', label from column 'sentiment'"));
    EXPECT_TRUE(contains(o.out, "labels: pos 2, neg 1")) << o.out;
    EXPECT_TRUE(contains(o.out, "classes seen once: 1")) << o.out;
    EXPECT_TRUE(contains(o.out, "UNKNOWN LABELS (not in train): mixed 1")) << o.out;
    const Outcome piped = fovea({"data", "check", "-", "--task", "classify"},
                                {.input = "review,sentiment\ngood film,pos\nbad,neg\n"});
    EXPECT_EQ(piped.code, 0) << piped.err;
    const Outcome pairs = fovea({"data", "check", train, "--task", "translate"});
    EXPECT_TRUE(contains(pairs.out, "3 pairs")) << pairs.out;
    const Outcome limited = fovea({"data", "check", train, "--limit", "2"});
    EXPECT_TRUE(contains(limited.out, "labels: neg 1, pos 1")) << limited.out;
}

TEST_F(DataCommand, SplitWritesAndRefusesToOverwrite) {
    std::string text = "text\tlabel\n";
    for (int i = 0; i < 200; ++i) text += "text " + std::to_string(i) + "\tx\n";
    const std::string path = put("p.tsv", text), out = join_path(folder_, "out");
    const std::vector<std::string> words{"data",   "split", path,        "--dev", "5%",
                                         "--test", "20",    "--out-dir", out};
    const Outcome o = fovea(words);
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(contains(o.out, "train.tsv: 170 records")) << o.out;
    EXPECT_TRUE(contains(o.out, "dev.tsv: 10 records"));
    EXPECT_TRUE(contains(o.out, "test.tsv: 20 records"));
    const std::string dev = read_file(join_path(out, "dev.tsv"));
    EXPECT_EQ(dev.rfind("text\tlabel\n", 0), 0u);
    const Outcome again = fovea(words);
    EXPECT_EQ(again.code, 2);
    EXPECT_TRUE(contains(again.err, "is there already"));
    const std::string other = join_path(folder_, "piped");
    const Outcome piped = fovea(
        {"data", "split", "-", "--dev", "5%", "--test", "20", "--out-dir", other}, {.input = text});
    EXPECT_EQ(piped.code, 0) << piped.err;
    EXPECT_EQ(read_file(join_path(other, "dev.tsv")), dev);
    EXPECT_EQ(fovea({"data", "split", path, "--out-dir", out}).code, 2);
    EXPECT_EQ(fovea({"data", "split", path, "--dev", "120%", "--out-dir", out}).code, 2);
}

TEST_F(DataCommand, DedupeKeepsTheFirstAndSaysHowMany) {
    const std::string path = put("d.tsv", "a b\tc\na b\td\na b\tc\n");
    const Outcome o = fovea({"data", "dedupe", path});
    EXPECT_EQ(o.code, 0);
    EXPECT_EQ(o.out, "a b\tc\na b\td\n");
    EXPECT_EQ(o.err, "2 of 3 records kept, 1 repeat an earlier one\n");
    EXPECT_EQ(fovea({"data", "dedupe", path, "--by", "source"}).out, "a b\tc\n");
    EXPECT_EQ(fovea({"data", "dedupe", "-"}, {.input = "x\nx\ny\n"}).out, "x\ny\n");
    const std::string sides = put("a.en", "a\na\nb\n") + "," + put("a.de", "c\nc\nd\n");
    EXPECT_EQ(fovea({"data", "dedupe", sides}).code, 2);
    const std::string new_en = join_path(folder_, "n.en"), new_de = join_path(folder_, "n.de");
    EXPECT_EQ(fovea({"data", "dedupe", sides, "--out", new_en + "," + new_de}).code, 0);
    EXPECT_EQ(read_file(new_en), "a\nb\n");
    EXPECT_EQ(read_file(new_de), "c\nd\n");
    EXPECT_EQ(fovea({"data", "dedupe", sides, "--out", new_en + "," + new_de}).code, 2);
}

}  // namespace
}  // namespace fovea::test
