#include "fovea/data/masks.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/data/check_masks.h"
#include "fovea/io/png.h"
#include "fovea/io/test_folder.h"

namespace fovea {
namespace {

// A dark picture with a bright square, and its mask.
void write_example(const std::string& folder, const std::string& name, std::uint32_t side,
                   std::uint32_t mask_side, std::uint8_t value = 255) {
    Picture picture = blank_picture(side, side, 3, "test");
    Picture mask = blank_picture(mask_side, mask_side, 1, "test");
    for (std::uint32_t y = 2; y < side / 2; ++y)
        for (std::uint32_t x = 2; x < side / 2; ++x) {
            for (int c = 0; c < 3; ++c) picture.at(y, x)[c] = 200;
            *mask.at(y, x) = value;
        }
    make_folders(join_path(folder, "images"));
    make_folders(join_path(folder, "masks"));
    write_png(join_path(folder, "images/" + name + ".png"), picture);
    write_png(join_path(folder, "masks/" + name + ".png"), mask);
}

std::string message_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& e) {
        EXPECT_FALSE(e.hint().empty()) << e.what();
        return e.what();
    }
    return "no error";
}

TEST(Masks, AFolderTwoFoldersAListAndATableAreTheSame) {
    const TestFolder folder;
    for (const char* name : {"a", "b", "c"}) write_example(folder.path(), name, 16, 16);
    write_file_atomically(folder / "list.txt", "b\nc\r\n\n");
    write_file_atomically(folder / "table.tsv",
                          "image\tmask\nimages/b.png\tmasks/b.png\nimages/c.png\tmasks/c.png\n");
    const auto pictures = [&](const std::string& path) {
        std::string names;
        for (const MaskedPicture& p : read_masked({.paths = {path}})) {
            EXPECT_EQ(base_name(p.picture), base_name(p.mask));
            names += base_name(p.picture) + " ";
        }
        return names;
    };
    EXPECT_EQ(pictures(folder.path()), "a.png b.png c.png ");
    EXPECT_EQ(pictures((folder / "images") + "," + (folder / "masks")), "a.png b.png c.png ");
    EXPECT_EQ(pictures(folder / "list.txt"), "b.png c.png ");
    EXPECT_EQ(pictures(folder / "table.tsv"), "b.png c.png ");
    EXPECT_TRUE(is_masked_folder(folder.path()));
    EXPECT_FALSE(is_masked_folder(folder / "images"));
    // Annotations that are no pictures: COCO's.
    write_example(folder / "coco", "a", 16, 16);
    std::filesystem::rename(folder / "coco/masks", folder / "coco/other");
    make_folders(folder / "coco/annotations");
    write_file_atomically(folder / "coco/annotations/train.json", "{}");
    EXPECT_FALSE(is_masked_folder(folder / "coco"));
    std::filesystem::rename(folder / "coco/other/a.png", folder / "coco/annotations/a.png");
    EXPECT_TRUE(is_masked_folder(folder / "coco"));
}

TEST(Masks, WhatIsMissingIsNamed) {
    const TestFolder folder;
    write_example(folder.path(), "a", 16, 16);
    write_example(folder.path(), "b", 16, 16);
    std::remove((folder / "masks/b.png").c_str());
    EXPECT_NE(
        message_of([&] { read_masked({.paths = {folder.path()}}); }).find("has no mask \"b\""),
        std::string::npos);
    write_file_atomically(folder / "list.txt", "zebra\n");
    EXPECT_NE(message_of([&] {
                  read_masked({.paths = {folder / "list.txt"}});
              }).find("has no picture \"zebra\""),
              std::string::npos);
    EXPECT_NE(message_of([&] {
                  read_masked({.paths = {folder / "images"}});
              }).find("holds no folder of pictures beside one of masks"),
              std::string::npos);
    write_file_atomically(folder / "table.tsv", "one\ttwo\na\tb\n");
    EXPECT_NE(message_of([&] {
                  read_masked({.paths = {folder / "table.tsv"}});
              }).find("no column is called picture"),
              std::string::npos);
}

