#include "fovea/data/pictures.h"

#include <gtest/gtest.h>

#include "fovea/base/files.h"
#include "fovea/data/check_pictures.h"
#include "fovea/data/pictures_input.h"
#include "fovea/data/record_shape.h"
#include "fovea/io/png.h"
#include "fovea/io/test_folder.h"

namespace fovea {
namespace {

Picture flat(std::uint32_t side, std::uint32_t channels, std::uint8_t value) {
    return {side, side, channels,
            std::vector<std::uint8_t>(std::size_t{side} * side * channels, value)};
}

void put_picture(const std::string& path, const Picture& p) {
    make_folders(parent_path(path));
    write_png(path, p);
}

TEST(Pictures, AFolderForEachLabel) {
    const TestFolder folder;
    put_picture(folder / "cat/1.png", flat(4, 3, 10));
    put_picture(folder / "cat/2.png", flat(4, 3, 20));
    put_picture(folder / "dog/1.png", flat(4, 3, 30));
    put_file(folder / "dog/notes.txt", "no picture");
    const auto records = read_labelled_pictures({.paths = {folder.path()}});
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(records[2].labels, std::vector<std::string>{"dog"});
    EXPECT_EQ(PictureReader().read(records[1].texts, 3), flat(4, 3, 20));
    EXPECT_EQ(PictureReader().read(records[1].texts, 1).channels, 1u);
    const auto guess = guess_shape(folder.path());
    ASSERT_TRUE(guess);
    EXPECT_EQ(guess->shape, RecordShape::pictures);
    make_folders(folder / "empty");
    EXPECT_NE(complaint([&] {
                  read_labelled_pictures({.paths = {folder.path()}});
              }).find("holds no picture"),
              std::string::npos);
}

TEST(Pictures, TreesOfEqualNamesAreJoinedAsChannels) {
    const TestFolder folder;
    for (const char* label : {"a", "b"}) {
        put_picture(folder / ("t1/" + std::string(label) + "/x.png"), flat(3, 1, 7));
        put_picture(folder / ("t2/" + std::string(label) + "/x.png"), flat(3, 1, 9));
    }
    const std::string both = folder / "t1" + "," + folder / "t2";
    const auto records = read_labelled_pictures({.paths = {both}});
    ASSERT_EQ(records.size(), 2u);
    const Picture p = PictureReader().read(records[0].texts, 1);
    EXPECT_EQ(p.channels, 2u);
    EXPECT_EQ(p.pixels[0], 7);
    EXPECT_EQ(p.pixels[1], 9);
    put_picture(folder / "t2/b/x.png", flat(5, 1, 9));
    EXPECT_NE(complaint([&] { PictureReader().read(records[1].texts, 1); }).find("5 × 5"),
              std::string::npos);
    put_picture(folder / "t1/b/y.png", flat(3, 1, 9));
    EXPECT_NE(complaint([&] { read_labelled_pictures({.paths = {both}}); }).find("beside it"),
              std::string::npos);
}

TEST(Pictures, ATableNamesThemFromItsOwnFolder) {
    const TestFolder folder;
    put_picture(folder / "in/1.png", flat(2, 1, 1));
    put_picture(folder / "in/2.png", flat(2, 1, 2));
    const std::pair<const char*, const char*> tables[] = {
        {"a.tsv", "in/1.png\tgood\nin/2.png\tbad\n"},
        {"b.csv", "file,kind\nin/1.png,good\nin/2.png,bad\n"},
        {"c.jsonl",
         "{\"path\":\"in/1.png\",\"label\":\"good\"}\n{\"path\":\"in/2.png\",\"label\":\"bad\"}\n"},
    };
    for (const auto& [name, text] : tables) {
        SCOPED_TRACE(name);
        put_file(folder / name, text);
        const auto records = read_labelled_pictures({.paths = {folder / name}});
        ASSERT_EQ(records.size(), 2u);
        EXPECT_EQ(records[1].labels[0], "bad");
        EXPECT_EQ(PictureReader().read(records[1].texts, 0), flat(2, 1, 2));
        const auto guess = guess_shape(folder / name);
        ASSERT_TRUE(guess);
        EXPECT_EQ(guess->shape, RecordShape::pictures);
    }
    put_file(folder / "d.tsv", "in/1.png\tgood\nin/none.png\tbad\n");
    EXPECT_NE(complaint([&] {
                  read_labelled_pictures({.paths = {folder / "d.tsv"}});
              }).find("d.tsv:2: there is no file"),
              std::string::npos);
    EXPECT_EQ(read_labelled_pictures({.paths = {folder / "d.tsv"}, .skip_bad = 1}).size(), 1u);
}

TEST(Pictures, IdxFilesComeInPairs) {
    const TestFolder folder;
    write_idx(folder / "train-images-idx3-ubyte", {{2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}});
    write_idx(folder / "train-labels-idx1-ubyte", {{2}, {3, 9}});
    for (const std::string& path : {folder / "train-images-idx3-ubyte", folder.path()}) {
        const auto records = read_labelled_pictures({.paths = {path}});
        ASSERT_EQ(records.size(), 2u);
        EXPECT_EQ(records[1].labels[0], "9");
        EXPECT_EQ(PictureReader().read(records[1].texts, 0), (Picture{2, 2, 1, {5, 6, 7, 8}}));
        EXPECT_EQ(guess_shape(path)->shape, RecordShape::pictures);
    }
    EXPECT_EQ(picture_names(folder / "train-images-idx3-ubyte").size(), 2u);
    const std::string beyond[] = {folder / "train-images-idx3-ubyte#2"};
    EXPECT_THROW(PictureReader().read(beyond, 0), Error);
    write_idx(folder / "train-labels-idx1-ubyte", {{3}, {3, 9, 1}});
    EXPECT_NE(
        complaint([&] { read_labelled_pictures({.paths = {folder.path()}}); }).find("3 labels"),
        std::string::npos);
}

TEST(Pictures, TheCheckFindsBadFilesAndLeaks) {
    const TestFolder folder;
    put_picture(folder / "train/a/1.png", flat(4, 3, 10));
    put_picture(folder / "train/b/1.png", flat(4, 3, 20));
    put_picture(folder / "dev/b/other.png", flat(4, 3, 20));
    const NamedPictures sets[] = {{"train", {.paths = {folder / "train"}}},
                                  {"held-out", {.paths = {folder / "dev"}}}};
    const PictureCheck shared = check_pictures(sets);
    EXPECT_FALSE(shared.clean());
    EXPECT_EQ(shared.leaks[0].pictures, 1);
    EXPECT_TRUE(check_pictures(std::span(sets).first(1)).clean());
    put_file(folder / "train/b/2.png", "no picture");
    const PictureCheck bad = check_pictures(std::span(sets).first(1));
    EXPECT_FALSE(bad.clean());
    ASSERT_EQ(bad.files[0].bad_messages.size(), 1u);
    EXPECT_NE(bad.text().find("2.png: is not a picture"), std::string::npos);
    EXPECT_EQ(bad.files[0].sizes.begin()->first, "4 × 4, 3 channels");
}

// {"shortest_edge": 6}, and the middle of 4 x 5 pixels: sides as Hugging Face rounds them.
TEST(PictureInput, ByTheShorterSideThenTheMiddle) {
    const auto in =
        PictureInput::of_json(Json::parse(R"({"size": {"shortest_edge": 6}, "do_center_crop": true,
                        "crop_size": {"height": 4, "width": 5}, "resample": 0})"),
                              "p.json");
    EXPECT_EQ(in.shortest, 6u);
    Picture p{12, 25, 3, {}};  // becomes 6 x 12
    for (std::uint32_t y = 0; y < 12; ++y)
        for (std::uint32_t x = 0; x < 25; ++x)
            for (int c = 0; c < 3; ++c) p.pixels.push_back(static_cast<std::uint8_t>(10 * y + x));
    const Picture fitted = in.fitted(p);
    ASSERT_EQ(fitted.height, 4u);
    ASSERT_EQ(fitted.width, 5u);
    const Picture whole = resize(p, 6, 12, Resample::nearest);
    EXPECT_EQ(fitted.at(0, 0)[0], whole.at(1, 3)[0]);
    EXPECT_EQ(fitted.at(3, 4)[0], whole.at(4, 7)[0]);
    EXPECT_EQ(PictureInput::of_json(in.to_json(), "again").to_json(), in.to_json());
}

// A clip's file tells the numbers of one frame.
TEST(PictureInput, NumbersOfOneFrameServeAll) {
    PictureInput in = PictureInput::of_json(
        Json::parse(R"({"image_mean": [0.1, 0.2, 0.3], "image_std": [1, 2, 3]})"), "p.json");
    in.repeat_for(4);
    EXPECT_EQ(in.channels(), 12u);
    EXPECT_EQ(in.mean[10], 0.2);
    EXPECT_EQ(in.deviation[11], 3);
    const Json written = in.to_json();
    EXPECT_EQ(written["image_processor_type"], "VideoMAEImageProcessor");
    EXPECT_EQ(written["image_mean"].size(), 3u);
    EXPECT_EQ(written["do_center_crop"], false);
}

TEST(PictureInput, BadConfigsAreRefused) {
    const std::pair<const char*, const char*> table[] = {
        {"[]", "not a JSON object"},
        {R"({"do_resize": false})", "do_resize"},
        {R"({"size": {"shortest_edge": 224}})", "by an edge"},
        {R"({"size": {"shortest_edge": 9, "longest_edge": 20}, "do_center_crop": true})",
         "by an edge"},
        {R"({"crop_size": {"shortest_edge": 9}, "do_center_crop": true})", "by an edge"},
        {R"({"size": {"height": 0, "width": 3}})", "height"},
        {R"({"size": 100000})", "size"},
        {R"({"resample": 9})", "resample"},
        {R"({"image_mean": [0.5, "x", 1]})", "image_mean"},
        {R"({"image_mean": []})", "image_mean"},
        {R"({"image_std": [0.5, 0, 1]})", "image_std"},
        {R"({"image_mean": [0.5]})", "1 numbers"},
    };
    for (const auto& [text, words] : table) {
        const std::string said =
            complaint([&] { PictureInput::of_json(Json::parse(text), "p.json"); });
        EXPECT_NE(said.find(words), std::string::npos) << text << ": " << said;
    }
}

}  // namespace
}  // namespace fovea
