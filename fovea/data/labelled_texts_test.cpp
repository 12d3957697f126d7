#include "fovea/data/labelled_texts.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/data/check_labels.h"

namespace fovea {
namespace {

using Words = std::vector<std::string>;

std::string labelled_file(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + "/fovea_labelled_" + name;
    write_file_atomically(path, text);
    return path;
}

TEST(LabelledTexts, ColumnsByName) {
    Problems problems;
    const std::string path =
        labelled_file("a.csv", "id,review,sentiment\n1,good film,pos\n2,\"bad, film\", neg \n");
    const auto texts = read_labelled({.paths = {path}}, &problems);
    ASSERT_EQ(texts.size(), 2u);
    EXPECT_EQ(texts[1].texts, Words{"bad, film"});
    EXPECT_EQ(texts[1].labels, Words{"neg"});
    EXPECT_EQ(texts[1].path, path);
    EXPECT_EQ(texts[1].line, 3);
    EXPECT_EQ(problems.notes,
              Words{path + ": text from column 'review', label from column 'sentiment'"});
    const auto two = read_labelled(
        {.paths = {labelled_file("n.tsv", "gold_label\tsentence1\tsentence2\ne\tA\tB\n")}});
    EXPECT_EQ(two[0].texts, (Words{"A", "B"}));
    EXPECT_EQ(two[0].labels, Words{"e"});
}

TEST(LabelledTexts, ColumnsByWhatTheyHold) {
    std::string text;
    for (int i = 0; i < 60; ++i)
        text += std::to_string(i % 3) + "\tthe text number " + std::to_string(i) + "\n";
    Problems problems;
    const std::string path = labelled_file("values.tsv", text);
    const auto texts = read_labelled({.paths = {path}}, &problems);
    ASSERT_EQ(texts.size(), 60u);
    EXPECT_EQ(texts[4].labels, Words{"1"});
    EXPECT_EQ(texts[4].texts, Words{"the text number 4"});
    EXPECT_EQ(problems.notes, Words{path + ": text from column 2, label from column 1"});
    const auto swapped = read_labelled({.paths = {path}, .text_keys = {"1"}, .label_key = "2"});
    EXPECT_EQ(swapped[4].labels, Words{"the text number 4"});
}

// CoLA's table: a source, the judgement, a star or nothing, the sentence. And the table of a
// spreadsheet with columns that nobody used.
TEST(LabelledTexts, ColumnsThatSayNothingAreNoLabels) {
    std::string cola, sheet = "v1,v2,,\n";
    for (int i = 0; i < 60; ++i) {
        const std::string said = "the sentence number " + std::to_string(i);
        cola += std::string("gj04\t") + (i % 3 ? "1\t\t" : "0\t*\t") + said + "\n";
        sheet += std::string(i % 3 ? "ham," : "spam,") + said + ",,\n";
    }
    const auto texts = read_labelled({.paths = {labelled_file("cola.tsv", cola)}});
    EXPECT_EQ(texts[3].labels, Words{"0"});
    EXPECT_EQ(texts[3].texts, Words{"the sentence number 3"});
    const auto cells = read_labelled({.paths = {labelled_file("sheet.csv", sheet)}});
    ASSERT_EQ(cells.size(), 60u);
    EXPECT_EQ(cells[0].labels, Words{"spam"});
    EXPECT_EQ(cells[0].texts, Words{"the sentence number 0"});
}

TEST(LabelledTexts, SeveralLabels) {
    const std::string json = labelled_file(
        "many.jsonl",
        "{\"text\": \"a\", \"labels\": [\"x\", \"y\"]}\n{\"text\": \"b\", \"labels\": "
        "[3]}\n{\"text\": \"c\", \"labels\": \"x\"}\n");
    const auto texts = read_labelled({.paths = {json}});
    EXPECT_EQ(texts[0].labels, (Words{"x", "y"}));
    EXPECT_EQ(texts[1].labels, Words{"3"});
    EXPECT_EQ(texts[2].labels, Words{"x"});
    const std::string tsv = labelled_file("many.tsv", "text\tlabels\na\tx | y\nb\tx\n");
    EXPECT_EQ(read_labelled({.paths = {tsv}, .label_separator = "|"})[0].labels, (Words{"x", "y"}));
    EXPECT_EQ(read_labelled({.paths = {tsv}})[0].labels, Words{"x | y"});
    const std::string none = labelled_file(
        "none.jsonl",
        "{\"text\": \"a\", \"labels\": []}\n{\"text\": \"b\", \"labels\": [\"x\"]}\n");
    EXPECT_TRUE(read_labelled({.paths = {none}, .allow_none = true})[0].labels.empty());
    const std::string blank = labelled_file("none.tsv", "text\tlabels\na\t \nb\tx\n");
    EXPECT_TRUE(read_labelled({.paths = {blank}, .allow_none = true})[0].labels.empty());
}

TEST(LabelledTexts, ErrorsNameThePlaceAndWhatThereIs) {
    struct Case {
        const char *name, *text, *label_key, *message, *hint;
    };
    for (const Case& c :
         {Case{"e1.csv", "text,label\na,b\n", "klass", "e1.csv:1: there is no column \"klass\"",
               "\"text\", \"label\""},
          Case{"e2.tsv", "text\tlabel\na b\n", "", "e2.tsv:2: 1 column, but 2 are wanted", ""},
          Case{"e3.tsv", "text\tlabel\na\t \n", "", "e3.tsv:2: the label is empty", ""},
          Case{"e4.tsv", "text\tlabel\na\xff\tx\n", "", "e4.tsv:2: the text is not valid", ""},
          Case{"e5.jsonl", "{\"text\": \"a\", \"label\": null}\n", "",
               "e5.jsonl:1: no label under \"label\"", ""},
          Case{"e6.jsonl", "{\"text\": \"a\", \"label\": []}\n", "",
               "e6.jsonl:1: the label is empty", ""},
          Case{"e10.jsonl",
               "{\"text\": \"a\", \"label\": 1}\n{\"text\": \"b\", \"label\": \"1\"}\n", "",
               "e10.jsonl:2: the label is text, but a number in line 1", ""},
          Case{"e11.jsonl", "{\"text\": \"a\", \"label\": {\"x\": 1}}\n", "",
               "e11.jsonl:1: the label is an object", ""},
          Case{"e7.jsonl", "{\"text\": 5, \"label\": \"x\"}\n", "", "no text under \"text\"", ""},
          Case{"e8.tsv", "one text\tand another\nmore\tof them\n", "",
               "e8.tsv:1: cannot tell which column holds the label", "--label-key"},
          Case{"e9.csv", "", "", "holds no text", ""}}) {
        try {
            read_labelled({.paths = {labelled_file(c.name, c.text)}, .label_key = c.label_key});
            ADD_FAILURE() << c.name;
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find(c.message), std::string::npos) << e.what();
            EXPECT_NE(e.hint().find(c.hint), std::string::npos) << e.hint();
            EXPECT_EQ(e.kind(), ErrorKind::bad_input);
        }
    }
    Problems problems;
    const std::string path = labelled_file("skip.tsv", "text\tlabel\na\nb\tx\nc\t\nd\ty\n");
    EXPECT_EQ(read_labelled({.paths = {path}, .skip_bad = 2}, &problems).size(), 2u);
    EXPECT_EQ(problems.skipped, 2);
    EXPECT_EQ(read_labelled({.paths = {path}, .skip_bad = 2, .limit = 1}).size(), 1u);
}

TEST(LabelledTexts, TextsAloneKeepTheirRecord) {
    const std::string path = labelled_file("p.csv", "id,text,label\n7,some words,x\n8,more,y\n");
    std::vector<TextRecord> all;
    for_each_text({.paths = {path}}, {}, [&](const Columns&, TextRecord&& t) {
        all.push_back(std::move(t));
        return true;
    });
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].texts, Words{"some words"});
    EXPECT_EQ(all[0].record.fields, (Words{"7", "some words", "x"}));
    std::vector<std::string> lines;
    for_each_text({.paths = {labelled_file("p.txt", "a\n\nText, too\n")}}, {},
                  [&](const Columns&, TextRecord&& t) {
                      lines.push_back(t.texts[0]);
                      return true;
                  });
    EXPECT_EQ(lines, (Words{"a", "", "Text, too"}));
}