TEST(Masks, ValuesBecomeLabels) {
    const MaskValues two = mask_values_of({{0, 90}, {255, 10}}, "x");
    EXPECT_EQ(two.labels(), 2u);
    EXPECT_FALSE(two.has_ignored);
    const MaskValues many = mask_values_of({{0, 90}, {1, 5}, {2, 5}, {255, 1}}, "x");
    EXPECT_EQ(many.labels(), 3u);
    EXPECT_TRUE(many.has_ignored);
    Picture mask = blank_picture(1, 4, 1, "test");
    mask.pixels = {0, 2, 255, 1};
    EXPECT_EQ(many.labels_of(mask, "x"), (std::vector<std::uint8_t>{0, 2, 255, 1}));
    EXPECT_NE(
        message_of([&] { two.labels_of(mask, "m.png"); }).find("m.png: has a pixel of the value 2"),
        std::string::npos);
    EXPECT_EQ(two.mask_of({0, 1, 1, 0}, 1, 4).pixels, (std::vector<std::uint8_t>{0, 255, 255, 0}));
    std::map<int, std::int64_t> photo;
    for (int v = 0; v < 200; ++v) photo[v] = 1;
    EXPECT_NE(message_of([&] { mask_values_of(photo, "x"); }).find("200 different values"),
              std::string::npos);
    EXPECT_NE(message_of([&] {
                  mask_values_of({{0, 9}}, "x");
              }).find("nothing to tell apart"),
              std::string::npos);
}

TEST(Masks, OtherSizesAndColoursAreRefused) {
    const TestFolder folder;
    write_example(folder.path(), "a", 16, 20);
    const MaskedPicture record{folder / "images/a.png", folder / "masks/a.png"};
    EXPECT_NE(message_of([&] { load_masked(record, 3); }).find("is 20 x 20 but its picture"),
              std::string::npos);
    Picture colours = blank_picture(2, 2, 3, "test");
    colours.pixels[1] = 9;
    write_png(folder / "colours.png", colours);
    EXPECT_NE(
        message_of([&] { read_mask(folder / "colours.png"); }).find("is a picture of colours"),
        std::string::npos);
}

TEST(Masks, OtsuPartsDarkFromBright) {
    Picture p = blank_picture(1, 6, 1, "test");
    p.pixels = {10, 20, 15, 200, 210, 190};
    EXPECT_EQ(otsu_mask(p), (std::vector<std::uint8_t>{0, 0, 0, 1, 1, 1}));
}

TEST(CheckMasks, FindsBadFilesAndLeaks) {
    const TestFolder train, test;
    for (const char* name : {"a", "b"}) write_example(train.path(), name, 16, 16);
    write_example(train.path(), "c", 24, 24);
    write_example(test.path(), "x", 16, 16);
    write_example(test.path(), "y", 30, 30, 7);
    write_example(test.path(), "z", 18, 20);
    const NamedMasked sets[] = {{"train", {.paths = {train.path()}}},
                                {"held-out", {.paths = {test.path()}}}};
    const MaskCheck check = check_masked(sets);
    EXPECT_EQ(check.files[0].pictures, 3);
    EXPECT_EQ(check.files[0].repeated, 1);  // a and b have the same bytes
    EXPECT_EQ(check.files[0].sizes.at("16 x 16"), 2);
    EXPECT_EQ(check.files[1].bad.size(), 1u);
    EXPECT_EQ(check.leaks[0].pictures, 1);
    EXPECT_EQ(check.leaks[0].unknown, std::vector<int>{7});
    EXPECT_FALSE(check.clean());
    EXPECT_NE(check.text().find("leak: 1 pictures of held-out are in train"), std::string::npos)
        << check.text();
    EXPECT_TRUE(check_masked({sets, 1}).clean()) << check_masked({sets, 1}).text();
}

}  // namespace
}  // namespace fovea
