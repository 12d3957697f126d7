#include "fovea/data/label_lines.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/labelled_texts.h"
#include "fovea/data/record_shape.h"
#include "fovea/io/test_folder.h"

namespace fovea {
namespace {

using Words = std::vector<std::string>;

Words repeated_lines(const Words& some, int times) {
    Words all;
    for (int i = 0; i < times; ++i) all.insert(all.end(), some.begin(), some.end());
    return all;
}

TEST(LabelLines, WhereTheLabelStands) {
    EXPECT_EQ(label_place(Words{"__label__a is it cold"}), LabelPlace::marked);
    EXPECT_EQ(label_place(repeated_lines({"DESC:manner How ?", "NUM:date When ?"}, 10)),
              LabelPlace::first_word);
    EXPECT_EQ(label_place(repeated_lines({"1 a fine film", "0 dull"}, 10)), LabelPlace::first_word);
    EXPECT_EQ(label_place(repeated_lines({"i am glad;joy", "i weep;grief"}, 10)),
              LabelPlace::behind);
}

TEST(LabelLines, PlainTextHasNone) {
    Words numbered;
    for (int i = 0; i < 40; ++i) numbered.push_back(std::to_string(i) + " apples");
    EXPECT_EQ(label_place(numbered), LabelPlace::none);
    EXPECT_EQ(label_place(repeated_lines({"The cat", "A dog"}, 20)), LabelPlace::none);
    EXPECT_EQ(label_place(repeated_lines({"1 a fine film", "0 dull"}, 5)), LabelPlace::none)
        << "too few to tell";
    EXPECT_EQ(label_place(repeated_lines({"1 a fine film", "so dull"}, 20)), LabelPlace::none);
    EXPECT_EQ(label_place(repeated_lines({"1", "0"}, 20)), LabelPlace::none);
    EXPECT_EQ(label_place(repeated_lines({"x = 1;", "y = 2;"}, 20)), LabelPlace::none);
    EXPECT_EQ(label_place(Words{}), LabelPlace::none);
}

TEST(LabelLines, AFileOfThemIsLabelledTexts) {
    const TestFolder folder;
    std::string text;
    for (int i = 0; i < 12; ++i)
        text += "NUM:date When was king " + std::to_string(i) + " born ?\nHUM:ind Who ?\n";
    write_file_atomically(folder / "train_5500.label", text);  // a name that says nothing
    write_file_atomically(folder / "train.txt", text);
    for (const char* name : {"train_5500.label", "train.txt"}) {
        EXPECT_EQ(guess_shape(folder / name)->shape, RecordShape::labelled) << name;
        const auto read = read_labelled({.paths = {folder / name}});
        ASSERT_EQ(read.size(), 24u);
        EXPECT_EQ(read[2].texts, Words{"When was king 1 born ?"});
        EXPECT_EQ(read[2].labels, Words{"NUM:date"});
        EXPECT_EQ(read[2].line, 3);
    }
}

TEST(LabelLines, FastTextMayHaveSeveral) {
    const TestFolder folder;
    write_file_atomically(folder / "f.train",
                          "__label__cold __label__loud the room\n__label__fine  a hall\n");
    const auto read = read_labelled({.paths = {folder / "f.train"}});
    EXPECT_EQ(read[0].labels, (Words{"cold", "loud"}));
    EXPECT_EQ(read[0].texts, Words{"the room"});
    EXPECT_EQ(read[1].labels, Words{"fine"});
    EXPECT_EQ(read[1].texts, Words{"a hall"});
    write_file_atomically(folder / "bad.txt", "__label__a b c\n__label__a\n");
    try {
        read_labelled({.paths = {folder / "bad.txt"}});
        ADD_FAILURE() << "a label without a text was accepted";
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("bad.txt:2: the line is a label without a text"),
                  std::string::npos)
            << e.what();
    }
}

}  // namespace
}  // namespace fovea