TEST(LabelledTexts, WhatLooksLabelled) {
    const auto looks = [](const std::string& path) {
        bool labelled = false;
        for_each_record({.paths = {path}}, [&](const Columns& c, Record&&) {
            labelled = looks_labelled(c);
            return false;
        });
        return labelled;
    };
    std::string pairs, labels;
    for (int i = 0; i < 100; ++i) {
        pairs += "text " + std::to_string(i) + "\tText " + std::to_string(i) + "\n";
        labels += "text " + std::to_string(i) + "\t" + std::to_string(i % 4) + "\n";
    }
    EXPECT_FALSE(looks(labelled_file("l1.tsv", pairs)));
    EXPECT_TRUE(looks(labelled_file("l2.tsv", labels)));
    EXPECT_TRUE(looks(labelled_file("l3.csv", "text,intent\na b,x\n")));
    EXPECT_FALSE(looks(labelled_file("l4.csv", "source,target\na b,x\n")));
    EXPECT_FALSE(looks(labelled_file("l5.csv", "english,german,topic\na b,x y,z\n")));
}

TEST(CheckLabels, CountsLabelsAndLeaks) {
    const std::string train =
        labelled_file("train.tsv", "text\tlabel\na b\tx\na b\tx\na b\ty\nc\tx\nd\trare\nbad\n");
    const std::string dev = labelled_file("dev.tsv", "text\tlabel\na b\tx\nc\ty\nnew\tnever\n");
    const std::vector<NamedLabelled> sets{{"train", {.paths = {train}}}, {"dev", {.paths = {dev}}}};
    const LabelCheck c = check_labelled(sets);
    const LabelledFileCheck& t = c.files[0];
    EXPECT_EQ(t.texts, 5);
    EXPECT_EQ(t.bad_lines, 1);
    EXPECT_EQ(t.labels[0], (std::pair<std::string, std::int64_t>{"x", 3}));
    EXPECT_EQ(t.classes_seen_once(), 2);  // y, rare
    EXPECT_EQ(t.repeated, 1);
    EXPECT_EQ(t.contradictions, 1);
    EXPECT_EQ(t.contradiction_lines, std::vector<std::int64_t>{4});
    EXPECT_EQ(c.leaks[0].records, 1);
    EXPECT_EQ(c.leaks[0].texts, 2);
    ASSERT_EQ(c.leaks[0].unknown_labels.size(), 1u);
    EXPECT_EQ(c.leaks[0].unknown_labels[0].first, "never");
    EXPECT_EQ(c.leaks[0].labels_not_seen, 1);  // rare
    EXPECT_FALSE(c.clean());
    EXPECT_NE(c.text().find("UNKNOWN LABELS (not in train): never 1"), std::string::npos);
    EXPECT_EQ(parse_json(c.json(), "report")["files"][0]["labels"]["x"], 3);
}

}  // namespace
}  // namespace fovea
