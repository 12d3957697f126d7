#include "fovea/data/test_slices.h"

#include <gtest/gtest.h>

#include "fovea/base/files.h"
#include "fovea/data/labelled_texts.h"
#include "fovea/data/records.h"
#include "fovea/io/test_folder.h"

namespace fovea {
namespace {

TEST(TestSlices, ByLengthInPartsAndWithErrors) {
    const TestFolder folder;
    std::string text = "id,text,label\n";
    for (int i = 0; i < 40; ++i) {
        text += std::to_string(i) + ",";
        for (int w = 0; w <= i % 4; ++w) text += w ? " letter" : "first";
        text += i % 2 ? ",a\n" : ",b\n";
    }
    write_file_atomically(folder / "test.csv", text);
    const TestSlices s = slice_test_file(folder / "test.csv", folder / "slices");
    ASSERT_EQ(s.by_length.size(), 4u);
    EXPECT_EQ(s.by_length[0].name, "1 word");
    EXPECT_EQ(s.by_length[3].name, "4 words");
    std::int64_t all = 0;
    for (const auto* slices : {&s.by_length, &s.parts}) {
        std::int64_t sum = 0;
        for (const TestSlice& one : *slices) {
            EXPECT_EQ(static_cast<std::int64_t>(read_labelled({.paths = {one.path}}).size()),
                      one.records);
            sum += one.records;
        }
        EXPECT_EQ(sum, 40);
        all += sum;
    }
    EXPECT_EQ(s.parts.size(), 10u);
    ASSERT_EQ(s.noisy.size(), 1u);
    const auto clean = read_labelled({.paths = {folder / "test.csv"}});
    const auto noisy = read_labelled({.paths = {s.noisy[0].path}});
    ASSERT_EQ(noisy.size(), clean.size());
    int changed = 0;
    for (std::size_t i = 0; i < clean.size(); ++i) {
        EXPECT_EQ(noisy[i].labels, clean[i].labels);
        EXPECT_EQ(noisy[i].texts[0].size(), clean[i].texts[0].size());
        changed += noisy[i].texts[0] != clean[i].texts[0];
    }
    EXPECT_GT(changed, 5);
    EXPECT_LT(changed, 35);
}

// A slice lies in another folder than its table: sounds must still be found, and are not misspelt.
TEST(TestSlices, FilesThatATableNamesAreFoundFromASlice) {
    const TestFolder folder;
    std::string table = "path\ttext\n";
    for (int i = 0; i < 12; ++i) {
        const std::string name = "sounds_" + std::to_string(i) + ".wav";
        write_file_atomically(folder / name, "x");
        table += name + "\twords said here\n";
    }
    write_file_atomically(folder / "test.tsv", table);
    const TestSlices s = slice_test_file(folder / "test.tsv", folder / "slices");
    EXPECT_TRUE(s.by_length.empty());
    EXPECT_TRUE(s.noisy.empty());
    ASSERT_EQ(s.parts.size(), 10u);
    std::int64_t found = 0;
    for (const TestSlice& part : s.parts) {
        RecordFiles files;
        files.paths = {part.path};
        for_each_record(files, [&](const Columns& columns, Record&& r) {
            EXPECT_EQ(columns.names, (std::vector<std::string>{"path", "text"}));
            EXPECT_TRUE(file_exists(r.fields[0])) << r.fields[0];
            EXPECT_EQ(r.fields[1], "words said here");
            ++found;
            return true;
        });
    }
    EXPECT_EQ(found, 12);
}

// Words that stand in a list are counted one by one.
TEST(TestSlices, ListsOfWordsHaveALength) {
    const TestFolder folder;
    std::string lines;
    for (int i = 0; i < 8; ++i)
        lines += std::string(R"({"tokens": ["play")") + (i % 2 ? R"(, "the", "song")" : "") +
                 R"(], "tags": ["O"], "intent": "play"})" + "\n";
    write_file_atomically(folder / "test.jsonl", lines);
    const TestSlices s = slice_test_file(folder / "test.jsonl", folder / "slices");
    ASSERT_EQ(s.by_length.size(), 2u);
    EXPECT_EQ(s.by_length[0].name, "1 word");
    EXPECT_EQ(s.by_length[1].name, "3 words");
}

TEST(TestSlices, SentencesOfTaggedWordsStayWhole) {
    const TestFolder folder;
    std::string text = "# a comment\n";
    for (int i = 0; i < 20; ++i) {
        for (int w = 0; w <= i % 2; ++w) text += "word\tO\n";
        text += i % 5 ? "\n" : "\n\n";
    }
    write_file_atomically(folder / "test.conll", text);
    const TestSlices s = slice_test_file(folder / "test.conll", folder / "slices");
    ASSERT_EQ(s.by_length.size(), 2u);
    EXPECT_EQ(s.by_length[0].name, "1 word");
    EXPECT_EQ(s.by_length[1].name, "2 words");
    EXPECT_EQ(s.by_length[1].records, 10);
    EXPECT_EQ(read_file(s.by_length[1].path).substr(0, 15), "word\tO\nword\tO\n\n");
    EXPECT_EQ(s.parts.size(), 10u);
    EXPECT_TRUE(s.noisy.empty());
}

TEST(TestSlices, TypingErrorsKeepTheEndsOfWords) {
    EXPECT_EQ(with_typing_errors("the cat sat", 1, 1), "the cat sat");  // words are too short
    EXPECT_EQ(with_typing_errors("word", 1, 1), "wrod");
    EXPECT_EQ(with_typing_errors("Ärger", 1, 7), with_typing_errors("Ärger", 1, 7));
    EXPECT_NE(with_typing_errors("Ärger", 1, 7), "Ärger");
    EXPECT_EQ(with_typing_errors("several longer words", 0, 1), "several longer words");
}

TEST(TestSlices, OthersAreNotCut) {
    const TestFolder folder;
    make_folders(folder / "classes/x");
    EXPECT_TRUE(slice_test_file(folder / "classes", folder / "s").parts.empty());
    EXPECT_TRUE(slice_test_file("-", folder / "s").parts.empty());
}

}  // namespace
}  // namespace fovea
