#include "fovea/data/records.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/column_names.h"

namespace fovea {
namespace {

std::string record_file(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + "/fovea_records_" + name;
    write_file_atomically(path, text);
    return path;
}

struct ReadRecords {
    Columns columns;  // of the last file
    std::vector<Record> records;
    Problems problems;
};

ReadRecords read_all(const RecordFiles& files) {
    ReadRecords all;
    all.problems = for_each_record(files, [&](const Columns& columns, Record&& record) {
        all.columns = columns;
        all.records.push_back(std::move(record));
        return true;
    });
    return all;
}

using Fields = std::vector<std::string>;

TEST(Records, EveryFormatHasNamesFieldsAndLines) {
    const auto tsv = read_all({.paths = {record_file("a.tsv", "text\tlabel\na b\tx\nc\ty\n")}});
    EXPECT_TRUE(tsv.columns.header);
    EXPECT_EQ(tsv.columns.names, (Fields{"text", "label"}));
    ASSERT_EQ(tsv.records.size(), 2u);
    EXPECT_EQ(tsv.records[1].fields, (Fields{"c", "y"}));
    EXPECT_EQ(tsv.records[1].line, 3);
    const auto csv =
        read_all({.paths = {record_file("a.csv", "\"two\nlines\",x\nb,y\n")}, .keep_raw = true});
    EXPECT_FALSE(csv.columns.header);
    EXPECT_EQ(csv.columns.names, (Fields{"1", "2"}));
    EXPECT_EQ(csv.records[0].raw, "\"two\nlines\",x");
    EXPECT_EQ(csv.records[1].line, 3);
    const auto lines = read_all({.paths = {record_file("a.txt", "Title\n\nHello, you\n")}});
    EXPECT_EQ(lines.columns.format, RecordFormat::lines);
    ASSERT_EQ(lines.records.size(), 3u);
    EXPECT_EQ(lines.records[0].fields, Fields{"Title"});
    EXPECT_EQ(lines.records[1].fields, Fields{""});
    const std::string en = record_file("p.en", "a\nb\n"), de = record_file("p.de", "c\nd\n"),
                      fr = record_file("p.fr", "e\nf\n");
    const auto parallel = read_all({.paths = {en + "," + de + "," + fr}});
    EXPECT_EQ(parallel.columns.names, (Fields{"en", "de", "fr"}));
    EXPECT_EQ(parallel.columns.files, (Fields{en, de, fr}));
    EXPECT_EQ(parallel.records[1].fields, (Fields{"b", "d", "f"}));
}

TEST(Records, JsonFieldsKeepWhatTheyWere) {
    const auto json = read_all(
        {.paths = {record_file("a.jsonl",
                               "{\"text\": \"a\", \"stars\": 4, \"tags\": [\"x\", \"y\"]}\n"
                               "{\"more\": true, \"text\": null}\n"
                               "{\"translation\": {\"en\": \"one\", \"text\": \"b\"}}\n")}});
    EXPECT_EQ(json.columns.names, (Fields{"text", "stars", "tags", "more", "en"}));
    ASSERT_EQ(json.records.size(), 3u);
    const Record& first = json.records[0];
    EXPECT_EQ(first.fields, (Fields{"a", "4", "[\"x\",\"y\"]", "", ""}));
    EXPECT_EQ(first.kind(0), FieldKind::text);
    EXPECT_EQ(first.kind(1), FieldKind::json);
    EXPECT_EQ(first.kind(3), FieldKind::missing);
    EXPECT_EQ(json.records[1].kind(0), FieldKind::null);
    EXPECT_EQ(json.records[1].fields[3], "true");
    EXPECT_EQ(json.records[2].fields[0], "b");
}

TEST(Records, AListOfJsonRecordsIsReadLikeLines) {
    const auto list = read_all({.paths = {record_file("a.json",
                                                      " [\n {\"text\": \"a, \\\"]b\", "
                                                      "\"label\":\n [1, {\"x\": 2}]},\n"
                                                      "{\"label\": 2,\"text\":\"c\"} ]\n")}});
    ASSERT_EQ(list.records.size(), 2u);
    EXPECT_EQ(list.columns.names[0], "text");
    EXPECT_EQ(list.records[0].fields, (Fields{"a, \"]b", "[1,{\"x\":2}]"}));
    EXPECT_EQ(list.records[0].line, 2);
    EXPECT_EQ(list.records[1].fields, (Fields{"c", "2"}));
    EXPECT_EQ(list.records[1].line, 4);
    for (const char* text :
         {"[[\"a\", \"x\"], [\"b\", \"y\"]]", "[\"a\", \"x\"]\n[\"b\", \"y\"]\n"}) {
        const auto rows = read_all({.paths = {record_file("b.json", text)}});
        ASSERT_EQ(rows.records.size(), 2u) << text;
        EXPECT_EQ(rows.columns.names, (Fields{"1", "2"}));
        EXPECT_EQ(rows.records[1].fields, (Fields{"b", "y"}));
    }
    EXPECT_TRUE(read_all({.paths = {record_file("c.json", "[\n]")}}).records.empty());
    for (const char* cut : {"[{\"a\": 1}", "[{\"a\": 1", "[\n"})
        EXPECT_THROW(read_all({.paths = {record_file("d.json", cut)}}), Error) << cut;
}

TEST(Records, TooManyKeysAreABadLine) {
    std::string text;
    for (int i = 0; i < 1001; ++i) text += "{\"k" + std::to_string(i) + "\": 1}\n";
    EXPECT_THROW(read_all({.paths = {record_file("keys.jsonl", text)}}), Error);
}

TEST(Records, FoldersOfClassesAndSeveralFiles) {
    const std::string folder = testing::TempDir() + "/fovea_records_classes";
    std::filesystem::remove_all(folder);
    for (const char* label : {"pos", "neg"}) make_folders(join_path(folder, label));
    write_file_atomically(folder + "/pos/2.txt", "good\nfilm\n");
    write_file_atomically(folder + "/neg/1.txt", "bad\n");
    write_file_atomically(folder + "/neg/readme.md", "no record");
    const std::string more = record_file("more.tsv", "text\tlabel\nfine\tpos\n");
    const auto all = read_all({.paths = {folder, more}});
    ASSERT_EQ(all.records.size(), 3u);
    EXPECT_EQ(all.records[0].fields, (Fields{"bad", "neg"}));
    EXPECT_EQ(all.records[1].fields, (Fields{"good\nfilm", "pos"}));
    EXPECT_EQ(all.records[2].fields, (Fields{"fine", "pos"}));
    EXPECT_EQ(all.columns.file, 1);
    EXPECT_EQ(all.records[1].path, folder + "/pos/2.txt");
    std::filesystem::remove_all(folder);
    make_folders(folder);
    EXPECT_THROW(read_all({.paths = {folder}}), Error);
}

// Looking ahead must not make a bad line count before its turn, nor hide an end that differs.
TEST(Records, WhatIsWrongIsToldInItsTurn) {
    const std::string bad = record_file("bad.csv", "a b,c\nd,\"e\"x\nf,g h\n");
    std::vector<std::string> seen;
    const auto take_one = [&](const Columns&, Record&& r) {
        seen.push_back(r.fields[0]);
        return false;
    };
    for_each_record({.paths = {bad}}, take_one);
    EXPECT_EQ(seen, Fields{"a b"});
    EXPECT_EQ(read_all({.paths = {bad}, .limit = 1}).records.size(), 1u);
    EXPECT_THROW(read_all({.paths = {bad}}), Error);
    const auto skipped = read_all({.paths = {bad}, .skip_bad = 1});
    EXPECT_EQ(skipped.records.size(), 2u);
    EXPECT_EQ(skipped.problems.first, Fields{bad + ":2: text stands behind a closing quote"});
    const std::string sides =
        record_file("long.en", "a\nb\nc\n") + "," + record_file("short.de", "x\ny\n");
    EXPECT_EQ(read_all({.paths = {sides}, .limit = 2}).records.size(), 2u);
    seen.clear();
    EXPECT_THROW(for_each_record({.paths = {sides}},
                                 [&](const Columns&, Record&& r) {
                                     seen.push_back(r.fields[1]);
                                     return true;
                                 }),
                 Error);
    EXPECT_EQ(seen, (Fields{"x", "y"}));
}

TEST(Records, AStreamIsToldByItsFirstLine) {
    const auto format_of = [](const std::string& text, bool needs_columns) {
        int ends[2];
        EXPECT_EQ(::pipe(ends), 0);
        EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
        ::close(ends[1]);
        const std::string path = "/dev/fd/" + std::to_string(ends[0]);
        EXPECT_FALSE(can_be_read_twice(path));
        const auto read = read_all({.paths = {path}, .needs_columns = needs_columns});
        ::close(ends[0]);
        return read.columns.format;
    };
    EXPECT_EQ(format_of("{\"a\": 1}\n", false), RecordFormat::jsonl);
    EXPECT_EQ(format_of("a\tb\n", false), RecordFormat::tsv);
    EXPECT_EQ(format_of("Hello, you\n", false), RecordFormat::lines);
    EXPECT_EQ(format_of("Hello, you\n", true), RecordFormat::csv);
    EXPECT_EQ(format_of("text,label\na b,c\n", false), RecordFormat::csv);
    EXPECT_EQ(format_of("Hello\n", true), RecordFormat::tsv);
}

TEST(ColumnNames, HeadersByNameAndByForm) {
    const std::vector<Fields> texts(12, {"some words", "einige Worte"});
    const std::vector<Fields> words(12, {"some", "einige"});
    for (const Fields& row :
         {Fields{"source", "target"}, Fields{"Source", "TARGET"}, Fields{"id", "english", "german"},
          Fields{"en", "de"}, Fields{"text_a", "text_b", "label"}, Fields{"", "text", "label"},
          Fields{"Source Text", "Target Text"}, Fields{"id", "english", "german", "grade"},
          Fields{"text"}})
        EXPECT_TRUE(is_header(row, {})) << row[0];
    for (const Fields& row :
         {Fields{"it", "es"}, Fields{"one", "eins"}, Fields{"text", "Text"},
          Fields{"answer", "Antwort"}, Fields{"Hello there", "Hallo"}, Fields{"a", "b", "c"},
          Fields{"", ""}, Fields{"1", "2"}, Fields{"What is text?", "label"}})
        EXPECT_FALSE(is_header(row, {})) << row[0];
    EXPECT_TRUE(is_header({"foo", "bar"}, texts));
    EXPECT_TRUE(is_header({"es", "it"}, texts));
    EXPECT_FALSE(is_header({"foo", "bar"}, words));           // a list of words
    EXPECT_FALSE(is_header({"foo", "einige Worte"}, texts));  // not a name
    std::vector<Fields> again = texts;
    again.push_back({"bar baz", "bar"});
    EXPECT_FALSE(is_header({"foo", "bar"}, again));  // "bar" is a value of its column
    EXPECT_TRUE(is_header({"foo", "bar"}, {{"1", "a b"}, {"5", "c"}, {"3", "d"}}));
    EXPECT_FALSE(is_header({"foo", "bar"}, {{"1", "a b"}, {"x", "c"}, {"3", "d"}}));
}

TEST(ColumnNames, TheUserMayOverrule) {
    const std::string path = record_file("h.csv", "source,target\na,b\nsource,target\nc,d\n");
    EXPECT_EQ(read_all({.paths = {path}}).records.size(), 2u);  // as if two files were put together
    EXPECT_EQ(read_all({.paths = {path}, .header = HeaderRow::no}).records.size(), 4u);
    const std::string odd = record_file("odd.csv", "x,y\na,b\n");
    EXPECT_EQ(read_all({.paths = {odd}}).records.size(), 2u);
    EXPECT_EQ(read_all({.paths = {odd}, .header = HeaderRow::yes}).records.size(), 1u);
    EXPECT_EQ(read_all({.paths = {odd}, .keys = {"Y"}}).records.size(), 1u);
}

}  // namespace
}  // namespace fovea
